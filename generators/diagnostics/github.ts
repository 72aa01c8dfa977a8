/** Findings as GitHub annotations: workflow commands, one a line. GitHub shows each next to its line. */
import type { Diagnostic } from './diagnostic.ts'
import { linesOfVerdict } from './verdict.ts'

/** Returns a workflow command such as `::error file=…,line=…::…`. */
export function formatAnnotation(diagnostic: Diagnostic): string {
  const { place, other, hint, draft, verdict } = diagnostic
  const properties = {
    ...(place && { file: place.file, line: String(place.line), col: String(place.column) }),
    title: diagnostic.code,
  }
  const listed = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(value)}`)
  const text = [
    diagnostic.message,
    ...(other ? [`see ${other.file}:${other.line}:${other.column}`] : []),
    ...(verdict ? linesOfVerdict(verdict) : []),
    ...(hint === undefined ? [] : [hint]),
    ...(draft ? [draft.text.trimEnd()] : []),
  ]
  const command = diagnostic.severity === 'note' ? 'notice' : diagnostic.severity
  return `::${command} ${listed.join(',')}::${escapeText(text.join('\n'))}`
}

const escapeText = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeProperty = (text: string): string =>
  escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

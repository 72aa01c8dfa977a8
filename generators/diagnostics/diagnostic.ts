/** Findings: collected first, then printed together, each as `file:line:col code: what; what to do`. */
import type { SourceLocation } from './place.ts'
import { linesOfVerdict, type PrintedVerdict } from './verdict.ts'

export interface Diagnostic {
  /** Stable and documented, in kebab case: `ref-missing`, `operation-without-scope`. */
  readonly code: string
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  readonly place?: SourceLocation
  /** For a difference of two versions, the message that proves it. */
  readonly verdict?: PrintedVerdict
  /** How to resolve the finding. */
  readonly hint?: string
  /** A related line in a different document. */
  readonly other?: SourceLocation
  /** A draft of the file that would resolve the finding. */
  readonly draft?: { readonly file: string; readonly text: string }
}

/** Thrown by a phase that cannot continue. Holds all findings so far. */
export class DiagnosticsError extends Error {
  override readonly name = 'DiagnosticsError'
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    locateAll(diagnostics)
    super(diagnostics.map((each) => formatDiagnostic(each)).join('\n'))
    this.diagnostics = diagnostics
  }
}

/** Collects findings; `finish` throws a `DiagnosticsError` if any of them is an error. */
export interface Report {
  add(diagnostic: Diagnostic): void
  readonly diagnostics: readonly Diagnostic[]
  finish(): void
}

export function createReport(): Report {
  const diagnostics: Diagnostic[] = []
  const known = new Set<string>()
  return {
    diagnostics,
    add(diagnostic) {
      const { code, place, message } = diagnostic
      // Several versions can share a file.
      const key = place && JSON.stringify([code, message, place.file, place.pointer])
      if (key !== undefined && known.has(key)) return
      if (key !== undefined) known.add(key)
      diagnostics.push(diagnostic)
    },
    finish() {
      if (diagnostics.some((each) => each.severity === 'error')) throw new DiagnosticsError(diagnostics)
    },
  }
}

/** Resolves the lines of all findings, grouped by document, so that each document is read once. */
export function locateAll(diagnostics: readonly Diagnostic[]): void {
  const places = diagnostics.flatMap(({ place, other }) => [place ?? [], other ?? []].flat())
  const byFile = [...places].sort((a, b) => (a.file < b.file ? -1 : Number(a.file > b.file)))
  for (const place of byFile) void place.line
}

/** Returns the lines of a file, or undefined if the file cannot be shown. */
export type LinesOf = (file: string) => readonly string[] | undefined

/** The role of a piece of text, which determines its color. */
export type Style = 'error' | 'warning' | 'note' | 'good' | 'place' | 'faint'
export type DiagnosticPaint = (style: Style, text: string) => string

const plain: DiagnosticPaint = (_, text) => text

/** Formats one finding as text. If its file is known, the line is shown below it. */
export function formatDiagnostic(
  diagnostic: Diagnostic,
  sources?: LinesOf,
  paint: DiagnosticPaint = plain,
): string {
  const { place, other, severity } = diagnostic
  const position = place ? `${paint('place', `${place.file}:${place.line}:${place.column}`)} ` : ''
  const lines = [`${position}${paint(severity, severity)} ${diagnostic.code}: ${diagnostic.message}`]
  if (place) lines.push(...codeFrame(place, sources, paint))
  if (other)
    lines.push(
      `  see ${paint('place', `${other.file}:${other.line}:${other.column}`)}`,
      ...codeFrame(other, sources, paint),
    )
  if (diagnostic.verdict) lines.push(...linesOfVerdict(diagnostic.verdict).map((line) => `  ${line}`))
  if (diagnostic.hint) lines.push(`  → ${diagnostic.hint}`)
  if (diagnostic.draft) lines.push(...diagnostic.draft.text.trimEnd().split('\n').map(indent))
  return lines.join('\n')
}

const indent = (line: string): string => (line === '' ? '' : `      ${line}`)

function codeFrame(place: SourceLocation, sources: LinesOf | undefined, paint: DiagnosticPaint): string[] {
  const line = sources?.(place.file)?.[place.line - 1]
  if (line === undefined) return []
  const number = String(place.line).padStart(6)
  return [
    `${paint('faint', `${number} |`)} ${line.slice(0, 160)}`,
    paint('faint', `${' '.repeat(number.length)} | ${' '.repeat(place.column - 1)}^`),
  ]
}

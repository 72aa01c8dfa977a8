/** Findings as SARIF 2.1.0 (OASIS), the format of code scanning services. */
import type { Diagnostic } from './diagnostic.ts'
import type { SourceLocation } from './place.ts'
import { linesOfVerdict } from './verdict.ts'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/** Returns a SARIF log with one run. Rules are ordered by the first occurrence of their code. */
export function toSarif(diagnostics: readonly Diagnostic[]): object {
  const codes = [...new Set(diagnostics.map((each) => each.code))]
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'dateline', rules: codes.map((id) => ({ id })) } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((each) => toResult(each, codes.indexOf(each.code))),
      },
    ],
  }
}

function toResult(
  { code, severity, message, hint, draft, place, other, verdict }: Diagnostic,
  ruleIndex: number,
): object {
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: {
      text: [message, ...(verdict ? linesOfVerdict(verdict) : []), hint, draft?.text]
        .filter((each) => each !== undefined)
        .join('\n'),
    },
    ...(verdict && { properties: verdict }),
    locations: place ? [toLocation(place)] : [],
    ...(other && { relatedLocations: [{ ...toLocation(other), message: { text: 'the other document' } }] }),
  }
}

function toLocation({ file, line, column }: SourceLocation): object {
  // RFC 3986: a relative reference with `/` between folders, percent-encoded.
  const uri = file.split(/[\\/]/).map(encodeURIComponent).join('/')
  return {
    physicalLocation: { artifactLocation: { uri }, region: { startLine: line, startColumn: column } },
  }
}

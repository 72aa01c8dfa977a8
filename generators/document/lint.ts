/** Runs Redocly's rules over a document and converts the problems to findings. */
import type { Diagnostic, Report } from '../diagnostics/diagnostic.ts'
import type { LoadedDocument } from './load.ts'

/** Rules whose problems `buildApi` reports itself, with a hint. */
const REPORTED_BY_BUILD = {
  'no-unresolved-refs': 'off',
  'path-parameters-defined': 'off',
  'operation-operationId-unique': 'off',
} as const

/** A problem that a Redocly rule found. */
export interface Problem {
  readonly rule: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** JSON pointer of the affected node. */
  readonly pointer: string
  readonly suggestions: readonly string[]
}

/**
 * Returns every problem that Redocly's recommended rules find in a document.
 *
 * @param json the parsed text.
 */
export async function findProblems(file: string, text: string, json: unknown): Promise<Problem[]> {
  const { BaseResolver, createConfig, lintDocument, Source } = await import('./redocly.ts')
  const config = await createConfig({ extends: ['recommended'], rules: REPORTED_BY_BUILD, telemetry: 'off' })
  const document = { source: new Source(file, text), parsed: json }
  const externalRefResolver = new BaseResolver(config.resolve)
  let problems: Awaited<ReturnType<typeof lintDocument>>
  try {
    problems = await lintDocument({ document, config, externalRefResolver })
  } catch (cause) {
    // Redocly throws on some documents. `buildApi` finds the problems that matter.
    const message = `Redocly's rules failed and were skipped: ${(cause as Error).message}`
    return [{ rule: 'lint-failed', severity: 'warning', message, pointer: '', suggestions: [] }]
  }
  return problems.map((problem) => {
    const pointer = problem.location[0]?.pointer?.replace(/^#/, '') ?? ''
    return {
      rule: problem.ruleId,
      severity: problem.severity === 'error' ? 'error' : 'warning',
      message: problem.message,
      pointer: pointer === '/' ? '' : pointer,
      suggestions: problem.suggest,
    }
  })
}

/** Maximum number of problems to show for each rule in one document. */
const MAX_SHOWN = 20

/**
 * Adds problems to the report, each at its line.
 *
 * @param strict whether Redocly's errors are errors; otherwise they are warnings.
 */
export function reportProblems(
  problems: readonly Problem[],
  document: LoadedDocument,
  report: Report,
  strict = true,
): void {
  const shown = new Map<string, number>()
  for (const problem of problems) {
    const known = (shown.get(problem.rule) ?? 0) + 1
    shown.set(problem.rule, known)
    if (known <= MAX_SHOWN) report.add(toDiagnostic(problem, document, strict))
  }
  for (const [rule, number] of shown) {
    if (number <= MAX_SHOWN) continue
    const message = `${number - MAX_SHOWN} more such problems in ${document.file}`
    report.add({ code: rule, severity: 'warning', message })
  }
}

function toDiagnostic(problem: Problem, document: LoadedDocument, strict: boolean): Diagnostic {
  const { rule, message, pointer, suggestions } = problem
  const severity = strict ? problem.severity : 'warning'
  return {
    code: rule,
    severity,
    message,
    place: document.place(pointer),
    ...(suggestions.length > 0 && { hint: `did you mean ${suggestions.join(' or ')}?` }),
  }
}

/** Redocly's rules over a document, as diagnostics of ours: one look shows every problem at once. */
import type { Diagnostic, Report } from '../diagnostics/diagnostic.ts'
import type { LoadedDocument } from './load.ts'

/** What `build` says itself, with a hint. */
const REPORTED_BY_BUILD = {
  'no-unresolved-refs': 'off',
  'path-parameters-defined': 'off',
  'operation-operationId-unique': 'off',
} as const

/** One problem that a rule found. */
export interface Problem {
  readonly rule: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** JSON pointer of the node that it is about. */
  readonly pointer: string
  readonly suggestions: readonly string[]
}

/** @param json what the text says. @returns every problem that Redocly's recommended rules find in a document. */
export async function findProblems(file: string, text: string, json: unknown): Promise<Problem[]> {
  const { BaseResolver, createConfig, lintDocument, Source } = await import('@redocly/openapi-core')
  const config = await createConfig({ extends: ['recommended'], rules: REPORTED_BY_BUILD, telemetry: 'off' })
  const document = { source: new Source(file, text), parsed: json }
  const externalRefResolver = new BaseResolver(config.resolve)
  let problems: Awaited<ReturnType<typeof lintDocument>>
  try {
    problems = await lintDocument({ document, config, externalRefResolver })
  } catch (cause) {
    // Some documents are more than it can bear; what matters here `build` finds itself.
    const message = `Redocly's rules were not applied: ${(cause as Error).message}`
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

/** Of one rule in one document: more of the same tells nobody anything. */
const MAX_SHOWN = 20

/**
 * Adds problems to the report, each at its line.
 * @param strict whether an error of Redocly's is one; documents of others are taken as they are.
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
    const message = `${number - MAX_SHOWN} more of these in ${document.file}`
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

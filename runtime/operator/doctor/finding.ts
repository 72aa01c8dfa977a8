import { messageOf } from '../../database/errors.ts'

/** Result of one check. Only `fail` keeps the service from working; `warn` names a likely problem. */
export interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'warn' | 'fail'
  /** Text for people, in one line, that says what to do. */
  readonly words: string
}

export function ok(check: string, words: string): Finding {
  return { check, verdict: 'ok', words }
}

export function warn(check: string, words: string): Finding {
  return { check, verdict: 'warn', words }
}

export function fail(check: string, problem: unknown): Finding {
  const words = typeof problem === 'string' ? problem : messageOf(problem)
  return { check, verdict: 'fail', words: words.replaceAll(/\s*\n\s*/g, '; ') }
}

/** Formats the findings in columns, one line each. */
export function renderFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings
    .map(({ verdict, check, words }) => `${verdict.padEnd(4)}  ${check.padEnd(width)}  ${words}\n`)
    .join('')
}

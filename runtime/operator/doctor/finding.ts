import { messageOf } from '../../database/errors.ts'

/** What one check found. Only `fail` keeps the service from working; `warn` will cost somebody an evening. */
export interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'warn' | 'fail'
  /** For people, on one line; what to do stands in it. */
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

/** One line for each finding, in columns. */
export function renderFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings
    .map(({ verdict, check, words }) => `${verdict.padEnd(4)}  ${check.padEnd(width)}  ${words}\n`)
    .join('')
}

/** Errors for programs: with `--json`, a line of JSON on stderr says what a line of words says otherwise. */
import type { CommanderError } from 'commander'

/** What a program is told of an error: a word for what kind it is, words for people, and what else is known. */
export interface ErrorMembers {
  readonly type: string
  readonly message: string
  readonly [member: string]: unknown
}

/** Whether a program reads what the command prints. Read before anything is parsed: parsing may be what fails. */
export function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? undefined : end).includes('--json')
}

/** @returns `{"error":{…}}`, as the API has it. */
export const errorJson = (error: ErrorMembers): string => JSON.stringify({ error })

/** Collects what commander prints, and writes it as JSON if it was about a mistake. */
export interface Misuse {
  say(line: string): void
  /** @returns the exit code that it is given. */
  report(error: CommanderError, exitCode: number): number
}

/** @param say writes a line to stderr. */
export function createMisuse(words: readonly string[], say: (line: string) => void): Misuse {
  if (!wantsJson(words)) return { say, report: (_error, exitCode) => exitCode }
  const said: string[] = []
  return {
    say: (line) => void said.push(line),
    report: (error, exitCode) => {
      const message = error.message.replace(/^error: /, '')
      // Commander has no message of its own where it shows its help instead.
      say(errorJson({ type: 'misused', message: message === '(outputHelp)' ? said.join('\n') : message }))
      return exitCode
    },
  }
}

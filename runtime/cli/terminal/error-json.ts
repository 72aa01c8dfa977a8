/** Errors for programs: with `--json`, an error is a line of JSON on stderr. */
import type { CommanderError } from 'commander'

/** An error for programs: its type, its message for people, and further members. */
export interface ErrorMembers {
  readonly type: string
  readonly message: string
  readonly [member: string]: unknown
}

/** Returns whether `--json` is given. Reads the raw words, because parsing them can fail. */
export function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? undefined : end).includes('--json')
}

/** Returns `{"error":{…}}`, the error format of the API. */
export const errorJson = (error: ErrorMembers): string => JSON.stringify({ error })

/** Collects the output of commander, and prints it as JSON if it reports a usage error. */
export interface Misuse {
  say(line: string): void
  /** Prints the error and returns `exitCode`. */
  report(error: CommanderError, exitCode: number): number
}

/**
 * Creates the collector.
 * @param say prints a line to stderr.
 */
export function createMisuse(words: readonly string[], say: (line: string) => void): Misuse {
  if (!wantsJson(words)) return { say, report: (_error, exitCode) => exitCode }
  const said: string[] = []
  return {
    say: (line) => void said.push(line),
    report: (error, exitCode) => {
      const message = error.message.replace(/^error: /, '')
      // Commander's error has no message if commander prints its help instead.
      say(errorJson({ type: 'misused', message: message === '(outputHelp)' ? said.join('\n') : message }))
      return exitCode
    },
  }
}

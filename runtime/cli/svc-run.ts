import { CommanderError } from 'commander'
import { exitCodeOf, explainFailure } from './explain-failure.ts'
import { createProgram } from './svc-program.ts'
import type { Surroundings } from './svc-session.ts'
import { EXIT_CODES } from './terminal/exit-codes.ts'
import { CommandError } from './terminal/failures.ts'

/** @returns the exit code, of `EXIT_CODES`. */
export async function runSvc(words: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    await createProgram(surroundings).parseAsync(words, { from: 'user' })
    return EXIT_CODES.done
  } catch (error) {
    // Commander has said what was wrong; asking for help is no fault.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.misused
    const [cause, baseUrl] = error instanceof CommandError ? [error.cause, error.baseUrl] : [error, '']
    const code = exitCodeOf(cause)
    surroundings.say(
      code === EXIT_CODES.interrupted ? 'interrupted' : `error: ${explainFailure(cause, baseUrl)}`,
    )
    return code
  }
}

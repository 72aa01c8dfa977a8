import { CommanderError } from 'commander'
import { explainFailure } from './explain-failure.ts'
import { createProgram, type Surroundings } from './svc-program.ts'
import { MisuseError } from './svc-session.ts'

const DONE = 0
const FAILED = 1
const MISUSED = 2

/** @returns the exit code: 0 done, 1 failed, 2 not understood. */
export async function runSvc(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const program = createProgram(surroundings)
  try {
    await program.parseAsync(words, { from: 'user' })
    return DONE
  } catch (error) {
    // Commander has said what was wrong; asking for help is no fault.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : MISUSED
    surroundings.say(`error: ${explainFailure(error, program.opts().baseUrl)}`)
    return error instanceof MisuseError ? MISUSED : FAILED
  }
}

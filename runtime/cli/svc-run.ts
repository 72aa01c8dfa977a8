import { CommanderError } from 'commander'
import { service } from '../../generated/client/src/2026-05-19/index.ts'
import { describeRelease, readRelease } from '../platform/release.ts'
import { describeFailure, exitCodeOf, explainFailure } from './explain-failure.ts'
import { createProgram } from './svc-program.ts'
import type { Surroundings } from './svc-session.ts'
import { createMisuse, errorJson, wantsJson } from './terminal/error-json.ts'
import { EXIT_CODES } from './terminal/exit-codes.ts'
import { CommandError } from './terminal/failures.ts'

/** Returns whether the command line is only `--version`. After a command, `--version` sets the API version of a request. */
const isVersion = (words: readonly string[]): boolean => {
  const [first, ...others] = words.filter((word) => word !== '--json')
  return first === '--version' && others.length === 0
}

/** Runs a command line and returns its exit code. */
export async function runSvc(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const json = wantsJson(words)
  const misuse = createMisuse(words, surroundings.say)
  if (isVersion(words)) {
    const release = readRelease()
    surroundings.print(
      json
        ? JSON.stringify({ ...release, api_version: service.version })
        : `svc ${describeRelease(release)}, API ${service.version}`,
    )
    return EXIT_CODES.done
  }
  try {
    await createProgram(surroundings, misuse.say).parseAsync(words, { from: 'user' })
    return EXIT_CODES.done
  } catch (error) {
    // A request for help is not an error.
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? EXIT_CODES.done : misuse.report(error, EXIT_CODES.misused)
    const [cause, baseUrl] = error instanceof CommandError ? [error.cause, error.baseUrl] : [error, '']
    const code = exitCodeOf(cause)
    if (json) surroundings.say(errorJson(describeFailure(cause, baseUrl)))
    else
      surroundings.say(
        code === EXIT_CODES.interrupted ? 'interrupted' : `error: ${explainFailure(cause, baseUrl)}`,
      )
    return code
  }
}

import { CommanderError } from 'commander'
import { createMisuse, errorJson, wantsJson } from '../../cli/terminal/error-json.ts'
import { messageOf } from '../../database/errors.ts'
import { SettingsError } from '../../platform/settings.ts'
import { ControlError } from '../../tenants/admin/change.ts'
import { createProgram } from './admin-program.ts'
import type { CommandSurroundings } from './surroundings.ts'

/** Exit codes: 1 if the action failed or was refused, 2 if the command or settings are invalid. */
const FAILED = 1
const MISUSED = 2

function explain(error: unknown): string {
  if (error instanceof SettingsError)
    return `the settings are invalid:\n${error.message.replace(/^/gm, '  ')}`
  return messageOf(error)
}

/** Runs a command line and returns its exit code. */
export async function runAdmin(words: readonly string[], surroundings: CommandSurroundings): Promise<number> {
  const { say } = surroundings
  const misuse = createMisuse(words, say)
  try {
    await createProgram(surroundings, misuse.say).parseAsync(words, { from: 'user' })
    return 0
  } catch (error) {
    // Requesting help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : misuse.report(error, MISUSED)
    const isMisused =
      error instanceof SettingsError || (error instanceof ControlError && error.kind === 'invalid')
    const type = error instanceof ControlError ? error.kind : isMisused ? 'invalid' : 'failed'
    say(wantsJson(words) ? errorJson({ type, message: explain(error) }) : `error: ${explain(error)}`)
    return isMisused ? MISUSED : FAILED
  }
}

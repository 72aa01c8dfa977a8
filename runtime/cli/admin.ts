import { CommanderError } from 'commander'
import { ControlError } from '../admin/change.ts'
import { messageOf } from '../platform/database/errors.ts'
import { SettingsError } from '../platform/settings.ts'
import { createProgram } from './admin-program.ts'

/** Exit codes: 1 when the action failed or was refused, 2 when it was not understood. */
const FAILED = 1
const MISUSED = 2

function explain(error: unknown): string {
  if (error instanceof SettingsError)
    return `the settings cannot be used:\n${error.message.replace(/^/gm, '  ')}`
  return messageOf(error)
}

async function main(words: readonly string[]): Promise<number> {
  try {
    await createProgram((line) => process.stderr.write(`${line}\n`)).parseAsync(words, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has said what was wrong; asking for help is no fault.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED
    process.stderr.write(`error: ${explain(error)}\n`)
    return error instanceof SettingsError || (error instanceof ControlError && error.kind === 'invalid')
      ? MISUSED
      : FAILED
  }
}

// The first signal lets the action finish and the database be let go; the second ends the process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => {})

process.exitCode = await main(process.argv.slice(2))

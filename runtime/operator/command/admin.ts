import { runAdmin } from './admin-run.ts'
import { ofProcess } from './surroundings.ts'

// The first signal lets the action finish and the database close; the second ends the process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => {})

process.exitCode = await runAdmin(process.argv.slice(2), ofProcess())

#!/usr/bin/env node
import { runSvc } from './svc-run.ts'
/** The entry point of the `svc` command. */
import { openAsk } from './terminal/ask.ts'
import { wantsColours } from './terminal/colours.ts'
import { EXIT_CODES } from './terminal/exit-codes.ts'
import { InterruptedError } from './terminal/failures.ts'

const controller = new AbortController()
const abort = () => controller.abort(new InterruptedError())
function exit(): never {
  process.stderr.write('interrupted\n')
  process.exit(EXIT_CODES.interrupted)
}
process.once('SIGINT', exit)

/** Returns the interruption signal. The first SIGINT or SIGTERM lets the command clean up; the second ends the process. */
function interruption(): AbortSignal {
  process.off('SIGINT', exit)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, abort)
  return controller.signal
}

// The reader of stdout may close it early, as in `svc events | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

process.exitCode = await runSvc(process.argv.slice(2), {
  print: (text) => process.stdout.write(`${text}\n`),
  say: (line) => process.stderr.write(`${line}\n`),
  interruption,
  colours: wantsColours(process.stdout, process.env),
  ask: openAsk(),
})

#!/usr/bin/env node
import { runSvc } from './svc-run.ts'
/** `svc`: the merchant's command. */
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

/** The first signal lets what is running say goodbye; the second ends the process as ever. */
function interruption(): AbortSignal {
  process.off('SIGINT', exit)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, abort)
  return controller.signal
}

// Who reads results may have had enough of them: `svc events | head`.
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

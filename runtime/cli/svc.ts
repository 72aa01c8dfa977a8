#!/usr/bin/env node
/** `svc`: the merchant's command. */
import { runSvc } from './svc-run.ts'

/** The first signal lets what is running say goodbye; the second ends the process as ever. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
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
})

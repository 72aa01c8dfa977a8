/** Worker thread of `watch`: generates again and again, with modules and the workers of tasks already loaded. */
import { parentPort, workerData } from 'node:worker_threads'
import { keepTaskWorkers } from '../generate/tasks.ts'
import type { Terminal } from './run.ts'
import type { WatchMessage, WatchWorkerData } from './watch.ts'

const { cli, file, colours } = workerData as WatchWorkerData
const send = (message: WatchMessage) => parentPort?.postMessage(message)
const terminal: Terminal = {
  out: (line) => send({ kind: 'out', line }),
  error: (line) => send({ kind: 'error', line }),
  colours,
}

keepTaskWorkers()
const { main } = (await import(cli)) as {
  readonly main: (argv: readonly string[], terminal: Terminal) => Promise<number>
}
parentPort?.on('message', () => {
  main(['--config', file, 'generate'], terminal).then(
    (exit) => send({ kind: 'end', exit, bytes: process.memoryUsage.rss() }),
    // Becomes an `error` event of the worker.
    (error: unknown) => {
      throw error
    },
  )
})

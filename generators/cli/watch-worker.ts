/** Worker thread of `watch`: generates again and again, with modules and the workers of tasks already loaded. */
import { parentPort, workerData } from 'node:worker_threads'
import { main } from '../cli.ts'
import { keepTaskWorkers } from '../generate/tasks.ts'
import type { Terminal } from './run.ts'

export interface WatchWorkerData {
  readonly file: string
  readonly colours: boolean
}

/** A line for the terminal, or the end of a run. */
export type WatchMessage =
  | { readonly kind: 'out' | 'error'; readonly line: string }
  | { readonly kind: 'end'; readonly exit: number; readonly bytes: number }

const { file, colours } = workerData as WatchWorkerData
const send = (message: WatchMessage) => parentPort?.postMessage(message)
const terminal: Terminal = {
  out: (line) => send({ kind: 'out', line }),
  error: (line) => send({ kind: 'error', line }),
  colours,
}

keepTaskWorkers()
parentPort?.on('message', () => {
  main(['--config', file, 'generate'], terminal).then(
    (exit) => send({ kind: 'end', exit, bytes: process.memoryUsage.rss() }),
    // Becomes an `error` event of the worker.
    (error: unknown) => {
      throw error
    },
  )
})

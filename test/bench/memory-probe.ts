/** Loaded into the service that `bench:memory` watches: answers on a socket with the memory of its process and what the process keeps open. */
import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'

/** Memory in bytes, and counts. */
export interface Probe extends NodeJS.MemoryUsage {
  /** Handles and requests that keep the event loop alive, by type. */
  readonly resources: Readonly<Record<string, number>>
  /** Listeners of the process, of all events. */
  readonly listeners: number
}

function look(): Probe {
  globalThis.gc?.()
  const counts: Record<string, number> = {}
  for (const type of process.getActiveResourcesInfo()) counts[type] = (counts[type] ?? 0) + 1
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  return { ...process.memoryUsage(), resources: counts, listeners }
}

const path = process.env.MEMORY_PROBE
// Programs that the service starts are not watched.
delete process.env.MEMORY_PROBE
delete process.env.NODE_OPTIONS
if (isMainThread && path !== undefined) {
  createServer((socket) => socket.end(JSON.stringify(look())))
    .listen(path)
    .unref()
}

import { getHeapStatistics } from 'node:v8'
import type { LoadLimits } from '../../platform/settings.ts'

/** How a process is doing, looked at ten times a second. */
export interface Load {
  /** Why new requests are turned away; undefined while there is room. */
  overloaded(): string | undefined
  /** How late the event loop was when last looked at, in milliseconds. */
  delayMs(): number
  /** How much of the heap is in use, between 0 and 1. */
  heap(): number
  stop(): void
}

export interface LoadOptions {
  readonly limits: Pick<LoadLimits, 'delayMs' | 'heap'>
  readonly heap?: () => number
  readonly monotonic?: () => number
}

const LOOK_MS = 100

/** A look that comes late once may be a collection of garbage; twice in a row is load. */
const LATE_IN_A_ROW = 2

function heapInUse(): number {
  const { used_heap_size, heap_size_limit } = getHeapStatistics()
  return used_heap_size / heap_size_limit
}

export function watchLoad(options: LoadOptions): Load {
  const { limits, heap: readHeap = heapInUse, monotonic = () => performance.now() } = options
  let last = monotonic()
  let [delay, heap, late] = [0, 0, 0]
  let reason: string | undefined
  const check = () => {
    if (late >= LATE_IN_A_ROW) return 'event_loop'
    return heap > limits.heap ? 'memory' : undefined
  }
  const look = () => {
    const now = monotonic()
    delay = Math.max(0, now - last - LOOK_MS)
    last = now
    heap = readHeap()
    late = delay > limits.delayMs ? late + 1 : 0
    reason = check()
  }
  const timer = setInterval(look, LOOK_MS).unref()
  return {
    overloaded: () => reason,
    delayMs: () => delay,
    heap: () => heap,
    stop: () => clearInterval(timer),
  }
}

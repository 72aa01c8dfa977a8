import { getHeapStatistics } from 'node:v8'
import type { LoadLimits } from '../../platform/settings.ts'

/** Load of a process, sampled ten times a second. */
export interface Load {
  /** Returns why new requests are shed, or undefined if they are accepted. */
  overloaded(): string | undefined
  /** Returns the event loop delay of the last sample, in milliseconds. */
  delayMs(): number
  /** Returns the heap usage, between 0 and 1. */
  heap(): number
  stop(): void
}

export interface LoadOptions {
  readonly limits: Pick<LoadLimits, 'delayMs' | 'heap'>
  readonly heap?: () => number
  readonly monotonic?: () => number
}

const SAMPLE_MS = 100

/** A single late sample may be a garbage collection; two in a row mean overload. */
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
  const sample = () => {
    const now = monotonic()
    delay = Math.max(0, now - last - SAMPLE_MS)
    last = now
    heap = readHeap()
    late = delay > limits.delayMs ? late + 1 : 0
    reason = check()
  }
  const timer = setInterval(sample, SAMPLE_MS).unref()
  return {
    overloaded: () => reason,
    delayMs: () => delay,
    heap: () => heap,
    stop: () => clearInterval(timer),
  }
}

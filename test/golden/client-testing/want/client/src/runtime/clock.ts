/** Source of time and randomness, replaceable in tests. */
export interface RetryClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** A random number of at least 0 and less than 1. */
  random(): number
  /** Waits. Rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
}

export const systemClock: RetryClock = { now: () => Date.now(), random: () => Math.random(), sleep }

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const wake = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(wake, ms)
    signal?.addEventListener('abort', leave, { once: true })
  })
}

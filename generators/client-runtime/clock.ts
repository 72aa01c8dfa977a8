/** Time and chance, so that tests need neither wait nor guess. */
export interface RetryClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** At least 0, below 1. */
  random(): number
  /** Rejects with the signal's reason as soon as it aborts. */
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

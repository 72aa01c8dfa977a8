import { setTimeout as wait } from 'node:timers/promises'

/** A rate limiter for requests. A pause delays all of them. */
export interface Pace {
  /** Resolves when the next request may start. */
  turn(): Promise<void>
  /**
   * Pauses all requests after Google has refused one because of its rate. The pause doubles until a request succeeds.
   *
   * @param leastMs minimum pause, from Google's Retry-After.
   */
  slowDown(leastMs: number): void
  /** Resets the pause after a successful request. */
  succeeded(): void
}

const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

export function createPace(perSecond: number, now: () => number = () => performance.now()): Pace {
  let nextAt = now()
  let pauseMs = 0
  return {
    turn: async () => {
      const at = Math.max(now(), nextAt)
      nextAt = at + 1000 / perSecond
      const ms = at - now()
      if (ms > 0) await wait(ms)
    },
    slowDown: (leastMs) => {
      if (nextAt - now() > FIRST_PAUSE_MS) return // already paused because of a concurrent request
      pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * pauseMs, leastMs))
      nextAt = now() + pauseMs
    },
    succeeded: () => {
      pauseMs = 0
    },
  }
}

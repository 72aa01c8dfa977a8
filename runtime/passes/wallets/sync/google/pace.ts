import { setTimeout as wait } from 'node:timers/promises'

/** Requests in turn, at most so many in a second; a pause holds all of them back. */
export interface Pace {
  /** Resolves when the next request may begin. */
  turn(): Promise<void>
  /** Google wants fewer requests: none for a while, longer each time until one succeeds. @param leastMs as Google said. */
  slowDown(leastMs: number): void
  /** A request has succeeded. */
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
      if (nextAt - now() > FIRST_PAUSE_MS) return // others that were under way say the same
      pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * pauseMs, leastMs))
      nextAt = now() + pauseMs
    },
    succeeded: () => {
      pauseMs = 0
    },
  }
}

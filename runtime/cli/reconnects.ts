/** Decides how long to wait before a retry, and when to stop retrying. Uses machine time. */
export interface Reconnects {
  /** Reports that data has arrived, so there is a connection. */
  connected(): void
  /** Returns how long an attempt may take, in milliseconds. The last attempt gets at least one second. */
  leftMs(): number
  /**
   * Reports that the connection was lost or could not be opened. Returns the pause before the next attempt in milliseconds,
   * or undefined to stop.
   * @param retryAfterMs how long the server asks to wait.
   */
  lost(retryAfterMs?: number): number | undefined
}

export interface ReconnectsOptions {
  /** Maximum time without a connection, in milliseconds. */
  readonly giveUpMs: number
  /** Pause before the first retry, in milliseconds. It doubles with each further retry. */
  readonly pauseMs: number
}

const MAX_PAUSE_MS = 8000
const LAST_TRY_MS = 1000

/** After a connection of this length, pauses start again with the shortest one. */
const STEADY_MS = 10_000

export function createReconnects({ giveUpMs, pauseMs }: ReconnectsOptions): Reconnects {
  let pauses = 0
  let lostAt: number | undefined = performance.now()
  let openedAt: number | undefined
  const leftMs = (now: number) => (lostAt === undefined ? giveUpMs : lostAt + giveUpMs - now)
  return {
    connected() {
      openedAt ??= performance.now()
      lostAt = undefined
    },
    leftMs: () => Math.max(leftMs(performance.now()), LAST_TRY_MS),
    lost(retryAfterMs = 0) {
      const now = performance.now()
      if (openedAt !== undefined && now - openedAt >= STEADY_MS) pauses = 0
      openedAt = undefined
      lostAt ??= now
      const left = leftMs(now)
      // Random jitter between 50 and 100 %, so that clients do not reconnect at the same moment after a restart.
      const own = Math.min(pauseMs * 2 ** pauses, MAX_PAUSE_MS) * (0.5 + Math.random() / 2)
      pauses += 1
      return left <= 0 ? undefined : Math.min(Math.max(retryAfterMs, own), left)
    },
  }
}

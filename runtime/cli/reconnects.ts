/** How long to wait before another try, and when to stop trying. Machine time. */
export interface Reconnects {
  /** Something arrived: there is a connection. */
  connected(): void
  /** How long a try may take in milliseconds; the last one too gets a second. */
  leftMs(): number
  /**
   * The connection is gone, or did not come about.
   * @param retryAfterMs how long the other side asks to wait.
   * @returns the pause before the next try in milliseconds; undefined when there is to be none.
   */
  lost(retryAfterMs?: number): number | undefined
}

export interface ReconnectsOptions {
  /** For how long there may be no connection, in milliseconds. */
  readonly giveUpMs: number
  /** The first pause; each is twice as long as the one before. */
  readonly pauseMs: number
}

const MAX_PAUSE_MS = 8000
const LAST_TRY_MS = 1000

/** A connection that held for so long was a good one: pauses begin anew. */
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
      // Between half and all of it, so that clients of one service that restarts do not come back together.
      const own = Math.min(pauseMs * 2 ** pauses, MAX_PAUSE_MS) * (0.5 + Math.random() / 2)
      pauses += 1
      return left <= 0 ? undefined : Math.min(Math.max(retryAfterMs, own), left)
    },
  }
}

/** Whether a failed attempt is worth another one, and when. */
import type { RetryClock } from './clock.ts'

/** Methods that RFC 9110 §9.2.2 lets a client repeat. The others need an idempotency key. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000
/** A service that asks for a longer pause than this is left alone: the caller decides. */
const MAX_RETRY_AFTER_MS = 60_000

const REQUEST_TIMEOUT = 408
const CONFLICT = 409
const TOO_MANY_REQUESTS = 429
const NOT_IMPLEMENTED = 501

/** What an attempt came to, as far as retrying goes; without a status no answer arrived. */
export interface AttemptOutcome {
  readonly method: string
  readonly keyed: boolean
  readonly status?: number
  readonly retryAfterMs?: number | undefined
}

/**
 * @param retries how many retries have been made before.
 * @returns the pause before the next attempt in milliseconds; undefined when there must be none.
 */
export function retryDelay(outcome: AttemptOutcome, retries: number, clock: RetryClock): number | undefined {
  const { retryAfterMs = 0 } = outcome
  if (!mayRepeat(outcome) || retryAfterMs > MAX_RETRY_AFTER_MS) return undefined
  // Full jitter on top of what the service asks for, so that clients refused together do not return together.
  return retryAfterMs + clock.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retries)
}

function mayRepeat({ method, keyed, status, retryAfterMs }: AttemptOutcome): boolean {
  // Refused by a limiter, so nothing was done. A POST is still repeated only under a key.
  if (status === TOO_MANY_REQUESTS && method !== 'POST') return true
  if (!keyed && !REPEATABLE.has(method)) return false
  if (status === undefined || status === REQUEST_TIMEOUT || status === TOO_MANY_REQUESTS) return true
  // A conflict with a date to come back is another request under the same key, still running.
  if (status === CONFLICT) return retryAfterMs !== undefined
  return status >= 500 && status !== NOT_IMPLEMENTED
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3), in seconds or as a date.
 * @returns milliseconds from now; undefined when it is absent or unreadable.
 */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

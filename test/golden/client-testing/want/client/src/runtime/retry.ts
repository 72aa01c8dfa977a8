/** Decides whether and when to retry a failed attempt. */
import type { RetryClock } from './clock.ts'

/** Idempotent methods, which clients may repeat (RFC 9110, 9.2.2; QUERY is safe by its definition). Other methods need an idempotency key. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY'])

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000
/** The client does not retry if the service requires a longer wait; the caller decides what to do. */
const MAX_RETRY_AFTER_MS = 60_000

const REQUEST_TIMEOUT = 408
const CONFLICT = 409
const TOO_MANY_REQUESTS = 429
const NOT_IMPLEMENTED = 501

/** The result of an attempt. If `status` is absent, no response arrived. */
export interface AttemptOutcome {
  readonly method: string
  readonly keyed: boolean
  readonly status?: number
  readonly retryAfterMs?: number | undefined
}

/**
 * Returns the delay before the next attempt.
 *
 * @param retries number of retries so far.
 * @returns milliseconds; undefined if the attempt must not be repeated.
 */
export function retryDelay(outcome: AttemptOutcome, retries: number, clock: RetryClock): number | undefined {
  const { retryAfterMs = 0 } = outcome
  if (!mayRepeat(outcome) || retryAfterMs > MAX_RETRY_AFTER_MS) return undefined
  // Full jitter in addition to the required wait, so that clients that were refused together do not return together.
  return retryAfterMs + clock.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retries)
}

function mayRepeat({ method, keyed, status, retryAfterMs }: AttemptOutcome): boolean {
  // A rate limiter refused the request before it took effect. A POST is still repeated only with a key.
  if (status === TOO_MANY_REQUESTS && method !== 'POST') return true
  if (!keyed && !REPEATABLE.has(method)) return false
  if (status === undefined || status === REQUEST_TIMEOUT || status === TOO_MANY_REQUESTS) return true
  // A conflict with a retry time means that a request with the same key is still in progress.
  if (status === CONFLICT) return retryAfterMs !== undefined
  return status >= 500 && status !== NOT_IMPLEMENTED
}

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3), which is a number of seconds or a date.
 *
 * @returns milliseconds from now; undefined if the header is absent or invalid.
 */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

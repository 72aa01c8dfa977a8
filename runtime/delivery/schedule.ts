import type { Outcome } from '../outbound/outbound.ts'

const MINUTE_MS = 60_000

/** From the event's emission to each attempt: at once, 5 minutes, 30 minutes, 2 hours, 5 hours. */
const DELAYS_MS = [0, 5, 30, 120, 300].map((minutes) => minutes * MINUTE_MS)

/** The attempt after whose failure the endpoint is disabled. */
export const LAST_ATTEMPT = DELAYS_MS.length

/** After an outage of ours all that is overdue comes at once; attempts of one delivery keep this distance. */
const DISTANCE_MS = MINUTE_MS

/**
 * When the attempt after `attempt` is due: measured from the emission, but not right after the one that failed. Undefined
 * after the last. Service time, milliseconds since the epoch.
 */
export function nextDue(attempt: number, emittedAt: number, attemptedAt: number): number | undefined {
  const delay = DELAYS_MS[attempt]
  return delay === undefined ? undefined : Math.max(emittedAt + delay, attemptedAt + DISTANCE_MS)
}

/** What an outcome means: `refused` is a deliberate answer that another attempt would not change. */
export type Verdict = 'delivered' | 'refused' | 'failed'

const RETRIED = new Set([408, 409, 425, 429])

/** Success is any 2xx. Another attempt follows on 408, 409, 425, 429, any 5xx and whatever gave no answer. */
export function checkOutcome(outcome: Outcome): Verdict {
  if ('error' in outcome) return 'failed'
  const { status } = outcome
  if (status >= 200 && status <= 299) return 'delivered'
  return RETRIED.has(status) || (status >= 500 && status <= 599) ? 'failed' : 'refused'
}

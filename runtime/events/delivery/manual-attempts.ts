import type { LeasedAttempt } from './queries/attempts.ts'

/** Counts the manual attempts in progress, by endpoint. */
export interface ManualAttempts {
  add(attempt: Pick<LeasedAttempt, 'trigger' | 'endpoint_id'>): void
  /** Returns whether the attempt was the last manual one of its endpoint. */
  ended(attempt: Pick<LeasedAttempt, 'trigger' | 'endpoint_id'>): boolean
}

export function createManualAttempts(): ManualAttempts {
  const counts = new Map<string, number>()
  return {
    add({ trigger, endpoint_id }) {
      if (trigger === 'manual') counts.set(endpoint_id, (counts.get(endpoint_id) ?? 0) + 1)
    },
    ended({ trigger, endpoint_id }) {
      if (trigger !== 'manual') return false
      const left = counts.get(endpoint_id)! - 1
      if (left > 0) counts.set(endpoint_id, left)
      else counts.delete(endpoint_id)
      return left === 0
    },
  }
}

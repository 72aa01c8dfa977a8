/**
 * State transitions of destinations, as pure functions that throw if a transition is not allowed. Times are times on the
 * settlement clock.
 */
import { invalidState } from '../../api/errors/errors.ts'
import type { DestinationRow } from './queries.ts'

/** Waiting period of a new destination, in milliseconds. */
export const HOLD_MS = 24 * 3_600_000

/** Throws `invalid_state` if the destination is disabled or denied. */
export function requireOpen({ status }: DestinationRow): void {
  if (status === 'disabled' || status === 'denied') {
    throw invalidState(`The destination is ${status}, which is final. Add a new destination.`)
  }
}

/** Disables a destination for good, at the tenant's request. */
export function disable(row: DestinationRow, now: number): DestinationRow {
  requireOpen(row)
  return { ...row, status: 'disabled', is_default: false, updated: now }
}

/** Denies a destination for good, after a check. */
export function deny(row: DestinationRow, now: number): DestinationRow {
  return { ...row, status: 'denied', active_at: null, is_default: false, updated: now }
}

/** Activates a destination at the end of its waiting period. */
export function activate(row: DestinationRow, now: number): DestinationRow {
  return { ...row, status: 'active', updated: now }
}

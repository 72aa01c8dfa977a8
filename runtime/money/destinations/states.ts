/** What may become of a destination. Nothing here asks a database; refusals are thrown. Times by the clock of settlements. */
import { invalidState } from '../../api/errors/errors.ts'
import type { DestinationRow } from './queries.ts'

/** From the moment that a destination is added. */
export const HOLD_MS = 24 * 3_600_000

/** Throws for a destination that has ended. */
export function requireOpen({ status }: DestinationRow): void {
  if (status === 'disabled' || status === 'denied') {
    throw invalidState(`The destination is ${status}, which is final: add another one.`)
  }
}

/** Taken off by the tenant, for good. */
export function disable(row: DestinationRow, now: number): DestinationRow {
  requireOpen(row)
  return { ...row, status: 'disabled', is_default: false, updated: now }
}

/** Refused by a check, for good. */
export function deny(row: DestinationRow, now: number): DestinationRow {
  return { ...row, status: 'denied', active_at: null, is_default: false, updated: now }
}

/** Its hold is over. */
export function activate(row: DestinationRow, now: number): DestinationRow {
  return { ...row, status: 'active', updated: now }
}

/**
 * State transitions of settlements over time, as pure functions that throw if a transition is not allowed. Times are times
 * on the settlement clock.
 */
import { invalidState } from '../../api/errors/errors.ts'
import { PENDING_MS } from '../settlement-lines/lines.ts'
import type { SettlementRow, SettlementStatus } from '../settlement-lines/queries.ts'

/** How long a settlement is processed, and how long a failed one waits for its retry, in milliseconds. */
export const PROCESSING_MS = 3_600_000
export const RETRY_MS = 3_600_000

type SettlementStanding = Pick<SettlementRow, 'status' | 'due'>

const NEXT: Readonly<
  Record<Exclude<SettlementStatus, 'settled'>, { readonly status: SettlementStatus; readonly forMs?: number }>
> = {
  open: { status: 'pending', forMs: PENDING_MS },
  pending: { status: 'processing', forMs: PROCESSING_MS },
  processing: { status: 'settled' },
  failed: { status: 'processing', forMs: PROCESSING_MS },
}

/** Returns the next status and its time; undefined if the settlement is settled. */
export function nextOf({ status, due }: SettlementStanding): SettlementStanding | undefined {
  if (status === 'settled') return undefined
  const { status: next, forMs } = NEXT[status]
  return { status: next, due: forMs === undefined ? null : due! + forMs }
}

/**
 * Returns when a settlement reaches a status over time; undefined if it has that status. Throws `invalid_state` if it never
 * does.
 */
export function timeOf(settlement: SettlementStanding, wanted: SettlementStatus): number | undefined {
  if (settlement.status === wanted) return undefined
  for (let standing = settlement; ; ) {
    const next = nextOf(standing)
    if (!next)
      throw invalidState(`A settlement with status ${settlement.status} never reaches the status ${wanted}.`)
    if (next.status === wanted) return standing.due!
    standing = next
  }
}

/**
 * Fails a settlement that is being processed; it is retried later.
 * @param at time on the settlement clock.
 */
export function fail(row: SettlementRow, at: number): SettlementRow {
  if (row.status !== 'processing')
    throw invalidState(
      `Only settlements that are processing can fail. The status of this settlement is ${row.status}.`,
    )
  return { ...row, status: 'failed', due: at + RETRY_MS, updated: Math.max(row.updated, at) }
}

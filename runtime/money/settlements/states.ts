/** When a settlement moves, and where to. Nothing here asks a database; refusals are thrown. Times are the settlement clock's. */
import { invalidState } from '../../api/errors/errors.ts'
import { PENDING_MS } from '../settlement-lines/lines.ts'
import type { SettlementRow, SettlementStatus } from '../settlement-lines/queries.ts'

/** How long a settlement is processed, and how long one that failed waits to be tried again. */
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

/** Where time takes a settlement next; undefined where it stays. */
export function nextOf({ status, due }: SettlementStanding): SettlementStanding | undefined {
  if (status === 'settled') return undefined
  const { status: next, forMs } = NEXT[status]
  return { status: next, due: forMs === undefined ? null : due! + forMs }
}

/** When time has taken a settlement to a status; undefined where it is there. Throws where it never does. */
export function timeOf(settlement: SettlementStanding, wanted: SettlementStatus): number | undefined {
  if (settlement.status === wanted) return undefined
  for (let standing = settlement; ; ) {
    const next = nextOf(standing)
    if (!next)
      throw invalidState(`A settlement that is ${settlement.status} does not become ${wanted} in time.`)
    if (next.status === wanted) return standing.due!
    standing = next
  }
}

/** A settlement whose processing has failed: it is tried again. @param at by the settlement clock. */
export function fail(row: SettlementRow, at: number): SettlementRow {
  if (row.status !== 'processing')
    throw invalidState(`Only what is processing can fail: the settlement is ${row.status}.`)
  return { ...row, status: 'failed', due: at + RETRY_MS, updated: Math.max(row.updated, at) }
}

/** Adds lines to the tenant's open settlement. The first line of a day opens its settlement. */

import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { EventSink } from '../../events/emit/emit.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { type LineAmount, totalsOf } from './amounts.ts'
import { requireMoved, requireTotals } from './bounds.ts'
import { lockClock } from './clock.ts'
import {
  addLines,
  insertSettlement,
  lockLatestSettlement,
  moveSettlement,
  type OpenSettlement,
  readOpenSettlement,
  readSettlement,
  type SettlementRow,
  type SettlementWithLines,
} from './queries.ts'
import { showSettlement } from './view.ts'

/** The context in which settlements are written. */
export interface SettlementPlace {
  readonly db: Database
  readonly space: string
  readonly events: EventSink
}

/** A line to write, with the object and the ledger entry that it refers to. */
export interface NewLine extends LineAmount {
  readonly source_id: string
  readonly ledger_entry_id: string
}

const DAY_MS = 86_400_000

/** How long a settlement is pending after its cut-off, in milliseconds. */
export const PENDING_MS = 3_600_000

/**
 * Writes lines into the tenant's open settlement. The statements are pipelined; the transaction fails with `Overtaken` if
 * the settlement is closed in the meantime. Throws `BeyondBounds` if a total would exceed the maximum. Lock order: call this
 * before posting to the ledger.
 * @param now service time.
 * @param known the result of `readOpenSettlement` in this transaction, if it was called.
 */
export async function writeLines(
  place: SettlementPlace,
  lines: readonly NewLine[],
  now: number,
  known: OpenSettlement | undefined,
): Promise<void> {
  const { db, space } = place
  const open = takesLines(known, now) ? known : await openSettlement(place, now)
  requireTotals(open, totalsOf(lines))
  const { id, period_start, offset_ms } = open
  const created = Math.max(now + offset_ms, period_start)
  const rows = lines.map((line) => ({ ...line, id: newId('sln', created), settlement_id: id, created }))
  pipelined(addLines(db, space, rows))
}

const takesLines = (known: OpenSettlement | undefined, now: number): known is OpenSettlement =>
  known !== undefined && now + known.offset_ms < known.period_end

/**
 * Writes lines of several clearings or refunds at once, which all begin with the same totals: opens the settlement of the
 * day if none takes lines, and checks the totals after the work.
 * @param now service time.
 * @param work writes the lines to the settlement that it is given; all of its statements are sent when it ends.
 */
export async function writeManyLines<T>(
  place: SettlementPlace,
  now: number,
  work: (open: OpenSettlement) => Promise<T>,
): Promise<T> {
  const { db, space } = place
  const known = await readOpenSettlement(db, space)
  const before = takesLines(known, now) ? known : await openSettlement(place, now)
  const result = await work(before)
  const after = await readOpenSettlement(db, space)
  if (after?.id === before.id) requireMoved(before, after)
  return result
}

/**
 * Opens the settlement of the day after closing the previous one. If another transaction has opened it, returns that one.
 */
async function openSettlement(place: SettlementPlace, now: number): Promise<OpenSettlement> {
  const { db, space, events } = place
  const offset_ms = await lockClock(db, space)
  const latest = await lockLatestSettlement(db, space)
  const asked = now + offset_ms
  if (latest?.status === 'open') {
    if (asked < latest.period_end) return { ...latest, offset_ms }
    await closeSettlement(place, latest)
  }
  // A day that was closed in the meantime stays closed.
  const period_start = Math.max(Math.floor(asked / DAY_MS) * DAY_MS, latest?.period_end ?? 0)
  const at = Math.max(asked, period_start)
  const row: SettlementRow = {
    id: newId('stl', at),
    status: 'open',
    currency: 'usd',
    period_start,
    period_end: period_start + DAY_MS,
    transaction_amount: 0,
    interchange_amount: 0,
    fees_amount: 0,
    net_amount: 0,
    lines_count: 0,
    payout_id: null,
    due: period_start + DAY_MS,
    created: at,
    updated: at,
  }
  await insertSettlement(db, space, row)
  emit(events, { type: 'settlement.created', data: { settlement: showSettlement({ ...row, lines: [] }) } })
  return { ...row, offset_ms }
}

/**
 * Closes a settlement at its cut-off, so that it takes no more lines. The caller has locked the settlement and the tenant's
 * clock.
 */
export async function closeSettlement(
  place: SettlementPlace,
  row: SettlementRow,
): Promise<SettlementWithLines> {
  const { period_end, updated } = row
  const due = period_end + PENDING_MS
  return writeMove(place, { ...row, status: 'pending', due, updated: Math.max(updated, period_end) })
}

/** Writes the new status of a settlement and emits the event. */
export async function writeMove(place: SettlementPlace, row: SettlementRow): Promise<SettlementWithLines> {
  const { db, space, events } = place
  pipelined(moveSettlement(db, space, row))
  const moved = (await readSettlement(db, space, row.id))!
  const data = { settlement: showSettlement(moved) }
  emit(events, { type: `settlement.${row.status}` as 'settlement.pending', data })
  return moved
}

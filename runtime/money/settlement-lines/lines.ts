/** How lines come into settlements: each into the one that is open, which its day's first line opens. */

import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { EventSink } from '../../events/emit/emit.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { type LineAmount, totalsOf } from './amounts.ts'
import { requireTotals } from './bounds.ts'
import { lockClock } from './clock.ts'
import {
  addLines,
  insertSettlement,
  lockLatestSettlement,
  moveSettlement,
  type OpenSettlement,
  readSettlement,
  type SettlementRow,
  type SettlementWithLines,
} from './queries.ts'
import { showSettlement } from './view.ts'

/** Where settlements are written. */
export interface SettlementPlace {
  readonly db: Database
  readonly space: string
  readonly events: EventSink
}

/** A line that is to be written, with what is behind it. */
export interface NewLine extends LineAmount {
  readonly source_id: string
  readonly ledger_entry_id: string
}

const DAY_MS = 86_400_000

/** How long a settlement is pending after its cut-off. */
export const PENDING_MS = 3_600_000

/**
 * Writes lines into the tenant's open settlement; they travel with the statements after them. The transaction fails with
 * `Overtaken` where the settlement's cut-off comes first. Throws `BeyondBounds` if the settlement could not be shown. To be called before the ledger is
 * written: accounts are locked after settlements.
 *
 * @param now service time.
 * @param known what `readOpenSettlement` gives in this transaction, where it was asked before.
 */
export async function writeLines(
  place: SettlementPlace,
  lines: readonly NewLine[],
  now: number,
  known: OpenSettlement | undefined,
): Promise<void> {
  const { db, space } = place
  const isOpen = known !== undefined && now + known.offset_ms < known.period_end
  const open = isOpen ? known : await openSettlement(place, now)
  requireTotals(open, totalsOf(lines))
  const { id, period_start, offset_ms } = open
  const created = Math.max(now + offset_ms, period_start)
  const rows = lines.map((line) => ({ ...line, id: newId('sln', created), settlement_id: id, created }))
  pipelined(addLines(db, space, rows))
}

/** Opens the settlement of the day, after the cut-off of the one before; gives the open one where somebody was quicker. */
async function openSettlement(place: SettlementPlace, now: number): Promise<OpenSettlement> {
  const { db, space, events } = place
  const offset_ms = await lockClock(db, space)
  const latest = await lockLatestSettlement(db, space)
  const asked = now + offset_ms
  if (latest?.status === 'open') {
    if (asked < latest.period_end) return { ...latest, offset_ms }
    await closeSettlement(place, latest)
  }
  // A day that was closed meanwhile stays closed.
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

/** The cut-off: no line joins any more. The settlement and the tenant's clock are locked. */
export async function closeSettlement(
  place: SettlementPlace,
  row: SettlementRow,
): Promise<SettlementWithLines> {
  const { period_end, updated } = row
  const due = period_end + PENDING_MS
  return writeMove(place, { ...row, status: 'pending', due, updated: Math.max(updated, period_end) })
}

/** Writes where a settlement stands now, and tells of it. */
export async function writeMove(place: SettlementPlace, row: SettlementRow): Promise<SettlementWithLines> {
  const { db, space, events } = place
  pipelined(moveSettlement(db, space, row))
  const moved = (await readSettlement(db, space, row.id))!
  const data = { settlement: showSettlement(moved) }
  emit(events, { type: `settlement.${row.status}` as 'settlement.pending', data })
  return moved
}

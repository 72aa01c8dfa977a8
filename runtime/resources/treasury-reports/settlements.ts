/** Settlements and their lines as reports read them, step by step. */
import type { components } from '../../../generated/canonical/types.ts'
import { versions } from '../../../generated/versions.ts'
import type { Interval } from '../../ledger/history.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import { toTimestamp } from '../../platform/database/types.ts'
import { type LineRow, listLines, type SettlementRow } from '../../settlement-lines/queries.ts'
import { showLine } from '../../settlement-lines/view.ts'

type Schemas = components['schemas']

/** The lines of a settlement do not come to what it says. */
export class InconsistentLines extends Error {
  override name = 'InconsistentLines'
}

export type ReportedSettlement = Pick<SettlementRow, 'id' | 'status' | 'net_amount' | 'created'>

const NET_BEFORE: Statement = {
  name: 'settlements_net_before',
  text: `SELECT coalesce(sum(s.net_amount), 0)::bigint AS net FROM settlements s WHERE s.tenant_id = $1 AND s.created < $2`,
}

/** What the settlements that were opened before have come to, in cents: one a day at most. */
export async function sumNetBefore(db: Database, space: string, start: number): Promise<number> {
  const { rows } = await db.query<{ net: number }>(NET_BEFORE, [space, toTimestamp(start)])
  return rows[0]?.net ?? 0
}

const WALK: Statement = {
  name: 'settlements_walk',
  text: `SELECT s.id, s.status, s.net_amount, s.created FROM settlements s
          WHERE s.tenant_id = $1 AND (s.created, s.id) > ($2, $3) AND s.created < $4 ORDER BY s.created, s.id LIMIT $5`,
}

const SETTLEMENTS = 100

/** Settlements that were opened in the interval, in the order of their opening. */
export async function* walkSettlements(
  db: Database,
  space: string,
  { start, end }: Interval,
): AsyncGenerator<ReportedSettlement> {
  for (let after = { created: start, id: '' }; ; ) {
    const values = [space, toTimestamp(after.created), after.id, toTimestamp(end), SETTLEMENTS]
    const { rows } = await db.query<ReportedSettlement>(WALK, values)
    yield* rows
    if (rows.length < SETTLEMENTS) return
    after = rows.at(-1)!
  }
}

const LINES = 2_000

/** The lines of a settlement, step by step; none of a step means the end. */
export async function* walkLines(
  db: Database,
  space: string,
  settlementId: string,
): AsyncGenerator<readonly LineRow[]> {
  let boundary: { created: number; id: string; side: 'after' } | undefined
  for (;;) {
    const page = { limit: LINES, order: 'asc', backward: false, ...(boundary && { boundary }) } as const
    const { rows, hasMore } = await listLines(db, space, { settlementId, created: {} }, page)
    yield rows
    if (!hasMore) return
    const { created, id } = rows.at(-1)!
    boundary = { created, id, side: 'after' }
  }
}

/** Shows lines as a version spells them, as its own list of lines would. */
export function lineSpelling(
  version: string,
): (lines: readonly LineRow[]) => readonly Schemas['SettlementLine'][] {
  const operations = versions.find(({ name }) => name === version)?.operations
  const down = operations?.find(({ id }) => id === 'listSettlementLines')?.down
  return (lines) => {
    const data = lines.map(showLine)
    return down ? down({ data, has_more: false, next_cursor: null }).data : data
  }
}

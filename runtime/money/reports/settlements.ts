/** Reads settlements and their lines for reports, step by step. */
import type { components } from '../../../generated/canonical/types.ts'
import { versions } from '../../../generated/versions.ts'
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { PositionSpan, Positions } from '../ledger/checkpoints.ts'
import type { LineRow, SettlementRow } from '../settlement-lines/queries.ts'
import { showLine } from '../settlement-lines/view.ts'

type Schemas = components['schemas']

/** The lines of a settlement do not match its totals. */
export class InconsistentLines extends Error {
  override name = 'InconsistentLines'
}

export type ReportedSettlement = Pick<SettlementRow, 'id' | 'status' | 'net_amount' | 'period_start'>

/**
 * The accounts whose entries have settlement lines; each transaction with lines has an entry in one of them. Settlements are
 * locked before accounts, so the lines of an account are in the order of the settlements.
 */
const LINED = ['network_clearing', 'provisional_credit'] as const

/** For each account, finds the settlement of the entry with lines that is nearest to a position. */
const nearest = (comparison: '>' | '<=', direction: 'ASC' | 'DESC') =>
  `SELECT s.period_start FROM unnest($2::text[], $3::bigint[]) AS p (account_id, version)
    CROSS JOIN LATERAL (
      SELECT l.settlement_id FROM ledger_entries e
       CROSS JOIN LATERAL (
         SELECT l.settlement_id FROM settlement_lines l
          WHERE l.tenant_id = $1 AND l.source_id = split_part(e.cause, '/', 1) AND l.ledger_entry_id = e.id LIMIT 1
       ) AS l
       WHERE e.tenant_id = $1 AND e.account_id = p.account_id AND e.version ${comparison} p.version
       ORDER BY e.version ${direction} LIMIT 1
    ) AS l
    JOIN settlements s ON s.tenant_id = $1 AND s.id = l.settlement_id`

const NET_BEFORE: Statement = {
  name: 'settlements_net_before',
  text: `SELECT coalesce(sum(s.net_amount), 0)::text AS net FROM settlements s
          WHERE s.tenant_id = $1
            AND s.period_start < coalesce((SELECT min(n.period_start) FROM (${nearest('>', 'ASC')}) AS n), 'infinity')`,
}

const positionsOf = (positions: Positions) => [LINED, LINED.map((account) => positions[account] ?? 0)]

/**
 * Returns the net amount of all settlements whose lines are all before the positions, in cents. There is at most one
 * settlement a day.
 */
export async function readNetBefore(db: Database, space: string, positions: Positions): Promise<bigint> {
  const { rows } = await db.query<{ net: string }>(NET_BEFORE, [space, ...positionsOf(positions)])
  return BigInt(rows[0]?.net ?? 0)
}

const FIRST: Statement = {
  name: 'settlements_first_after',
  text: `SELECT min(n.period_start) AS day FROM (${nearest('>', 'ASC')}) AS n`,
}

const LAST: Statement = {
  name: 'settlements_last_before',
  text: `SELECT max(n.period_start) AS day FROM (${nearest('<=', 'DESC')}) AS n`,
}

const WALK: Statement = {
  name: 'settlements_walk',
  text: `SELECT s.id, s.status, s.net_amount, s.period_start FROM settlements s
          WHERE s.tenant_id = $1 AND s.period_start >= $2 AND s.period_start <= $3 ORDER BY s.period_start LIMIT $4`,
}

const SETTLEMENTS = 100

const DAY_MS = 86_400_000

/** Yields the settlements with lines in the span, ordered by day. All earlier settlements are entirely before the span. */
export async function* walkSettlements(
  db: Database,
  space: string,
  { after, until }: PositionSpan,
): AsyncGenerator<ReportedSettlement> {
  const dayOf = async (statement: Statement, positions: Positions) =>
    (await db.query<{ day: number | null }>(statement, [space, ...positionsOf(positions)])).rows[0]?.day
  const [first, last] = [await dayOf(FIRST, after), await dayOf(LAST, until)]
  if (typeof first !== 'number' || typeof last !== 'number') return
  for (let from = first; ; ) {
    const values = [space, toTimestamp(from), toTimestamp(last), SETTLEMENTS]
    const { rows } = await db.query<ReportedSettlement>(WALK, values)
    yield* rows
    if (rows.length < SETTLEMENTS) return
    from = rows.at(-1)!.period_start + DAY_MS
  }
}

/** A settlement line with the position of its ledger entry. */
export interface PlacedLine extends LineRow {
  readonly account_id: string | null
  readonly version: number | null
}

/** Returns whether a line's ledger entry is at or before the positions. */
export function isWithin(positions: Positions, { id, account_id, version }: PlacedLine): boolean {
  if (account_id === null || version === null)
    throw new InconsistentLines(`${id} refers to a ledger entry that does not exist`)
  return version <= (positions[account_id] ?? 0)
}

const LINES: Statement = {
  name: 'settlement_lines_walk',
  text: `SELECT l.id, l.settlement_id, l.type, l.amount, l.source_id, l.ledger_entry_id, l.created, e.account_id, e.version
           FROM (
             SELECT l.* FROM settlement_lines l
              WHERE l.tenant_id = $1 AND (l.settlement_id, l.created, l.id) > ($2, $3, $4) AND (l.settlement_id, l.created, l.id) < ($2, 'infinity', '')
              ORDER BY l.settlement_id, l.created, l.id LIMIT $5
           ) AS l
           LEFT JOIN LATERAL (
             SELECT e.account_id, e.version FROM ledger_entries e WHERE e.tenant_id = $1 AND e.id = l.ledger_entry_id OFFSET 0
           ) AS e ON true
          ORDER BY l.created, l.id`,
}

const STEP = 2_000

/** Yields the lines of a settlement, step by step. */
export async function* walkLines(
  db: Database,
  space: string,
  settlementId: string,
): AsyncGenerator<readonly PlacedLine[]> {
  for (let after = ['-infinity', '']; ; ) {
    const { rows } = await db.query<PlacedLine>(LINES, [space, settlementId, ...after, STEP])
    yield rows
    if (rows.length < STEP) return
    const { created, id } = rows.at(-1)!
    after = [toTimestamp(created), id]
  }
}

/** Returns a function that renders lines in an API version, as the list of settlement lines does. */
export function lineSpelling(
  version: string,
): (lines: readonly LineRow[]) => readonly Schemas['SettlementLine'][] {
  const operations = versions.find(({ name }) => name === version)?.operations
  const down = operations?.find(({ id }) => id === 'listSettlementLines')?.down
  return (lines) => {
    const page: Schemas['SettlementLineList'] = {
      data: lines.map(showLine),
      has_more: false,
      next_cursor: null,
    }
    // Versions differ only in how they spell types: lines are read as those of the newest one.
    return down ? (down(page as never) as typeof page).data : page.data
  }
}

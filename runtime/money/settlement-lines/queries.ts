import type { components } from '../../../generated/canonical/types.ts'
import type { Database, ManyStatement, Statement, StatementStep } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { JsonList } from '../../database/gathering.ts'
import { inSteps, sendSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'
import { notBehind } from '../../tenants/clock/not-behind.ts'
import { type Interchange, type LineAmount, type LineType, type Totals, totalsOf } from './amounts.ts'
import { STANDARD } from './interchange.ts'

type Schemas = components['schemas']

export type SettlementStatus = 'open' | 'pending' | 'processing' | 'settled' | 'failed'

/** A settlement as stored. Amounts are cents. Times are times on the settlement clock, in milliseconds since the epoch. */
export interface SettlementRow extends Totals {
  readonly id: string
  readonly status: SettlementStatus
  readonly currency: Schemas['Currency']
  readonly period_start: number
  readonly period_end: number
  readonly payout_id: string | null
  /** When it moves to the next status; null once it is settled. */
  readonly due: number | null
  readonly created: number
  readonly updated: number
}

const COLUMNS = `s.id, s.status, s.currency, s.period_start, s.period_end, s.transaction_amount, s.interchange_amount, s.fees_amount,
  s.net_amount, s.lines_count, s.payout_id, s.due, s.created, s.updated`

// Read in one statement with the settlement, so that the totals match the lines.
const FIRST_LINES = `CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_object('id', l.id, 'settlement_id', l.settlement_id, 'type', l.type, 'amount', l.amount,
             'source_id', l.source_id, 'ledger_entry_id', l.ledger_entry_id,
             'created', (extract(epoch FROM l.created) * 1000)::bigint)), '[]') AS lines
      FROM (SELECT * FROM settlement_lines l WHERE l.tenant_id = $1 AND l.settlement_id = s.id
             ORDER BY l.created, l.id LIMIT 100) AS l
  ) AS first`

const READ: Statement = {
  name: 'settlements_read',
  text: `SELECT ${COLUMNS}, first.lines FROM settlements s ${FIRST_LINES} WHERE s.tenant_id = $1 AND s.id = $2`,
}

/** A settlement with its first 100 lines. */
export type SettlementWithLines = SettlementRow & { readonly lines: readonly LineRow[] }

export async function readSettlement(
  db: Database,
  tenantId: string,
  id: string,
): Promise<SettlementWithLines | undefined> {
  return (await db.query<SettlementWithLines>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = {
  name: 'settlements_lock',
  text: `SELECT ${COLUMNS} FROM settlements s WHERE s.tenant_id = $1 AND s.id = $2 FOR UPDATE`,
}

/** Returns a settlement and locks it. Lock the tenant's clock first. */
export async function lockSettlement(
  db: Database,
  tenantId: string,
  id: string,
): Promise<SettlementRow | undefined> {
  return (await db.query<SettlementRow>(LOCK, [tenantId, id])).rows[0]
}

const NEXT: Statement = {
  name: 'settlements_next',
  text: `SELECT ${COLUMNS} FROM settlements s WHERE s.tenant_id = $1 AND s.due IS NOT NULL ORDER BY s.due, s.id LIMIT 1 FOR UPDATE`,
}

/** Locks and returns the settlement that moves next, or undefined if all are settled. Lock the tenant's clock first. */
export async function lockNextSettlement(
  db: Database,
  tenantId: string,
): Promise<(SettlementRow & { readonly due: number }) | undefined> {
  return (await db.query<SettlementRow & { due: number }>(NEXT, [tenantId])).rows[0]
}

const NEXT_DUE: Statement = {
  name: 'settlements_next_due',
  text: 'SELECT min(s.due) AS at FROM settlements s WHERE s.tenant_id = $1 AND s.due IS NOT NULL',
}

/** Returns when the tenant's next settlement moves; null if all are settled. */
export async function readNextDue(db: Database, tenantId: string): Promise<number | null> {
  return (await db.query<{ at: number | null }>(NEXT_DUE, [tenantId])).rows[0]!.at
}

const DUE: Statement = {
  name: 'settlements_due',
  text: `SELECT s.tenant_id FROM settlements s WHERE s.due <= $1 AND ${notBehind('s')}
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = s.tenant_id)
          ORDER BY s.due LIMIT $2`,
}

/**
 * Returns the tenants of due settlements, once for each settlement.
 * @param now service time. Tenants whose clock is behind it are left out.
 */
export async function findDueTenants(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string }[]> {
  return (await db.query<{ tenant_id: string }>(DUE, [toTimestamp(now), limit])).rows
}

const DUE_AHEAD: Statement = {
  name: 'settlements_due_ahead',
  text: `SELECT c.tenant_id FROM settlement_clocks c WHERE c.offset_ms > 0 AND EXISTS (
           SELECT FROM settlements s WHERE s.tenant_id = c.tenant_id
              AND s.due <= $1::timestamptz + c.offset_ms * interval '1 millisecond')
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = c.tenant_id) LIMIT $2`,
}

/**
 * Returns the tenants with due settlements whose settlement clock is ahead, once for each tenant.
 * @param now service time.
 */
export async function findDueTenantsAhead(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string }[]> {
  return (await db.query<{ tenant_id: string }>(DUE_AHEAD, [toTimestamp(now), limit])).rows
}

const OPEN: Statement = {
  name: 'settlements_open',
  text: `SELECT s.id, s.period_start, s.period_end, s.transaction_amount, s.interchange_amount, s.fees_amount, s.net_amount,
                s.lines_count, greatest(c.offset_ms, 0) AS offset_ms
           FROM settlements s JOIN settlement_clocks c ON c.tenant_id = s.tenant_id
          WHERE s.tenant_id = $1 AND s.status = 'open' AND c.tenant_id = $1`,
}

/** The settlement that takes new lines, and the offset of the tenant's clock. */
export interface OpenSettlement extends Totals, Pick<SettlementRow, 'id' | 'period_start' | 'period_end'> {
  readonly offset_ms: number
}

/** Returns the tenant's open settlement. Its cut-off can be in the past. */
export async function readOpenSettlement(
  db: Database,
  tenantId: string,
): Promise<OpenSettlement | undefined> {
  return (await db.query<OpenSettlement>(OPEN, [tenantId])).rows[0]
}

const LATEST: Statement = {
  name: 'settlements_latest',
  text: `SELECT ${COLUMNS} FROM settlements s WHERE s.tenant_id = $1 ORDER BY s.period_start DESC LIMIT 1 FOR UPDATE`,
}

/** Locks and returns the latest settlement. Lock the tenant's clock first. */
export async function lockLatestSettlement(
  db: Database,
  tenantId: string,
): Promise<SettlementRow | undefined> {
  return (await db.query<SettlementRow>(LATEST, [tenantId])).rows[0]
}

const INSERT: Statement = {
  name: 'settlements_insert',
  text: `INSERT INTO settlements (tenant_id, id, status, currency, period_start, period_end, due, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
}

/** Writes a new settlement without lines. */
export function insertSettlement(db: Database, tenantId: string, row: SettlementRow): Promise<unknown> {
  const times = [row.period_start, row.period_end, row.due!, row.created, row.updated].map(toTimestamp)
  return db.query(INSERT, [tenantId, row.id, row.status, row.currency, ...times])
}

const MOVE: Statement = {
  name: 'settlements_move',
  text: `UPDATE settlements SET status = $3, due = $4, payout_id = $5, updated = $6 WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the status of a settlement that the caller has locked with `lockSettlement`. */
export function moveSettlement(db: Database, tenantId: string, row: SettlementRow): Promise<unknown> {
  const due = row.due === null ? null : toTimestamp(row.due)
  return db.query(MOVE, [tenantId, row.id, row.status, due, row.payout_id, toTimestamp(row.updated)])
}

export interface LineRow {
  readonly id: string
  readonly settlement_id: string
  readonly type: LineType
  readonly amount: number
  readonly source_id: string | null
  readonly ledger_entry_id: string
  readonly created: number
}

// Optimistic check: if the settlement was closed in the meantime, the statement inserts lines with a NULL settlement_id,
// which violates NOT NULL on purpose and surfaces as `Overtaken`.
const LINE_VALUES = `l.id, CASE WHEN s.status = 'open' THEN s.id END, l.type, l.amount, l.source_id, l.ledger_entry_id,
            l.interchange_category, l.interchange_earned, l.network_date, l.created`

const LINES = `l (id text, settlement_id text, type text, amount bigint, source_id text, ledger_entry_id text, interchange_category text,
            interchange_earned bigint, network_date date, created timestamptz)`

const INSERT_LINES = `INSERT INTO settlement_lines (tenant_id, id, settlement_id, type, amount, source_id, ledger_entry_id,
            interchange_category, interchange_earned, network_date, created)`

const [MOVE_TOTALS, ADD_LINES] = inSteps(
  'settlement_lines_add',
  `UPDATE settlements SET transaction_amount = transaction_amount + $3, interchange_amount = interchange_amount + $4,
    fees_amount = fees_amount + $5, net_amount = net_amount + $6, lines_count = lines_count + $7, updated = greatest(updated, $8)
  WHERE tenant_id = $1 AND id = $2 AND status = 'open'`,
  `${INSERT_LINES} SELECT s.tenant_id, ${LINE_VALUES} FROM settlements s, json_to_recordset($9) AS ${LINES}
    WHERE s.tenant_id = $1 AND s.id = $2`,
) as [StatementStep, StatementStep]

// The values of a step are numbered in the order in which its text names them.
const LINE_STEPS: readonly StatementStep[] = [
  withMany(MOVE_TOTALS, {
    common: 6,
    text: `UPDATE settlements s SET transaction_amount = s.transaction_amount + g.transaction_amount,
             interchange_amount = s.interchange_amount + g.interchange_amount, fees_amount = s.fees_amount + g.fees_amount,
             net_amount = s.net_amount + g.net_amount, lines_count = s.lines_count + g.lines, updated = greatest(s.updated, g.at)
             FROM (SELECT v8 AS id, sum(v1) AS transaction_amount, sum(v2) AS interchange_amount, sum(v3) AS fees_amount,
                          sum(v4) AS net_amount, sum(v5) AS lines, max(v6) AS at
                     FROM json_to_recordset($2) AS g (v1 bigint, v2 bigint, v3 bigint, v4 bigint, v5 bigint, v6 timestamptz, v8 text)
                    GROUP BY v8) AS g
            WHERE s.tenant_id = $1 AND s.id = g.id AND s.status = 'open'`,
  }),
  withMany(ADD_LINES, {
    common: 1,
    text: `${INSERT_LINES} SELECT $1, ${LINE_VALUES} FROM json_to_recordset($2) AS ${LINES} LEFT JOIN (
             SELECT s.id, s.status FROM settlements s WHERE s.tenant_id = $1 AND s.status = 'open' OFFSET 0
           ) AS s ON s.id = l.settlement_id`,
  }),
]

function withMany(step: StatementStep, many: ManyStatement): StatementStep {
  return { ...step, statement: { ...step.statement, many } }
}

/**
 * Adds lines to an open settlement and updates its totals. Fails with `Overtaken` if it is no longer open.
 * @param lines lines of one settlement.
 */
export function addLines(
  db: Database,
  tenantId: string,
  lines: readonly (LineRow & LineAmount)[],
): Promise<unknown> {
  const totals = totalsOf(lines)
  const rows = lines.map((line) => ({ ...line, created: toTimestamp(line.created) }))
  const values = [
    tenantId,
    lines[0]!.settlement_id,
    totals.transaction_amount,
    totals.interchange_amount,
    totals.fees_amount,
    totals.net_amount,
    totals.lines_count,
    rows[0]!.created,
    new JsonList(rows),
  ]
  return sendSteps(db, LINE_STEPS, values, { guarded: true })
}

// Without a condition on the type, the planner can only use the index by source. Lines without a category are older than
// `interchange_earned`: their clearings earned what the interchange lines show.
const interchangeOf = (source: string) => `(
           SELECT coalesce(sum(coalesce(l.interchange_earned, CASE
                    WHEN l.type = 'interchange' AND l.amount > 0 AND l.interchange_category IS NULL THEN l.amount END)), 0)::bigint AS earned,
                  coalesce(sum(l.amount) FILTER (WHERE l.type = 'interchange'), 0)::bigint AS kept,
                  coalesce(max(l.interchange_category), '${STANDARD}') AS category
             FROM settlement_lines l WHERE l.tenant_id = $1 AND l.source_id = ${source}
         )`

const INTERCHANGE: Statement = {
  name: 'settlement_lines_interchange',
  text: `SELECT n.earned, n.earned - n.kept AS returned, n.category FROM ${interchangeOf('$2')} AS n`,
  many: {
    text: `SELECT g.place, n.earned, n.earned - n.kept AS returned, n.category
             FROM json_to_recordset($2) AS g (place integer, v2 text) CROSS JOIN LATERAL ${interchangeOf('g.v2')} AS n`,
  },
}

/** Returns the interchange of a card transaction over all settlements. The caller has locked the transaction. */
export async function readInterchange(
  db: Database,
  tenantId: string,
  sourceId: string,
): Promise<Interchange> {
  return (await db.query<Interchange>(INTERCHANGE, [tenantId, sourceId])).rows[0]!
}

const LINE_COLUMNS = ['id', 'settlement_id', 'type', 'amount', 'source_id', 'ledger_entry_id', 'created']
  .map((column) => `l.${column}`)
  .join(', ')

export const listSettlements = defineList<SettlementWithLines, 'listSettlements'>({
  operation: 'listSettlements',
  table: 'settlements',
  alias: 's',
  columns: `${COLUMNS}, first.lines`,
  join: FIRST_LINES,
  filters: { status: 's.status' },
  indexes: [[], ['status']],
})

interface OfSettlement {
  readonly settlement_id: readonly [string]
}

export const listLines = defineList<LineRow, 'listSettlementLines', OfSettlement>({
  operation: 'listSettlementLines',
  table: 'settlement_lines',
  alias: 'l',
  columns: LINE_COLUMNS,
  filters: { settlement_id: 'l.settlement_id', type: 'l.type', source_id: 'l.source_id' },
  // A source has few lines, so the filter by type needs no index.
  indexes: [['settlement_id'], ['type', 'settlement_id'], ['source_id', 'settlement_id']],
})

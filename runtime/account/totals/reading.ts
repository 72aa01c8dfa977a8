/** Reads the totals of each day. */
import type { Database, Statement } from '../../database/database.ts'
import { sweepOldest } from '../../database/sweep.ts'
import { notBehind } from '../../tenants/clock/not-behind.ts'
import { COUNTED_EVENTS } from './adding.ts'

/** What is counted: events of a type, clearings of cards and their refunds, and the balance that cards spend from. */
export const TOTAL_KINDS = [...COUNTED_EVENTS, 'card_spending', 'card_refunds', 'balance'] as const
export type TotalKind = (typeof TOTAL_KINDS)[number]

export interface Total {
  readonly kind: TotalKind
  readonly count: number
  /** Cents. The balance at the end of the day, for the kind `balance`. */
  readonly amount: number
}

/** Days in UTC, such as `2026-05-19`; both are included. */
export interface DayRange {
  readonly first: string
  readonly last: string
}

/** The total of a day. */
export interface DayTotal extends Total {
  readonly day: string
}

/** The total of a decline reason or a merchant category. */
export interface LabelTotal extends Total {
  readonly label: string
}

const SUMS = `sum(t.count)::bigint AS count, least(greatest(sum(t.amount), -9007199254740991), 9007199254740991)::bigint AS amount`

const BY_DAY: Statement = {
  name: 'totals_by_day',
  text: `SELECT t.kind, t.day, ${SUMS} FROM daily_totals t
          WHERE t.tenant_id = $1 AND t.kind = ANY ($2) AND t.day BETWEEN $3 AND $4 GROUP BY t.kind, t.day`,
}

/** Returns the totals of each day that has any, in no particular order. */
export async function readDayTotals(
  db: Database,
  space: string,
  { first, last }: DayRange,
): Promise<readonly DayTotal[]> {
  return (await db.query<DayTotal>(BY_DAY, [space, TOTAL_KINDS, first, last])).rows
}

const LABELED: readonly TotalKind[] = ['card.transaction.declined', 'card_spending']

// Without a name, PostgreSQL plans it for the period: a hash of the labels is faster than sorting a year of rows.
const BY_LABEL: Statement = {
  text: `SELECT t.kind, t.label, ${SUMS} FROM daily_totals t
          WHERE t.tenant_id = $1 AND t.kind = ANY ($2) AND t.day BETWEEN $3 AND $4 GROUP BY t.kind, t.label`,
}

/** Returns the totals of each decline reason and each merchant category, in no particular order. */
export async function readLabelTotals(
  db: Database,
  space: string,
  { first, last }: DayRange,
): Promise<readonly LabelTotal[]> {
  return (await db.query<LabelTotal>(BY_LABEL, [space, LABELED, first, last])).rows
}

export interface TotalsState {
  /** Machine time of the last change, milliseconds since the epoch; null if there are no totals yet. */
  readonly updated: number | null
  /** Events that the totals do not include yet. */
  readonly behind: number
  /** The first day with totals of any kind; null if there are none. */
  readonly since: string | null
}

const STATE: Statement = {
  name: 'totals_state',
  text: `SELECT c.updated, greatest(coalesce(h.sequence, 0) - coalesce(c.sequence, 0), 0) AS behind,
                (SELECT t.day FROM daily_totals t WHERE t.tenant_id = $1 ORDER BY t.day LIMIT 1) AS since
           FROM (SELECT 1) AS one
           LEFT JOIN totals_cursors c ON c.tenant_id = $1
           LEFT JOIN event_heads h ON h.tenant_id = $1`,
}

/** Returns how current the totals are. */
export async function readTotalsState(db: Database, space: string): Promise<TotalsState> {
  return (await db.query<TotalsState>(STATE, [space])).rows[0]!
}

const POSITION: Statement = {
  name: 'totals_position',
  text: 'SELECT c.sequence, c.ledger_version FROM totals_cursors c WHERE c.tenant_id = $1',
}

/** Returns a text that changes with the totals. It names the space, so that it also changes with a wipe. */
export async function readTotalsPosition(db: Database, space: string): Promise<string> {
  const { rows } = await db.query<{ sequence: number; ledger_version: number }>(POSITION, [space])
  return [space, rows[0]?.sequence, rows[0]?.ledger_version].join(' ')
}

const SWEEP = sweepOldest('daily_totals', 'day', notBehind('r'))

/**
 * Deletes up to about `limit` totals of days up to `lastDay`, except in spaces whose clock is behind. Returns the number.
 */
export async function sweepTotals(db: Database, lastDay: string, limit: number): Promise<number> {
  return (await db.query(SWEEP, [lastDay, limit])).count
}

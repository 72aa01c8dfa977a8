/** Running totals of what cards have spent. */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { sweepOldest } from '../../database/sweep.ts'
import { notBehind } from '../../tenants/clock/not-behind.ts'
import type { CardholderRow } from '../cardholders/queries.ts'
import { categoryOf } from '../merchant-categories/catalogue.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'
import type { WalletTokenRow } from '../wallet-tokens/queries.ts'
import { type Periods, periodsOf } from './periods.ts'
import type { CardTransactionRow } from './queries.ts'

/** The first and last period of each limit interval, in days or months. */
const TIMES = `(VALUES ('daily', 'day', $3::date, $3::date), ('weekly', 'day', $4::date, $3::date),
                      ('monthly', 'month', $5::date, $5::date), ('yearly', 'month', $6::date, $5::date),
                      ('all_time', 'all', date '1970-01-01', date '1970-01-01'))
               AS t (interval, granularity, first, last)`

const READ: Statement = {
  name: 'card_spending_read',
  text: `SELECT h.status, h.sanctions_status, k.draft_id, k.version, k.shadowed,
                CASE WHEN k.spending_controls->>'max_authorization_count' IS NOT NULL THEN (
                  SELECT coalesce(sum(s.authorizations), 0)::bigint FROM card_spending s
                   WHERE s.tenant_id = $1 AND s.card_id = $2 AND s.granularity = 'all'
                ) END AS authorizations,
                (SELECT json_agg(coalesce(spent.amount, 0) ORDER BY l.place)
                   FROM jsonb_array_elements(k.spending_controls->'spending_limits') WITH ORDINALITY AS l (entry, place)
                   LEFT JOIN ${TIMES} ON t.interval = l.entry->>'interval'
                  CROSS JOIN LATERAL (
                    SELECT least(coalesce(sum(s.amount), 0), 9007199254740991)::bigint AS amount FROM card_spending s
                     WHERE s.tenant_id = $1 AND s.card_id = $2 AND s.granularity = t.granularity
                       AND s.period BETWEEN t.first AND t.last
                       AND (jsonb_typeof(l.entry->'categories') = 'null' OR l.entry->'categories' ? s.category)
                  ) AS spent
                ) AS spent,
                (SELECT a.balance - a.held FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.id = 'program_funds') AS available,
                (SELECT json_agg(w.wallet) FROM wallet_tokens w
                  WHERE w.tenant_id = $1 AND w.card_id = $2 AND w.status = 'active') AS wallets,
                (SELECT greatest(o.offset_ms, 0) FROM settlement_clocks o WHERE o.tenant_id = $1) AS clock_offset,
                CASE WHEN $7::boolean THEN
                  EXISTS (SELECT FROM authorization_endpoints e WHERE e.tenant_id = $1)
                  OR EXISTS (SELECT FROM authorization_decisions d WHERE d.tenant_id = $1 AND d.request_key = $8::uuid)
                ELSE false END AS is_asked,
                CASE WHEN $9::text IS NOT NULL THEN
                  EXISTS (SELECT FROM card_transactions t WHERE t.tenant_id = $1 AND t.network_id = $9)
                  OR EXISTS (SELECT FROM network_waiting m WHERE m.tenant_id = $1 AND m.network_id = $9)
                ELSE false END AS is_known
           FROM cards c
          CROSS JOIN LATERAL (
            SELECT status, sanctions_status FROM cardholders h WHERE h.tenant_id = $1 AND h.id = c.cardholder_id OFFSET 0
          ) AS h
          CROSS JOIN LATERAL (
            SELECT NULL AS draft_id, NULL::bigint AS version, c.spending_controls, NULL::jsonb AS shadowed
             UNION ALL
            SELECT d.id, d.version, d.spending_controls, d.spending_controls FROM spending_control_drafts d
             WHERE d.tenant_id = $1 AND d.status = 'shadow'
               AND coalesce(d.card_id = c.id, d.card_program_id = c.card_program_id, d.card_program_id IS NULL)
          ) AS k
          WHERE c.tenant_id = $1 AND c.id = $2`,
}

export interface Spending {
  readonly cardholder: Pick<CardholderRow, 'status' | 'sanctions_status'>
  /** Cents, for each of the card's limits; 0 for limits per authorization. */
  readonly spent: readonly number[]
  readonly authorizations: number
  /** Cents that the tenant's cards can spend, as of the time of reading. */
  readonly available: number
  readonly wallets: readonly WalletTokenRow['wallet'][]
  /** How far the settlement clock is ahead, in milliseconds. Holds expire by that clock. */
  readonly clockOffset: number
  /** Whether the tenant's endpoint must be asked, or was already asked, about the request. */
  readonly isAsked: boolean
  /** Whether a message about the network's card use has arrived before. */
  readonly isKnown: boolean
  /** The drafts in shadow that are for the card, by ID. */
  readonly shadows: readonly ShadowSpending[]
}

/** The totals on which the controls of a draft in shadow depend. */
export interface ShadowSpending extends Pick<Spending, 'spent' | 'authorizations'> {
  readonly draft_id: string
  readonly version: number
  readonly spending_controls: SpendingControls
}

/** What a read of the facts is about, beside the card. */
export interface SpendingQuestion {
  /** The request that would ask the tenant's endpoint; null if it cannot be repeated, absent if the tenant is not asked. */
  readonly requestKey?: string | null | undefined
  /** The network's identifier of the card use. */
  readonly networkId?: string | undefined
}

/**
 * Returns what limits a card use: totals, the cardholder's status, and what is known about the use. Lock the card first. One
 * statement, because each statement costs as much as reading several rows. It has a row for the controls of the card, and
 * one for those of each draft in shadow.
 * @param now service time.
 */
export async function readSpending(
  db: Database,
  tenantId: string,
  cardId: string,
  now: number,
  { requestKey, networkId }: SpendingQuestion = {},
): Promise<Spending | undefined> {
  const { day, week, month, year } = periodsOf(now)
  const asked = [requestKey !== undefined, requestKey ?? null, networkId ?? null]
  const { rows } = await db.query<
    Spending['cardholder'] & {
      authorizations: number | null
      spent: readonly number[] | null
      available: number | null
      wallets: Spending['wallets'] | null
      clock_offset: number | null
      is_asked: boolean
      is_known: boolean
      draft_id: string | null
      version: number | null
      shadowed: SpendingControls | null
    }
  >(READ, [tenantId, cardId, day, week, month, year, ...asked])
  const row = rows.find(({ draft_id }) => draft_id === null)
  if (!row) return undefined
  const { available, wallets } = row
  const shadows = rows.flatMap((each) => {
    const { draft_id, version, shadowed: spending_controls } = each
    if (draft_id === null || version === null || spending_controls === null) return []
    return [{ draft_id, version, spending_controls, ...spentOf(each) }]
  })
  return {
    cardholder: row,
    ...spentOf(row),
    shadows: shadows.toSorted((a, b) => (a.draft_id < b.draft_id ? -1 : 1)),
    available: available ?? 0,
    wallets: wallets ?? [],
    clockOffset: row.clock_offset ?? 0,
    isAsked: row.is_asked,
    isKnown: row.is_known,
  }
}

const spentOf = (row: {
  readonly spent: Spending['spent'] | null
  readonly authorizations: number | null
}): Pick<Spending, 'spent' | 'authorizations'> => ({
  spent: row.spent ?? [],
  authorizations: row.authorizations ?? 0,
})

/** Names of parameters of a statement, such as `$7`, with the values of a card's spending. `$1` is the tenant. */
export interface SpendingParameters {
  readonly card: string
  readonly category: string
  readonly amount: string
  readonly authorizations: string
  readonly day: string
  readonly month: string
}

/** Returns the text that adds to a card's spending. */
export function addingSpending(parameters: SpendingParameters): string {
  const { card, category, amount, authorizations, day, month } = parameters
  return `INSERT INTO card_spending AS s (tenant_id, card_id, granularity, period, category, amount, authorizations)
         SELECT c.tenant_id, c.id, p.granularity, p.period, ${category}, ${amount}::bigint, ${authorizations}::bigint
           FROM (SELECT tenant_id, id FROM cards WHERE tenant_id = $1 AND id = ${card} OFFSET 0) AS c
          CROSS JOIN (VALUES ('day', ${day}::date), ('month', ${month}::date), ('all', date '1970-01-01')) AS p (granularity, period)
         ON CONFLICT (tenant_id, card_id, granularity, period, category)
         DO UPDATE SET amount = s.amount + excluded.amount, authorizations = s.authorizations + excluded.authorizations`
}

const ADD: Statement = {
  name: 'card_spending_add',
  text: addingSpending({
    card: '$2',
    category: '$3',
    amount: '$4',
    authorizations: '$5',
    day: '$6',
    month: '$7',
  }),
  many: {
    text: `INSERT INTO card_spending AS s (tenant_id, card_id, granularity, period, category, amount, authorizations)
           SELECT $1, g.v2, p.granularity, p.period, g.v3, sum(g.v4)::bigint, sum(g.v5)::bigint
             FROM json_to_recordset($2) AS g (v2 text, v3 text, v4 bigint, v5 bigint, v6 date, v7 date)
            CROSS JOIN LATERAL (VALUES ('day', g.v6), ('month', g.v7), ('all', date '1970-01-01')) AS p (granularity, period)
            GROUP BY 2, 3, 4, 5 ORDER BY 2, 3, 4, 5
           ON CONFLICT (tenant_id, card_id, granularity, period, category)
           DO UPDATE SET amount = s.amount + excluded.amount, authorizations = s.authorizations + excluded.authorizations`,
  },
}

/** Returns the amount that counts toward limits: held and cleared amounts. Refunds do not reduce it. */
export const spentBy = ({ held, cleared }: Pick<CardTransactionRow, 'held' | 'cleared'>): number =>
  held + cleared

/** An authorization of 0 only verifies the card, so it does not count as an authorization. */
export const countOf = ({ authorized }: Pick<CardTransactionRow, 'authorized'>): number =>
  authorized > 0 ? 1 : 0

/**
 * Adds to the totals of the periods in which the transaction began; the amount can be negative. The caller has locked the
 * card.
 */
export function addSpending(
  db: Database,
  tenantId: string,
  { card_id, merchant, created }: CardTransactionRow,
  amount: number,
  authorizations: number,
): void {
  if (amount === 0 && authorizations === 0) return
  const { day, month }: Periods = periodsOf(created)
  const category = categoryOf(merchant.category_code)
  pipelined(db.query(ADD, [tenantId, card_id, category, amount, authorizations, day, month]))
}

const sweepOf = (granularity: 'day' | 'month') =>
  sweepOldest('card_spending', 'period', `r.granularity = '${granularity}' AND ${notBehind('r')}`)

const SWEEPS = { day: sweepOf('day'), month: sweepOf('month') }

/**
 * Deletes up to about `limit` totals of periods that began up to `lastDay`, except in spaces whose clock is behind. Returns
 * the number. An earlier transaction that changes later adds its totals again.
 */
export async function sweepSpending(
  db: Database,
  granularity: 'day' | 'month',
  lastDay: string,
  limit: number,
): Promise<number> {
  return (await db.query(SWEEPS[granularity], [lastDay, limit])).count
}

import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import { notBehind } from '../../tenants/clock/not-behind.ts'
import { categoryOf, OTHER_CATEGORIES } from '../merchant-categories/catalogue.ts'
import type { NetworkChecks } from './use-rules.ts'

type Schemas = components['schemas']

export type TransactionStep = Schemas['CardTransactionStep']

/** What a transaction keeps of a message, and of its own steps: the release by the tenant and the expiry of a hold. */
export interface TransactionMessage {
  readonly id: string
  readonly kind: 'authorization' | 'increment' | 'reversal' | 'release' | 'expiry' | 'clearing' | 'refund'
  /** When the network sent it, in milliseconds since the epoch. */
  readonly at: number
  /** Service time of arrival. */
  readonly created: number
  /** Absent if it releases all that is held. */
  readonly amount?: number
  /** The approved part of an authorization or an increment; absent if it was declined. */
  readonly approved?: number
  readonly declined?: Schemas['DeclineReasonCode']
  /** Whether the merchant accepts an approval of less than the amount. */
  readonly partial?: true
  /** When the hold of an authorization expires, by the settlement clock. */
  readonly expires?: number
  /** Whether a clearing is the last one; absent: if it covers all that is held. */
  readonly final?: boolean
  /** The message whose decision this advice of the network replaces. */
  readonly advises?: string
}

/** A transaction as stored. Amounts are cents, times are milliseconds since the epoch. */
export interface CardTransactionRow {
  readonly id: string
  /** The network's identifier of the card use; null if it is simulated. */
  readonly network_id: string | null
  readonly card_id: string
  readonly cardholder_id: string
  readonly type: Schemas['CardTransactionType']
  readonly status: Schemas['CardTransactionStatus']
  readonly merchant: Schemas['Merchant']
  readonly currency: Schemas['Currency']
  readonly requested: number
  readonly authorized: number
  /** authorized − reversed − the amount that clearings have consumed. */
  readonly held: number
  readonly cleared: number
  readonly refunded: number
  readonly reversed: number
  /** Contested by open and won disputes. */
  readonly disputed: number
  readonly entry_method: Schemas['EntryMethod'] | null
  /** Results of the network's checks; null if it gave none. */
  readonly checks: NetworkChecks | null
  readonly wallet: Schemas['Wallet'] | null
  readonly decline_code: Schemas['DeclineReasonCode'] | null
  readonly decision_id: string | null
  /** The ledger hold; null if nothing is held. */
  readonly hold_id: string | null
  readonly expires_at: number | null
  /** Time of the last clearing. */
  readonly cleared_at: number | null
  readonly rules: readonly Schemas['JudgedRule'][]
  /** Null if no draft was in shadow. */
  readonly shadow_decisions: readonly Schemas['ShadowDecision'][] | null
  readonly history: readonly TransactionStep[]
  /** Read them with `messagesOf`. Null if an earlier version of the service wrote the row. */
  readonly messages: readonly TransactionMessage[] | null
  readonly metadata: Readonly<Record<string, string>>
  readonly created: number
  readonly updated: number
}

const FIXED = [
  'id',
  'network_id',
  'card_id',
  'cardholder_id',
  'type',
  'merchant',
  'currency',
  'entry_method',
  'wallet',
  'checks',
  'decision_id',
  'created',
] as const
const MUTABLE = [
  ...[
    'status',
    'requested',
    'authorized',
    'held',
    'cleared',
    'refunded',
    'reversed',
    'disputed',
    'decline_code',
    'hold_id',
  ],
  ...['expires_at', 'cleared_at', 'rules', 'shadow_decisions', 'history', 'messages', 'metadata', 'updated'],
] as const

/** Columns of other types than text. */
const TYPES: Readonly<Record<string, 'bigint' | 'timestamptz' | 'json'>> = {
  ...{ requested: 'bigint', authorized: 'bigint', held: 'bigint', cleared: 'bigint', refunded: 'bigint' },
  ...{
    reversed: 'bigint',
    disputed: 'bigint',
    merchant: 'json',
    checks: 'json',
    rules: 'json',
    history: 'json',
  },
  ...{ shadow_decisions: 'json' },
  ...{ messages: 'json', metadata: 'json', expires_at: 'timestamptz', cleared_at: 'timestamptz' },
  ...{ created: 'timestamptz', updated: 'timestamptz' },
}

/** The rows of a statement for many. Values of JSON columns are texts. */
const givenRows = (columns: readonly string[]) =>
  `json_to_recordset($2) AS g (place integer, ${columns
    .map((column, index) => `v${index + 2} ${TYPES[column] === 'json' ? 'text' : (TYPES[column] ?? 'text')}`)
    .join(', ')})`

const given = (column: string, index: number) => `g.v${index + 2}${TYPES[column] === 'json' ? '::json' : ''}`

/** The columns of a `CardTransactionRow`, of the table as `t`. */
export const TRANSACTION_COLUMNS = [...FIXED, ...MUTABLE].map((column) => `t.${column}`).join(', ')

const optional = (ms: number | null) => (ms === null ? null : toTimestamp(ms))

/** Returns the values of the MUTABLE columns, in that order. */
const changing = (row: CardTransactionRow): unknown[] => [
  row.status,
  row.requested,
  row.authorized,
  row.held,
  row.cleared,
  row.refunded,
  row.reversed,
  row.disputed,
  row.decline_code,
  row.hold_id,
  optional(row.expires_at),
  optional(row.cleared_at),
  JSON.stringify(row.rules),
  row.shadow_decisions && JSON.stringify(row.shadow_decisions),
  JSON.stringify(row.history),
  row.messages && JSON.stringify(row.messages),
  JSON.stringify(row.metadata),
  toTimestamp(row.updated),
]

/** Columns of the parameters from `$2` on of the statements that insert a transaction; `$1` is the tenant. */
export const INSERTED = ['id', ...MUTABLE, ...FIXED.slice(1), 'category'] as const

/** Returns the parameter of a column in the statements that insert a transaction. */
export const parameterOf = (column: (typeof INSERTED)[number]) => `$${INSERTED.indexOf(column) + 2}`

export const INSERT_TEXT = `INSERT INTO card_transactions (tenant_id, ${INSERTED.join(', ')})
  VALUES ($1, ${INSERTED.map(parameterOf).join(', ')})`

const INSERT: Statement = {
  name: 'card_transactions_insert',
  text: INSERT_TEXT,
  many: {
    text: `INSERT INTO card_transactions (tenant_id, ${INSERTED.join(', ')})
           SELECT $1, ${INSERTED.map(given).join(', ')} FROM ${givenRows(INSERTED)}`,
  },
}

/** Returns the values of `$1` and the `INSERTED` columns. */
export const insertValues = (tenantId: string, row: CardTransactionRow): unknown[] => [
  tenantId,
  row.id,
  ...changing(row),
  row.network_id,
  row.card_id,
  row.cardholder_id,
  row.type,
  JSON.stringify(row.merchant),
  row.currency,
  row.entry_method,
  row.wallet,
  row.checks && JSON.stringify(row.checks),
  row.decision_id,
  toTimestamp(row.created),
  categoryOf(row.merchant.category_code),
]

export function insertCardTransaction(
  db: Database,
  tenantId: string,
  row: CardTransactionRow,
): Promise<unknown> {
  return db.query(INSERT, insertValues(tenantId, row))
}

const UPDATE: Statement = {
  name: 'card_transactions_update',
  text: `UPDATE card_transactions SET ${MUTABLE.map((column, index) => `${column} = $${index + 3}`).join(', ')}
         WHERE tenant_id = $1 AND id = $2`,
  many: {
    text: `UPDATE card_transactions t SET ${MUTABLE.map((column, index) => `${column} = ${given(column, index + 1)}`).join(', ')}
             FROM ${givenRows(['id', ...MUTABLE])} WHERE t.tenant_id = $1 AND t.id = g.v2`,
  },
}

/** Writes the mutable columns of a transaction that the caller has locked with `lockCardTransaction`. */
export function updateCardTransaction(
  db: Database,
  tenantId: string,
  row: CardTransactionRow,
): Promise<unknown> {
  return db.query(UPDATE, [tenantId, row.id, ...changing(row)])
}

const READ: Statement = {
  name: 'card_transactions_read',
  text: `SELECT ${TRANSACTION_COLUMNS} FROM card_transactions t WHERE t.tenant_id = $1 AND t.id = $2`,
}

export async function readCardTransaction(
  db: Database,
  tenantId: string,
  id: string,
): Promise<CardTransactionRow | undefined> {
  return (await db.query<CardTransactionRow>(READ, [tenantId, id])).rows[0]
}

// The card of a transaction never changes, so the transaction can be read for it without a lock.
const LOCK_CARD: Statement = {
  name: 'card_transactions_lock_card',
  text: `SELECT c.id FROM cards c WHERE c.tenant_id = $1
            AND c.id = (SELECT t.card_id FROM card_transactions t WHERE t.tenant_id = $1 AND t.id = $2) FOR UPDATE`,
}

const LOCK: Statement = { name: 'card_transactions_lock', text: `${READ.text} FOR UPDATE` }

/** Locks the card of a transaction, then the transaction, until the database transaction ends. Returns the transaction. */
export async function lockCardTransaction(
  db: Database,
  tenantId: string,
  id: string,
): Promise<CardTransactionRow | undefined> {
  const [, { rows }] = await Promise.all([
    db.query(LOCK_CARD, [tenantId, id]),
    db.query<CardTransactionRow>(LOCK, [tenantId, id]),
  ])
  return rows[0]
}

// Lock order: cards by identifier, then their transactions. The lateral joins make PostgreSQL use the primary keys.
const LOCK_CARDS_OF: Statement = {
  name: 'card_transactions_lock_cards',
  text: `SELECT c.id FROM (
           SELECT DISTINCT t.card_id FROM json_array_elements_text($2) AS wanted (id)
            CROSS JOIN LATERAL (SELECT card_id FROM card_transactions t WHERE t.tenant_id = $1 AND t.id = wanted.id OFFSET 0) AS t
            ORDER BY 1
         ) AS t CROSS JOIN LATERAL (SELECT id FROM cards c WHERE c.tenant_id = $1 AND c.id = t.card_id FOR UPDATE) AS c`,
}

const LOCK_ALL: Statement = {
  name: 'card_transactions_lock_all',
  text: `SELECT t.* FROM (SELECT id FROM json_array_elements_text($2) AS id ORDER BY id) AS wanted
          CROSS JOIN LATERAL (
            SELECT ${TRANSACTION_COLUMNS} FROM card_transactions t WHERE t.tenant_id = $1 AND t.id = wanted.id FOR UPDATE
          ) AS t`,
}

/** Locks several transactions in the order that `lockCardTransaction` uses. */
export async function lockCardTransactions(
  db: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<readonly CardTransactionRow[]> {
  const values = [tenantId, JSON.stringify(ids)]
  const [, { rows }] = await Promise.all([
    db.query(LOCK_CARDS_OF, values),
    db.query<CardTransactionRow>(LOCK_ALL, values),
  ])
  return rows
}

const OVERDUE: Statement = {
  name: 'card_transactions_overdue',
  text: `SELECT tenant_id, id FROM card_transactions t WHERE t.expires_at <= $1 AND ${notBehind('t')}
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = t.tenant_id)
          ORDER BY t.expires_at LIMIT $2`,
}

const OVERDUE_AHEAD: Statement = {
  name: 'card_transactions_overdue_ahead',
  text: `SELECT c.tenant_id, c.offset_ms FROM settlement_clocks c WHERE c.offset_ms > 0 AND EXISTS (
           SELECT FROM card_transactions t WHERE t.tenant_id = c.tenant_id
              AND t.expires_at <= $1::timestamptz + c.offset_ms * interval '1 millisecond')
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = c.tenant_id) LIMIT $2`,
}

/**
 * Returns tenants whose settlement clock is ahead and that have holds overdue by it.
 * @param now service time.
 */
export async function findHoldersAhead(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string; readonly offset_ms: number }[]> {
  return (await db.query<{ tenant_id: string; offset_ms: number }>(OVERDUE_AHEAD, [toTimestamp(now), limit]))
    .rows
}

const OVERDUE_OF: Statement = {
  name: 'card_transactions_overdue_of',
  text: `SELECT t.id FROM card_transactions t WHERE t.tenant_id = $1 AND t.expires_at <= $2 ORDER BY t.expires_at LIMIT $3`,
}

/**
 * Returns the overdue holds of one tenant, longest overdue first.
 * @param until time on the settlement clock.
 */
export async function findOverdueHoldsOf(
  db: Database,
  tenantId: string,
  until: number,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(OVERDUE_OF, [tenantId, toTimestamp(until), limit])
  return rows.map(({ id }) => id)
}

const NEXT_EXPIRY: Statement = {
  name: 'card_transactions_next_expiry',
  text: 'SELECT min(t.expires_at) AS at FROM card_transactions t WHERE t.tenant_id = $1 AND t.expires_at IS NOT NULL',
}

/** Returns when the tenant's next hold expires on the settlement clock; null if nothing is held. */
export async function readNextExpiry(db: Database, tenantId: string): Promise<number | null> {
  return (await db.query<{ at: number | null }>(NEXT_EXPIRY, [tenantId])).rows[0]!.at
}

/**
 * Returns overdue holds of all tenants.
 * @param now service time. Tenants whose clock is behind it are left out.
 */
export async function findOverdueHolds(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string; readonly id: string }[]> {
  return (await db.query<{ tenant_id: string; id: string }>(OVERDUE, [toTimestamp(now), limit])).rows
}

/**
 * An additional filter that uses the index by category. Each category covers one code, except the category for unknown
 * codes.
 */
interface OfCategories {
  readonly category?: readonly string[]
}

const listAlongIndexes = defineList<CardTransactionRow, 'listCardTransactions', OfCategories>({
  operation: 'listCardTransactions',
  table: 'card_transactions',
  alias: 't',
  columns: TRANSACTION_COLUMNS,
  filters: {
    card_id: 't.card_id',
    cardholder_id: 't.cardholder_id',
    status: 't.status',
    type: 't.type',
    category: 't.category',
    category_code: "(t.merchant->>'category_code')",
  },
  indexes: [
    [],
    ['status', 'type'],
    ['category', 'status', 'type'],
    ['cardholder_id', 'status', 'type'],
    ['card_id', 'status', 'type'],
  ],
})

/**
 * Lists transactions. A filter by merchant code uses the index by category, unless a filter by card or cardholder is more
 * selective.
 */
export const listCardTransactions: typeof listAlongIndexes = (db, tenantId, filter, page) => {
  const { category_code: codes, ...others } = filter
  if (!codes || filter.card_id || filter.cardholder_id) return listAlongIndexes(db, tenantId, filter, page)
  const category = [...new Set(codes.map(categoryOf))]
  const checked = category.includes(OTHER_CATEGORIES) && { category_code: codes }
  return listAlongIndexes(db, tenantId, { ...others, ...checked, category }, page)
}

import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'

type Schemas = components['schemas']

/** A card as stored, without its number. Times are milliseconds since the epoch. */
export interface CardRow {
  readonly id: string
  readonly cardholder_id: string
  readonly card_program_id: string | null
  readonly type: Schemas['CardType']
  readonly status: Schemas['CardStatus']
  readonly frozen: boolean
  readonly last4: string
  readonly exp_month: number
  readonly exp_year: number
  /** Null unless the card is canceled. */
  readonly cancellation_reason: Schemas['CardCancellationReason'] | null
  readonly replacement_for_id: string | null
  readonly replaced_by_id: string | null
  /** Null for virtual cards. */
  readonly shipping: Schemas['CardShipping'] | null
  readonly spending_controls: SpendingControls
  readonly metadata: Readonly<Record<string, string>>
  readonly created: number
  readonly updated: number
}

const COLUMNS = `id, cardholder_id, card_program_id, type, status, frozen, last4, exp_month, exp_year,
  cancellation_reason, replacement_for_id, replaced_by_id, shipping, spending_controls, metadata, created, updated`

const INSERT: Statement = {
  name: 'cards_insert',
  text: `INSERT INTO cards (tenant_id, ${COLUMNS})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
}

export function insertCard(db: Database, tenantId: string, row: CardRow): Promise<unknown> {
  return db.query(INSERT, [
    tenantId,
    row.id,
    row.cardholder_id,
    row.card_program_id,
    row.type,
    row.status,
    row.frozen,
    row.last4,
    row.exp_month,
    row.exp_year,
    row.cancellation_reason,
    row.replacement_for_id,
    row.replaced_by_id,
    row.shipping && JSON.stringify(row.shipping),
    JSON.stringify(row.spending_controls),
    JSON.stringify(row.metadata),
    toTimestamp(row.created),
    toTimestamp(row.updated),
  ])
}

const READ: Statement = {
  name: 'cards_read',
  text: `SELECT ${COLUMNS} FROM cards WHERE tenant_id = $1 AND id = $2`,
}

export async function readCard(db: Database, tenantId: string, id: string): Promise<CardRow | undefined> {
  return (await db.query<CardRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = {
  name: 'cards_lock',
  text: `${READ.text} FOR UPDATE`,
  many: {
    text: `SELECT g.place, c.* FROM (SELECT place, v2 FROM json_to_recordset($2) AS g (place integer, v2 text) ORDER BY v2) AS g
            CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM cards WHERE tenant_id = $1 AND id = g.v2 FOR UPDATE) AS c`,
  },
}

/** Returns a card and locks it until the transaction ends. */
export async function lockCard(db: Database, tenantId: string, id: string): Promise<CardRow | undefined> {
  return (await db.query<CardRow>(LOCK, [tenantId, id])).rows[0]
}

/** Locks cards in the order of their identifiers, so that concurrent transactions cannot deadlock. */
const locked = (ids: string, limit = '') => `SELECT c.* FROM (${ids} ORDER BY id ${limit}) AS wanted
          CROSS JOIN LATERAL (
            SELECT ${COLUMNS} FROM cards c WHERE c.tenant_id = $1 AND c.id = wanted.id FOR UPDATE
          ) AS c`

// `replacement_for_id` never changes, so the chain can be read before its cards are locked.
const LOCK_LINE: Statement = {
  name: 'cards_lock_line',
  text: `WITH RECURSIVE line AS (
           SELECT id, replacement_for_id FROM cards WHERE tenant_id = $1 AND id = $2
            UNION ALL
           SELECT c.id, c.replacement_for_id FROM line JOIN cards c ON c.tenant_id = $1 AND c.id = line.replacement_for_id
         )
         ${locked('SELECT id FROM line')}`,
}

/**
 * Locks a card and the cards that it replaces, directly or indirectly. The card itself comes last. Returns an empty list if
 * it does not exist.
 */
export async function lockLine(db: Database, tenantId: string, id: string): Promise<CardRow[]> {
  return (await db.query<CardRow>(LOCK_LINE, [tenantId, id])).rows.slice()
}

const LOCK_OF_CARDHOLDER: Statement = {
  name: 'cards_lock_of_cardholder',
  text: locked(
    `SELECT id FROM cards WHERE tenant_id = $1 AND cardholder_id = $2 AND status IN ('inactive', 'active')`,
  ),
}

/** Locks and returns the cards of a cardholder that are not canceled. */
export async function lockCardsOf(
  db: Database,
  tenantId: string,
  cardholderId: string,
): Promise<readonly CardRow[]> {
  const { rows } = await db.query<CardRow>(LOCK_OF_CARDHOLDER, [tenantId, cardholderId])
  return rows.filter(({ status }) => status !== 'canceled')
}

const LOCK_ALL: Statement = {
  name: 'cards_lock_all',
  text: locked('SELECT id FROM cards WHERE tenant_id = $1', 'LIMIT $2'),
}

const LOCK_OF_PROGRAM: Statement = {
  name: 'cards_lock_of_program',
  text: locked('SELECT id FROM cards WHERE tenant_id = $1 AND card_program_id = $3', 'LIMIT $2'),
}

/**
 * Locks and returns the first cards of a program, or those of all programs, canceled ones included.
 * @param programId null for all cards.
 */
export async function lockFirstCards(
  db: Database,
  tenantId: string,
  programId: string | null,
  limit: number,
): Promise<readonly CardRow[]> {
  const query =
    programId === null
      ? db.query<CardRow>(LOCK_ALL, [tenantId, limit])
      : db.query<CardRow>(LOCK_OF_PROGRAM, [tenantId, limit, programId])
  return (await query).rows
}

const UPDATE: Statement = {
  name: 'cards_update',
  text: `UPDATE cards SET status = $3, frozen = $4, cancellation_reason = $5, replaced_by_id = $6, shipping = $7,
                spending_controls = $8, metadata = $9, updated = $10
         WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of a card that the caller has locked with `lockCard`. */
export function updateCard(db: Database, tenantId: string, row: CardRow): Promise<unknown> {
  return db.query(UPDATE, [
    tenantId,
    row.id,
    row.status,
    row.frozen,
    row.cancellation_reason,
    row.replaced_by_id,
    row.shipping && JSON.stringify(row.shipping),
    JSON.stringify(row.spending_controls),
    JSON.stringify(row.metadata),
    toTimestamp(row.updated),
  ])
}

export const listCards = defineList<CardRow, 'listCards'>({
  operation: 'listCards',
  table: 'cards',
  alias: 'c',
  columns: COLUMNS,
  filters: { cardholder_id: 'c.cardholder_id', status: 'c.status', type: 'c.type' },
  indexes: [[], ['status', 'type'], ['cardholder_id', 'status', 'type']],
})

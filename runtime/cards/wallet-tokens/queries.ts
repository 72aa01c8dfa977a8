import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'

type Schemas = components['schemas']

/** A wallet token: a card on a device. Times are milliseconds since the epoch. */
export interface WalletTokenRow {
  readonly id: string
  readonly card_id: string
  readonly provisioning_payload_id: string | null
  readonly wallet: Schemas['Wallet']
  readonly status: Schemas['WalletTokenStatus']
  readonly created: number
  readonly updated: number
}

const COLUMNS = 'id, card_id, provisioning_payload_id, wallet, status, created, updated'

const INSERT: Statement = {
  name: 'wallet_tokens_insert',
  text: `INSERT INTO wallet_tokens (tenant_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
}

export function insertWalletToken(db: Database, tenantId: string, row: WalletTokenRow): Promise<unknown> {
  const { id, card_id, provisioning_payload_id, wallet, status, created, updated } = row
  const times = [toTimestamp(created), toTimestamp(updated)]
  return db.query(INSERT, [tenantId, id, card_id, provisioning_payload_id, wallet, status, ...times])
}

const READ: Statement = {
  name: 'wallet_tokens_read',
  text: `SELECT ${COLUMNS} FROM wallet_tokens WHERE tenant_id = $1 AND id = $2`,
}

export async function readWalletToken(
  db: Database,
  tenantId: string,
  id: string,
): Promise<WalletTokenRow | undefined> {
  return (await db.query<WalletTokenRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'wallet_tokens_lock', text: `${READ.text} FOR UPDATE` }

/** Returns a wallet token and locks it until the transaction ends. */
export async function lockWalletToken(
  db: Database,
  tenantId: string,
  id: string,
): Promise<WalletTokenRow | undefined> {
  return (await db.query<WalletTokenRow>(LOCK, [tenantId, id])).rows[0]
}

const LOCK_OF_CARD: Statement = {
  name: 'wallet_tokens_lock_of_card',
  text: `SELECT ${COLUMNS} FROM wallet_tokens WHERE tenant_id = $1 AND card_id = $2 AND status <> 'deleted'
          ORDER BY created, id FOR UPDATE`,
}

/** Locks and returns the tokens of a card that are not deleted, oldest first. */
export async function lockTokensOf(
  db: Database,
  tenantId: string,
  cardId: string,
): Promise<readonly WalletTokenRow[]> {
  return (await db.query<WalletTokenRow>(LOCK_OF_CARD, [tenantId, cardId])).rows
}

const UPDATE: Statement = {
  name: 'wallet_tokens_update',
  text: 'UPDATE wallet_tokens SET card_id = $3, status = $4, updated = $5 WHERE tenant_id = $1 AND id = $2',
}

/** Writes the mutable columns of a token that the caller has locked. */
export function updateWalletToken(db: Database, tenantId: string, row: WalletTokenRow): Promise<unknown> {
  return db.query(UPDATE, [tenantId, row.id, row.card_id, row.status, toTimestamp(row.updated)])
}

/** A token as the network knows it. */
export interface NetworkToken extends WalletTokenRow {
  /** Network time of the last report; null before the first. */
  readonly network_at: number | null
}

const LOCK_BY_REFERENCE: Statement = {
  name: 'wallet_tokens_lock_by_reference',
  text: `SELECT ${COLUMNS}, network_at FROM wallet_tokens WHERE tenant_id = $1 AND network_reference = $2 FOR UPDATE`,
}

/** Locks and returns the token with the network's reference. The caller has locked the card. */
export async function lockNetworkToken(
  db: Database,
  tenantId: string,
  reference: string,
): Promise<NetworkToken | undefined> {
  return (await db.query<NetworkToken>(LOCK_BY_REFERENCE, [tenantId, reference])).rows[0]
}

const NOTE: Statement = {
  name: 'wallet_tokens_note_network',
  text: 'UPDATE wallet_tokens SET network_reference = $3, network_at = $4 WHERE tenant_id = $1 AND id = $2',
}

/** Stores the network's reference of a token and the time of its report. */
export function noteReport(
  db: Database,
  tenantId: string,
  id: string,
  reference: string,
  at: number,
): Promise<unknown> {
  return db.query(NOTE, [tenantId, id, reference, toTimestamp(at)])
}

export const listWalletTokens = defineList<WalletTokenRow, 'listWalletTokens'>({
  operation: 'listWalletTokens',
  table: 'wallet_tokens',
  alias: 'w',
  columns: COLUMNS,
  filters: { card_id: 'w.card_id' },
  indexes: [[], ['card_id']],
})

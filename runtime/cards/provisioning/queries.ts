import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'

/**
 * A provisioning payload as stored, without the encrypted content. Times are milliseconds since the epoch, in service time.
 */
export interface PayloadRow {
  readonly id: string
  readonly card_id: string
  readonly wallet: components['schemas']['Wallet']
  /** Nonce of Apple's request in lower case; null for Google. */
  readonly nonce: string | null
  readonly last4: string
  readonly wallet_token_id: string | null
  readonly consumed_at: number | null
  readonly created: number
}

const COLUMNS = 'id, card_id, wallet, nonce, last4, wallet_token_id, consumed_at, created'

const INSERT: Statement = {
  name: 'provisioning_payloads_insert',
  text: `INSERT INTO provisioning_payloads (tenant_id, id, card_id, wallet, nonce, last4, awaiting, created)
         VALUES ($1, $2, $3, $4, $5, $6, true, $7) ON CONFLICT (tenant_id, nonce, card_id) DO NOTHING`,
}

/** Writes a new payload. Returns false if its nonce was already used for the card. */
export async function insertPayload(db: Database, tenantId: string, row: PayloadRow): Promise<boolean> {
  const { id, card_id, wallet, nonce, last4, created } = row
  return (
    (await db.query(INSERT, [tenantId, id, card_id, wallet, nonce, last4, toTimestamp(created)])).count > 0
  )
}

const READ: Statement = {
  name: 'provisioning_payloads_read',
  text: `SELECT ${COLUMNS} FROM provisioning_payloads WHERE tenant_id = $1 AND id = $2`,
}

export async function readPayload(
  db: Database,
  tenantId: string,
  id: string,
): Promise<PayloadRow | undefined> {
  return (await db.query<PayloadRow>(READ, [tenantId, id])).rows[0]
}

// `awaiting`: only a payload that is neither used nor abandoned, so that concurrent workers use each payload once.
const LOCK: Statement = {
  name: 'provisioning_payloads_lock',
  text: `${READ.text} AND awaiting FOR UPDATE`,
}

/** Locks and returns a payload that a wallet can still use. */
export async function lockAwaiting(
  db: Database,
  tenantId: string,
  id: string,
): Promise<PayloadRow | undefined> {
  return (await db.query<PayloadRow>(LOCK, [tenantId, id])).rows[0]
}

const SETTLE: Statement = {
  name: 'provisioning_payloads_settle',
  text: `UPDATE provisioning_payloads SET awaiting = false, wallet_token_id = $3, consumed_at = $4
         WHERE tenant_id = $1 AND id = $2`,
}

/** Marks a payload as used by a token, or as abandoned if `used` is absent. */
export function settlePayload(
  db: Database,
  tenantId: string,
  id: string,
  used?: { readonly tokenId: string; readonly at: number },
): Promise<unknown> {
  return db.query(SETTLE, [tenantId, id, used?.tokenId ?? null, used ? toTimestamp(used.at) : null])
}

const LOCK_OF_CARD: Statement = {
  name: 'provisioning_payloads_lock_of_card',
  text: `SELECT ${COLUMNS} FROM provisioning_payloads
         WHERE tenant_id = $1 AND card_id = $2 AND wallet = $3 AND awaiting ORDER BY created DESC LIMIT 1 FOR UPDATE`,
}

/** Locks and returns the newest payload of a card that a wallet can still use. The caller has locked the card. */
export async function lockAwaitingOf(
  db: Database,
  tenantId: string,
  cardId: string,
  wallet: PayloadRow['wallet'],
): Promise<PayloadRow | undefined> {
  return (await db.query<PayloadRow>(LOCK_OF_CARD, [tenantId, cardId, wallet])).rows[0]
}

const AWAITING: Statement = {
  name: 'provisioning_payloads_awaiting',
  text: `SELECT tenant_id, id, card_id FROM provisioning_payloads p
         WHERE awaiting AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = p.tenant_id)
         ORDER BY created LIMIT $1`,
}

export interface AwaitingPayload {
  readonly tenant_id: string
  readonly id: string
  readonly card_id: string
}

/** Returns payloads of all tenants that no wallet has used yet, oldest first. */
export async function findAwaiting(db: Database, limit: number): Promise<readonly AwaitingPayload[]> {
  return (await db.query<AwaitingPayload>(AWAITING, [limit])).rows
}

interface OfCard {
  readonly card_id: readonly [string]
}

export const listPayloads = defineList<PayloadRow, 'listProvisioningPayloads', OfCard>({
  operation: 'listProvisioningPayloads',
  table: 'provisioning_payloads',
  alias: 'p',
  columns: COLUMNS,
  filters: { card_id: 'p.card_id' },
  indexes: [['card_id']],
})

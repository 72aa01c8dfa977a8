import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import { notBehind } from '../../tenants/clock/not-behind.ts'

type Schemas = components['schemas']

/** A destination as stored. Times are milliseconds since the epoch. */
export interface DestinationRow {
  readonly id: string
  readonly type: Schemas['PayoutDestinationType']
  readonly status: Schemas['PayoutDestinationStatus']
  /** CAIP-10; null for bank accounts. */
  readonly address: string | null
  /** The visible part of a bank account; null for addresses. */
  readonly bank_account: Schemas['BankAccount'] | null
  readonly holder_name: string
  /** Activation time on the settlement clock; null once denied. */
  readonly active_at: number | null
  readonly metadata: Readonly<Record<string, string>>
  readonly is_default: boolean
  readonly created: number
  readonly updated: number
}

const STORED = ['id', 'type', 'status', 'address', 'bank_account', 'holder_name', 'active_at', 'metadata']

export const COLUMNS = [
  ...[...STORED, 'created', 'updated'].map((column) => `d.${column}`),
  '(f.destination_id IS NOT NULL) AS is_default',
].join(', ')

export const DEFAULT = 'LEFT JOIN payout_defaults f ON f.tenant_id = $1 AND f.destination_id = d.id'

const optional = (ms: number | null) => (ms === null ? null : toTimestamp(ms))

const INSERT: Statement = {
  name: 'payout_destinations_insert',
  text: `INSERT INTO payout_destinations (tenant_id, ${STORED.join(', ')}, account, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
}

/**
 * Writes a new destination.
 * @param account the sealed bank account; null for addresses.
 */
export function insertDestination(
  db: Database,
  tenantId: string,
  row: DestinationRow,
  account: Buffer | null,
): Promise<unknown> {
  return db.query(INSERT, [
    tenantId,
    row.id,
    row.type,
    row.status,
    row.address,
    row.bank_account && JSON.stringify(row.bank_account),
    row.holder_name,
    optional(row.active_at),
    JSON.stringify(row.metadata),
    account,
    toTimestamp(row.created),
    toTimestamp(row.updated),
  ])
}

const UPDATE: Statement = {
  name: 'payout_destinations_update',
  text: `UPDATE payout_destinations SET status = $3, active_at = $4, metadata = $5, updated = $6
         WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of a destination that the caller has locked with `lockDestination`. */
export function updateDestination(db: Database, tenantId: string, row: DestinationRow): Promise<unknown> {
  const { id, status, active_at, metadata, updated } = row
  const values = [status, optional(active_at), JSON.stringify(metadata), toTimestamp(updated)]
  return db.query(UPDATE, [tenantId, id, ...values])
}

const READ: Statement = {
  name: 'payout_destinations_read',
  text: `SELECT ${COLUMNS} FROM payout_destinations d ${DEFAULT} WHERE d.tenant_id = $1 AND d.id = $2`,
}

export async function readDestination(
  db: Database,
  tenantId: string,
  id: string,
): Promise<DestinationRow | undefined> {
  return (await db.query<DestinationRow>(READ, [tenantId, id])).rows[0]
}

const READ_ACCOUNT: Statement = {
  name: 'payout_destinations_account',
  text: 'SELECT account FROM payout_destinations WHERE tenant_id = $1 AND id = $2',
}

/** Returns the sealed bank account of a destination; null for addresses. */
export async function readAccount(
  db: Database,
  tenantId: string,
  id: string,
): Promise<Buffer | null | undefined> {
  return (await db.query<{ account: Buffer | null }>(READ_ACCOUNT, [tenantId, id])).rows[0]?.account
}

const LOCK: Statement = { name: 'payout_destinations_lock', text: `${READ.text} FOR NO KEY UPDATE OF d` }

/** Returns a destination and locks it until the transaction ends. */
export async function lockDestination(
  db: Database,
  tenantId: string,
  id: string,
): Promise<DestinationRow | undefined> {
  return (await db.query<DestinationRow>(LOCK, [tenantId, id])).rows[0]
}

const READ_DEFAULT: Statement = {
  name: 'payout_defaults_read',
  text: 'SELECT destination_id FROM payout_defaults WHERE tenant_id = $1',
}

/** Returns the tenant's default destination and locks it until the transaction ends. */
export async function lockDefault(db: Database, tenantId: string): Promise<DestinationRow | undefined> {
  const { rows } = await db.query<{ destination_id: string }>(READ_DEFAULT, [tenantId])
  return rows[0] && lockDestination(db, tenantId, rows[0].destination_id)
}

const CLAIM_DEFAULT: Statement = {
  name: 'payout_defaults_claim',
  text: `INSERT INTO payout_defaults (tenant_id, destination_id) VALUES ($1, $2)
         ON CONFLICT (tenant_id) DO NOTHING RETURNING destination_id`,
}

/** Makes a destination the default if the tenant has none. Returns whether it did. */
export async function claimDefault(db: Database, tenantId: string, id: string): Promise<boolean> {
  return (await db.query(CLAIM_DEFAULT, [tenantId, id])).rows.length > 0
}

const SET_DEFAULT: Statement = {
  name: 'payout_defaults_set',
  text: `INSERT INTO payout_defaults (tenant_id, destination_id) VALUES ($1, $2)
         ON CONFLICT (tenant_id) DO UPDATE SET destination_id = excluded.destination_id`,
}

/** Makes a destination the tenant's default. */
export function setDefault(db: Database, tenantId: string, id: string): Promise<unknown> {
  return db.query(SET_DEFAULT, [tenantId, id])
}

const REMOVE_DEFAULT: Statement = {
  name: 'payout_defaults_remove',
  text: 'DELETE FROM payout_defaults WHERE tenant_id = $1 AND destination_id = $2',
}

/** Removes the tenant's default if it is this destination. */
export function removeDefault(db: Database, tenantId: string, id: string): Promise<unknown> {
  return db.query(REMOVE_DEFAULT, [tenantId, id])
}

const HELD: Statement = {
  name: 'payout_destinations_held',
  text: `SELECT d.tenant_id FROM payout_destinations d WHERE d.status = 'inactive' AND d.active_at <= $1
            AND ${notBehind('d')}
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = d.tenant_id)
          ORDER BY d.active_at LIMIT $2`,
}

/**
 * Returns the tenants of destinations whose waiting period is over, once for each destination.
 * @param now service time. Tenants whose clock is behind it are left out.
 */
export async function findHolders(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string }[]> {
  return (await db.query<{ tenant_id: string }>(HELD, [toTimestamp(now), limit])).rows
}

const HELD_AHEAD: Statement = {
  name: 'payout_destinations_held_ahead',
  text: `SELECT c.tenant_id FROM settlement_clocks c WHERE c.offset_ms > 0 AND EXISTS (
           SELECT FROM payout_destinations d WHERE d.tenant_id = c.tenant_id AND d.status = 'inactive'
              AND d.active_at <= $1::timestamptz + c.offset_ms * interval '1 millisecond')
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = c.tenant_id) LIMIT $2`,
}

/**
 * Returns the tenants with such destinations whose settlement clock is ahead, once for each tenant.
 * @param now service time.
 */
export async function findHoldersAhead(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string }[]> {
  return (await db.query<{ tenant_id: string }>(HELD_AHEAD, [toTimestamp(now), limit])).rows
}

const LOCK_HELD: Statement = {
  name: 'payout_destinations_lock_held',
  text: `SELECT ${COLUMNS} FROM payout_destinations d ${DEFAULT}
          WHERE d.tenant_id = $1 AND d.status = 'inactive' AND d.active_at <= $2
          ORDER BY d.active_at, d.id LIMIT $3 FOR NO KEY UPDATE OF d`,
}

/**
 * Locks and returns a tenant's destinations whose waiting period is over.
 * @param time time on the tenant's settlement clock.
 */
export async function lockHeldOf(
  db: Database,
  tenantId: string,
  time: number,
  limit: number,
): Promise<readonly DestinationRow[]> {
  return (await db.query<DestinationRow>(LOCK_HELD, [tenantId, toTimestamp(time), limit])).rows
}

const NEXT_HELD: Statement = {
  name: 'payout_destinations_next_held',
  text: `SELECT min(d.active_at) AS at FROM payout_destinations d WHERE d.tenant_id = $1 AND d.status = 'inactive'`,
}

/** Returns when the tenant's next waiting period ends on the settlement clock; null if there is none. */
export async function readNextActivation(db: Database, tenantId: string): Promise<number | null> {
  return (await db.query<{ at: number | null }>(NEXT_HELD, [tenantId])).rows[0]!.at
}

export const listDestinations = defineList<DestinationRow, 'listPayoutDestinations'>({
  operation: 'listPayoutDestinations',
  table: 'payout_destinations',
  alias: 'd',
  columns: COLUMNS,
  join: DEFAULT,
  filters: { status: 'd.status', type: 'd.type' },
  indexes: [[], ['status', 'type']],
})

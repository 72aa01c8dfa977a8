import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import type { PostalAddress } from '../tokens/identity.ts'

type Schemas = components['schemas']

/** A cardholder as stored. Times are milliseconds since the epoch. */
export interface CardholderRow {
  readonly id: string
  readonly type: Schemas['CardholderType']
  readonly name: string
  readonly email: string | null
  readonly phone_number: string | null
  /** For example `1990-04-12`. */
  readonly date_of_birth: string | null
  readonly billing_address: PostalAddress | null
  readonly status: Schemas['CardholderStatus']
  readonly sanctions_status: 'screening' | 'clear' | 'potential_match' | 'confirmed_match'
  readonly last_screened_at: number | null
  readonly list_version: string | null
  /** Sequence number of the sanctions list that the cardholder was last screened against; 0 before the first screening. */
  readonly list_number: number
  readonly metadata: Readonly<Record<string, string>>
  readonly created: number
  readonly updated: number
}

export const CARDHOLDER_COLUMNS = `id, type, name, email, phone_number, date_of_birth, billing_address, status, sanctions_status,
  last_screened_at, list_version, list_number, metadata, created, updated`

const INSERT: Statement = {
  name: 'cardholders_insert',
  text: `INSERT INTO cardholders (tenant_id, id, type, created, name, email, phone_number, date_of_birth, billing_address,
                                  status, sanctions_status, last_screened_at, list_version, list_number, metadata, updated)
         VALUES ($1, $2, $15, $16, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
}

/** Returns the mutable columns in the order of the parameters of INSERT and UPDATE. */
function values(tenantId: string, row: CardholderRow): unknown[] {
  const { billing_address, last_screened_at } = row
  return [
    tenantId,
    row.id,
    row.name,
    row.email,
    row.phone_number,
    row.date_of_birth,
    billing_address === null ? null : JSON.stringify(billing_address),
    row.status,
    row.sanctions_status,
    last_screened_at === null ? null : toTimestamp(last_screened_at),
    row.list_version,
    row.list_number,
    JSON.stringify(row.metadata),
    toTimestamp(row.updated),
  ]
}

export function insertCardholder(db: Database, tenantId: string, row: CardholderRow): Promise<unknown> {
  return db.query(INSERT, [...values(tenantId, row), row.type, toTimestamp(row.created)])
}

const READ: Statement = {
  name: 'cardholders_read',
  text: `SELECT ${CARDHOLDER_COLUMNS} FROM cardholders WHERE tenant_id = $1 AND id = $2`,
}

export async function readCardholder(
  db: Database,
  tenantId: string,
  id: string,
): Promise<CardholderRow | undefined> {
  return (await db.query<CardholderRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'cardholders_lock', text: `${READ.text} FOR NO KEY UPDATE` }

/** Returns a cardholder and locks it until the transaction ends. */
export async function lockCardholder(
  db: Database,
  tenantId: string,
  id: string,
): Promise<CardholderRow | undefined> {
  return (await db.query<CardholderRow>(LOCK, [tenantId, id])).rows[0]
}

const SHARE: Statement = {
  name: 'cardholders_share',
  text: 'SELECT status, sanctions_status FROM cardholders WHERE tenant_id = $1 AND id = $2 FOR SHARE',
}

/** The facts that decide whether cards may be issued to a cardholder. */
export type CardholderStanding = Pick<CardholderRow, 'status' | 'sanctions_status'>

export async function shareStanding(
  db: Database,
  tenantId: string,
  id: string,
): Promise<CardholderStanding | undefined> {
  return (await db.query<CardholderStanding>(SHARE, [tenantId, id])).rows[0]
}

const UPDATE: Statement = {
  name: 'cardholders_update',
  text: `UPDATE cardholders SET name = $3, email = $4, phone_number = $5, date_of_birth = $6, billing_address = $7,
                status = $8, sanctions_status = $9, last_screened_at = $10, list_version = $11, list_number = $12,
                metadata = $13, updated = $14
         WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of a cardholder that the caller has locked with `lockCardholder`. */
export function updateCardholder(db: Database, tenantId: string, row: CardholderRow): Promise<unknown> {
  return db.query(UPDATE, values(tenantId, row))
}

export const listCardholders = defineList<CardholderRow, 'listCardholders'>({
  operation: 'listCardholders',
  table: 'cardholders',
  alias: 'c',
  columns: CARDHOLDER_COLUMNS,
  filters: { type: 'c.type', status: 'c.status' },
  indexes: [[], ['type', 'status']],
})

import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import { writeInstant } from '../../platform/instants.ts'

type Schemas = components['schemas']

/** A sanctions alert as stored. Times are milliseconds since the epoch. */
export interface AlertRow {
  readonly id: string
  readonly cardholder_id: string
  readonly kind: Schemas['SanctionsAlertKind']
  readonly status: Schemas['SanctionsAlertStatus']
  readonly list_name: string
  readonly entry_id: string
  readonly entry_hash: string
  readonly score: number
  readonly matched_fields: readonly string[]
  readonly note: string | null
  readonly resolved_at: number | null
  readonly created: number
  readonly updated: number
}

const COLUMNS = `id, cardholder_id, kind, status, list_name, entry_id, entry_hash, score, matched_fields, note, resolved_at,
  created, updated`

const INSERT: Statement = {
  name: 'sanctions_alerts_insert',
  text: `INSERT INTO sanctions_alerts (tenant_id, id, kind, status, entry_hash, score, matched_fields, note, resolved_at,
                                       updated, cardholder_id, list_name, entry_id, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
}

/** Returns the mutable columns in the order of the parameters of INSERT and UPDATE. */
function values(tenantId: string, row: AlertRow): unknown[] {
  return [
    tenantId,
    row.id,
    row.kind,
    row.status,
    row.entry_hash,
    row.score,
    JSON.stringify(row.matched_fields),
    row.note,
    row.resolved_at === null ? null : toTimestamp(row.resolved_at),
    toTimestamp(row.updated),
  ]
}

export function insertAlert(db: Database, tenantId: string, row: AlertRow): Promise<unknown> {
  const own = [row.cardholder_id, row.list_name, row.entry_id, toTimestamp(row.created)]
  return db.query(INSERT, [...values(tenantId, row), ...own])
}

const UPDATE: Statement = {
  name: 'sanctions_alerts_update',
  text: `UPDATE sanctions_alerts SET kind = $3, status = $4, entry_hash = $5, score = $6, matched_fields = $7, note = $8,
                resolved_at = $9, updated = $10
         WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of an alert. The caller has locked its cardholder. */
export function updateAlert(db: Database, tenantId: string, row: AlertRow): Promise<unknown> {
  return db.query(UPDATE, values(tenantId, row))
}

const READ: Statement = {
  name: 'sanctions_alerts_read',
  text: `SELECT ${COLUMNS} FROM sanctions_alerts WHERE tenant_id = $1 AND id = $2`,
}

export async function readAlert(db: Database, tenantId: string, id: string): Promise<AlertRow | undefined> {
  return (await db.query<AlertRow>(READ, [tenantId, id])).rows[0]
}

const OF_CARDHOLDER: Statement = {
  name: 'sanctions_alerts_of_cardholder',
  text: `SELECT ${COLUMNS} FROM sanctions_alerts WHERE tenant_id = $1 AND cardholder_id = $2`,
}

/**
 * Returns all alerts of a cardholder. Lock the cardholder first if the alerts must not change until the transaction ends.
 */
export async function readAlertsOf(db: Database, tenantId: string, id: string): Promise<readonly AlertRow[]> {
  return (await db.query<AlertRow>(OF_CARDHOLDER, [tenantId, id])).rows
}

export const listAlerts = defineList<AlertRow, 'listSanctionsAlerts'>({
  operation: 'listSanctionsAlerts',
  table: 'sanctions_alerts',
  alias: 'a',
  columns: COLUMNS,
  filters: { cardholder_id: 'a.cardholder_id', status: 'a.status' },
  indexes: [[], ['status'], ['cardholder_id', 'status']],
})

export function showAlert(row: AlertRow): Schemas['SanctionsAlert'] {
  return {
    id: row.id,
    object: 'sanctions_alert',
    cardholder_id: row.cardholder_id,
    kind: row.kind,
    list: `${row.list_name} ${row.entry_id}`,
    score: row.score,
    matched_fields: [...row.matched_fields],
    status: row.status,
    note: row.note,
    resolved_at: row.resolved_at === null ? null : writeInstant(row.resolved_at),
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

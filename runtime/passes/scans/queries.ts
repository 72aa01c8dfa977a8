import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import type { ScanResult } from './result.ts'

/** A stored scan. Coordinates are degrees; times are milliseconds since the epoch. */
export interface ScanRow {
  readonly id: string
  /** Null if the code does not belong to a pass. */
  readonly pass_id: string | null
  readonly mode: components['schemas']['ScanMode']
  readonly result: ScanResult
  readonly scanner: string | null
  readonly latitude: number | null
  readonly longitude: number | null
  readonly created: number
}

const COLUMNS = 's.id, s.pass_id, s.mode, s.result, s.scanner, s.latitude, s.longitude, s.created'

const INSERT: Statement = {
  name: 'scans_insert',
  text: `INSERT INTO scans (tenant_id, id, pass_id, mode, result, scanner, latitude, longitude, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
}

export function insertScan(db: Database, tenantId: string, row: ScanRow): Promise<unknown> {
  const { id, pass_id, mode, result, scanner, latitude, longitude, created } = row
  const values = [tenantId, id, pass_id, mode, result, scanner, latitude, longitude, toTimestamp(created)]
  return db.query(INSERT, values)
}

const READ: Statement = {
  name: 'scans_read',
  text: `SELECT ${COLUMNS} FROM scans s WHERE s.tenant_id = $1 AND s.id = $2`,
}

export async function readScan(db: Database, tenantId: string, id: string): Promise<ScanRow | undefined> {
  return (await db.query<ScanRow>(READ, [tenantId, id])).rows[0]
}

export const listScans = defineList<ScanRow, 'listScans'>({
  operation: 'listScans',
  table: 'scans',
  alias: 's',
  columns: COLUMNS,
  filters: { pass_id: 's.pass_id', result: 's.result' },
  indexes: [[], ['result'], ['pass_id', 'result']],
})

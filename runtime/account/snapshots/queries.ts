import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'

/** A stored snapshot. Instants are service time, in milliseconds since the epoch. */
export interface SandboxSnapshotRow {
  readonly id: string
  readonly sandbox_id: string
  readonly name: string
  readonly status: components['schemas']['SandboxSnapshotStatus']
  readonly created: number
  readonly updated: number
}

const COLUMNS = 's.id, s.sandbox_id, s.name, s.status, s.created, s.updated'

interface OfSandbox {
  readonly sandbox_id: readonly [string]
}

export const listSnapshots = defineList<SandboxSnapshotRow, 'listSandboxSnapshots', OfSandbox>({
  operation: 'listSandboxSnapshots',
  table: 'sandbox_snapshots',
  alias: 's',
  columns: COLUMNS,
  filters: { sandbox_id: 's.sandbox_id' },
  indexes: [['sandbox_id']],
})

const OF_SANDBOX = 's.tenant_id = $1 AND s.sandbox_id = $2'

const READ: Statement = {
  name: 'sandbox_snapshots_read',
  text: `SELECT ${COLUMNS} FROM sandbox_snapshots s WHERE ${OF_SANDBOX} AND s.id = $3`,
}

export async function readSnapshot(
  db: Database,
  tenantId: string,
  sandboxId: string,
  id: string,
): Promise<SandboxSnapshotRow | undefined> {
  return (await db.query<SandboxSnapshotRow>(READ, [tenantId, sandboxId, id])).rows[0]
}

const COUNT: Statement = {
  name: 'sandbox_snapshots_count',
  text: `SELECT count(*)::int AS count FROM sandbox_snapshots s WHERE ${OF_SANDBOX}`,
}

export async function countSnapshots(db: Database, tenantId: string, sandboxId: string): Promise<number> {
  return (await db.query<{ count: number }>(COUNT, [tenantId, sandboxId])).rows[0]!.count
}

const INSERT: Statement = {
  name: 'sandbox_snapshots_insert',
  text: `INSERT INTO sandbox_snapshots (tenant_id, id, sandbox_id, name, status, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

export function insertSnapshot(db: Database, tenantId: string, row: SandboxSnapshotRow): Promise<unknown> {
  const { id, sandbox_id, name, status, created, updated } = row
  return db.query(INSERT, [
    ...[tenantId, id, sandbox_id, name, status],
    ...[toTimestamp(created), toTimestamp(updated)],
  ])
}

const RESTORED: Statement = {
  name: 'sandbox_snapshots_restored',
  text: 'SELECT FROM sandboxes x WHERE x.tenant_id = $1 AND x.restoring = $2 LIMIT 1',
}

/** Returns whether a sandbox is being filled from the snapshot. */
export async function isRestored(db: Database, tenantId: string, id: string): Promise<boolean> {
  return (await db.query(RESTORED, [tenantId, id])).count > 0
}

const DELETE: Statement = {
  name: 'sandbox_snapshots_delete',
  text: `DELETE FROM sandbox_snapshots s WHERE ${OF_SANDBOX} AND s.id = $3 RETURNING s.space`,
}

const DELETE_PAGES: Statement = {
  text: 'DELETE FROM sandbox_snapshot_pages WHERE tenant_id = $1 AND snapshot_id = $2',
}

/** Deletes a snapshot with its pages. Returns whether it existed. */
export async function deleteSnapshot(
  db: Database,
  tenantId: string,
  sandboxId: string,
  id: string,
): Promise<boolean> {
  const { rows } = await db.query<{ space: string | null }>(DELETE, [tenantId, sandboxId, id])
  const space = rows[0]?.space
  if (typeof space === 'string') await db.query(DELETE_PAGES, [space, id])
  return rows.length > 0
}

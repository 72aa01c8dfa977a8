import type { NewSandbox } from '../../api/account.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'

/** A stored sandbox. */
export interface SandboxRow extends Omit<NewSandbox, 'from' | 'lag'> {
  /** The snapshot that is to be restored. */
  readonly restoring: string | null
}

const COLUMNS = 'x.id, x.name, x.restoring, x.created, x.updated'

export const listSandboxes = defineList<SandboxRow, 'listSandboxes'>({
  operation: 'listSandboxes',
  table: 'sandboxes',
  alias: 'x',
  columns: COLUMNS,
  filters: {},
  indexes: [[]],
})

const READ: Statement = {
  name: 'sandboxes_read',
  text: `SELECT ${COLUMNS} FROM sandboxes x WHERE x.tenant_id = $1 AND x.id = $2`,
}

export async function readSandbox(
  db: Database,
  tenantId: string,
  id: string,
): Promise<SandboxRow | undefined> {
  return (await db.query<SandboxRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'sandboxes_lock', text: `${READ.text} FOR NO KEY UPDATE` }

/** Reads a sandbox, and locks it until the transaction ends. */
export async function lockSandbox(
  db: Database,
  tenantId: string,
  id: string,
): Promise<SandboxRow | undefined> {
  return (await db.query<SandboxRow>(LOCK, [tenantId, id])).rows[0]
}

const RESTORE: Statement = {
  name: 'sandboxes_restore',
  text: 'UPDATE sandboxes x SET restoring = $3, updated = $4 WHERE x.tenant_id = $1 AND x.id = $2',
}

/** Leaves a snapshot to the worker that restores it. */
export function startRestoring(
  db: Database,
  tenantId: string,
  id: string,
  snapshotId: string,
  now: number,
): Promise<unknown> {
  return db.query(RESTORE, [tenantId, id, snapshotId, toTimestamp(now)])
}

const RENAME: Statement = {
  name: 'sandboxes_rename',
  text: `UPDATE sandboxes x SET name = $3, updated = $4 WHERE x.tenant_id = $1 AND x.id = $2 RETURNING ${COLUMNS}`,
}

export async function renameSandbox(
  db: Database,
  tenantId: string,
  { id, name, updated }: Omit<NewSandbox, 'created' | 'from' | 'lag'>,
): Promise<SandboxRow | undefined> {
  return (await db.query<SandboxRow>(RENAME, [tenantId, id, name, toTimestamp(updated)])).rows[0]
}

const KEYS: Statement = {
  text: 'SELECT id, space FROM control.keys WHERE tenant_id = $1 AND space IS NOT NULL',
}

const SPACES: Statement = { text: 'SELECT space, name FROM sandbox.sandboxes WHERE tenant_id = $1' }

/**
 * Returns the names of the sandboxes that keys belong to, by the ID of the key. Keys of the default sandbox are missing.
 *
 * @param control connection of the owner.
 */
export async function sandboxesOfKeys(control: Database, tenantId: string): Promise<Map<string, string>> {
  const [keys, sandboxes] = await Promise.all([
    control.query<{ id: string; space: string }>(KEYS, [tenantId]),
    control.query<{ space: string; name: string }>(SPACES, [tenantId]),
  ])
  const names = new Map(sandboxes.rows.map(({ space, name }) => [space, name]))
  return new Map(keys.rows.map(({ id, space }) => [id, names.get(space) ?? 'Deleted']))
}

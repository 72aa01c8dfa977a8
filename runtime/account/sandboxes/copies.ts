/** Fills new sandboxes from another one of the account or from live, by a restore in the worker of snapshots. */
import { invalidState, validationFailed } from '../../api/errors/errors.ts'
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { newId } from '../../platform/ids.ts'
import { lockSandbox } from './queries.ts'

const SNAPSHOT: Statement = {
  text: 'SELECT s.sandbox_id FROM sandbox_snapshots s WHERE s.tenant_id = $1 AND s.id = $2',
}

const ORDER: Statement = {
  text: `INSERT INTO sandbox_snapshots (tenant_id, id, sandbox_id, name, status, created, updated, source_id)
         VALUES ($1, $2, $3, $4, 'pending', $5, $5, $6)`,
}

/** Sources without an identifier, with the name of the snapshot that is taken of them. */
const NAMES: Readonly<Record<string, string>> = { default: 'Default sandbox', live: 'Configuration of live' }

/**
 * Returns the snapshot that a new sandbox is filled from. For a sandbox and for live, that is a new snapshot, which belongs
 * to the new sandbox, so the copy does not need the original afterwards.
 *
 * @param from ID of a snapshot or of a sandbox, `default` or `live`.
 * @throws ApiError `validation_failed` if the account has no such object, `invalid_state` if the sandbox is not ready.
 */
export async function planCopy(
  db: Database,
  tenantId: string,
  from: string,
  { id: sandbox_id, now }: { readonly id: string; readonly now: number },
): Promise<string> {
  if (from.startsWith('snap_')) {
    const { rows } = await db.query<{ sandbox_id: string }>(SNAPSHOT, [tenantId, from])
    // A request that deletes the snapshot locks its sandbox first, and then sees that it is needed.
    if (rows[0] && (await lockSandbox(db, tenantId, rows[0].sandbox_id))) {
      const again = await db.query(SNAPSHOT, [tenantId, from])
      if (again.rows.length > 0) return from
    }
    throw validationFailed([{ field: 'from', issue: 'is not the ID of a snapshot' }])
  }
  const named = NAMES[from]
  if (named !== undefined) return order(db, tenantId, { sandbox_id, name: named, from }, now)
  const source = await lockSandbox(db, tenantId, from)
  if (!source) throw validationFailed([{ field: 'from', issue: 'is not the ID of a sandbox' }])
  if (source.restoring !== null) {
    throw invalidState('The sandbox to copy is being restored. Copy it when it is ready.')
  }
  return order(db, tenantId, { sandbox_id, name: source.name, from }, now)
}

async function order(
  db: Database,
  tenantId: string,
  { sandbox_id, name, from }: { readonly sandbox_id: string; readonly name: string; readonly from: string },
  now: number,
): Promise<string> {
  const id = newId('snap', now)
  await db.query(ORDER, [tenantId, id, sandbox_id, name, toTimestamp(now), from])
  return id
}

const NEEDED: Statement = {
  text: `SELECT FROM sandboxes x JOIN sandbox_snapshots s ON s.tenant_id = x.tenant_id AND s.id = x.restoring
          WHERE x.tenant_id = $1 AND x.id <> $2 AND $2 IN (s.sandbox_id, s.source_id) LIMIT 1`,
}

/** @throws ApiError `invalid_state` while another sandbox is filled from this one. */
export async function refuseNeeded(db: Database, tenantId: string, id: string): Promise<void> {
  if ((await db.query(NEEDED, [tenantId, id])).count === 0) return
  throw invalidState('The sandbox is being copied. Delete it when the copy is ready.')
}

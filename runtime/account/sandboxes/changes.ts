/**
 * Creates and deletes named sandboxes. Both run in a transaction of the owner. The row of the tenant is locked first, as
 * in a wipe, so that changes of one account are serialized.
 */
import type { NewSandbox, NewSandboxKey } from '../../api/account.ts'
import { invalidState } from '../../api/errors/errors.ts'
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { bumpRevision } from '../../database/revision.ts'
import { sandboxOf, spaceOf } from '../../database/space.ts'
import { toTimestamp } from '../../database/types.ts'
import { startClock } from '../../money/settlement-lines/clock.ts'
import { type CreatedKey, insertKey, type NewKey } from '../../tenants/admin/keys.ts'
import { planCopy, refuseNeeded } from './copies.ts'
import { endDeliveries, LOCK_TENANT, lockEvents, retireSpace } from './spaces.ts'

/** Maximum number of named sandboxes of an account. */
export const MAX_SANDBOXES = 10

const COUNT: Statement = { text: 'SELECT count(*)::int AS count FROM sandboxes WHERE tenant_id = $1' }

const NEXT_NUMBER: Statement = {
  text: `UPDATE control.tenants SET sandboxes_made = sandboxes_made + 1 WHERE id = $1
         RETURNING sandboxes_made AS number`,
}

const INSERT: Statement = {
  text: `INSERT INTO sandboxes (tenant_id, id, name, space, restoring, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

const OPEN: Statement = {
  text: 'UPDATE audit_heads SET open_spaces = array_append(open_spaces, $2) WHERE tenant_id = $1',
}

// The owner and the networks of the new key are those of the creator of the sandbox: a key, an app or a member.
const CREATOR: Statement = {
  text: `SELECT member_id, allowed_ips FROM control.keys WHERE tenant_id = $1 AND id = $2
         UNION ALL SELECT member_id, '{}' FROM control.oauth_grants WHERE tenant_id = $1 AND id = $2
         UNION ALL SELECT id, '{}' FROM control.members WHERE tenant_id = $1 AND id = $2`,
}

/** Who creates a sandbox. */
export interface SandboxCreator {
  readonly pepper: string
  readonly tenantId: string
  /** ID of the key, the authorization or the member. */
  readonly actorId: string
  /** Space of the default sandbox. */
  readonly space: string
}

/**
 * Creates a sandbox and a secret key for it, which is shown only once. The sandbox is empty until a worker fills it from
 * the snapshot or the sandbox that it is to be a copy of.
 *
 * @throws ApiError `invalid_state` if the account has as many sandboxes as it may have, and those of `planCopy`.
 */
export async function createSandbox(
  db: Database,
  creator: SandboxCreator,
  { id, name, from, lag, created, updated }: NewSandbox,
): Promise<{ readonly id: string; readonly secret: string; readonly restoring: string | null }> {
  const { tenantId } = creator
  const numbered = await db.query<{ number: number }>(NEXT_NUMBER, [tenantId])
  const counted = await db.query<{ count: number }>(COUNT, [tenantId])
  if (counted.rows[0]!.count >= MAX_SANDBOXES) {
    throw invalidState(
      `The account has ${MAX_SANDBOXES} named sandboxes, which is the maximum. Delete one first.`,
    )
  }
  const space = spaceOf(tenantId, 0, numbered.rows[0]!.number)
  const times = [toTimestamp(created), toTimestamp(updated)]
  const restoring = from === undefined ? null : await planCopy(db, tenantId, from, { id, now: created })
  if (lag > 0) pipelined(startClock(db, space, lag))
  pipelined(db.query(INSERT, [tenantId, id, name, space, restoring, ...times]))
  lockEvents(db, creator.space)
  // Every account has a head, because creating its first key or member is an entry.
  if ((await db.query(OPEN, [tenantId, space])).count === 0) {
    throw new Error(`${tenantId} has no audit log in the sandbox`)
  }
  const key = await makeKey(db, creator, { space, scope: 'admin' }, created)
  return { ...key, restoring }
}

/** Creates a secret key that opens a space of a named sandbox. @param now service time. */
async function makeKey(
  db: Database,
  { pepper, tenantId, actorId }: SandboxCreator,
  place: { readonly space: string; readonly scope: NonNullable<NewKey['scope']> },
  now: number,
): Promise<CreatedKey> {
  const values = [tenantId, actorId]
  const creators = await db.query<{ member_id: string | null; allowed_ips: string[] }>(CREATOR, values)
  const { member_id, allowed_ips } = creators.rows[0]!
  const key = { tenantId, environment: 'sandbox', kind: 'secret', replacesId: null } as const
  return insertKey(db, pepper, { ...key, ...place, memberId: member_id, allowedIps: allowed_ips }, now)
}

const SPACE: Statement = { text: 'SELECT space FROM sandboxes WHERE tenant_id = $1 AND id = $2' }

/** Creates another secret key of a sandbox. @param now service time. @returns undefined if there is no such sandbox. */
export async function createSandboxKey(
  db: Database,
  creator: SandboxCreator,
  { id, scope }: NewSandboxKey,
  now: number,
): Promise<CreatedKey | undefined> {
  // A restore gives the keys that exist the new space, so it comes before or after this.
  await db.query(LOCK_TENANT, [creator.tenantId])
  const { rows } = await db.query<{ space: string }>(SPACE, [creator.tenantId, id])
  return rows[0] && makeKey(db, creator, { space: rows[0].space, scope }, now)
}

const DELETE: Statement = {
  text: 'DELETE FROM sandboxes WHERE tenant_id = $1 AND id = $2 RETURNING space',
}

const CLOSE: Statement = {
  text: 'UPDATE audit_heads SET open_spaces = array_remove(open_spaces, $2) WHERE tenant_id = $1',
}

const REVOKE_KEYS: Statement = {
  text: `UPDATE control.keys SET revoked_at = coalesce(revoked_at, $3) WHERE tenant_id = $1 AND space = $2`,
}

const DELETE_SNAPSHOTS: Statement = {
  text: 'DELETE FROM sandbox_snapshots WHERE tenant_id = $1 AND sandbox_id = $2 RETURNING id, space',
}

const DELETE_PAGES: Statement = {
  text: 'DELETE FROM sandbox_snapshot_pages WHERE tenant_id = $1 AND snapshot_id = $2',
}

const END_FAULTS: Statement = {
  text: 'DELETE FROM control.sandbox_faults WHERE tenant_id = $1 AND sandbox = $2',
}

/**
 * Deletes a sandbox and revokes its keys. Its rows stay until a worker deletes them, as after a wipe.
 *
 * @param now service time and machine time, in milliseconds since the epoch.
 * @returns whether there was such a sandbox.
 * @throws ApiError `invalid_state` while another sandbox is filled from it.
 */
export async function deleteSandbox(
  db: Database,
  { tenantId, space: common }: Pick<SandboxCreator, 'tenantId' | 'space'>,
  id: string,
  now: { readonly service: number; readonly machine: number },
): Promise<boolean> {
  pipelined(db.query(LOCK_TENANT, [tenantId]))
  await refuseNeeded(db, tenantId, id)
  const { rows } = await db.query<{ space: string }>(DELETE, [tenantId, id])
  const space = rows[0]?.space
  if (space === undefined) return false
  lockEvents(db, common)
  pipelined(db.query(CLOSE, [tenantId, space]))
  retireSpace(db, space, now.machine)
  endDeliveries(db, space)
  pipelined(db.query(REVOKE_KEYS, [tenantId, space, toTimestamp(now.service)]))
  const snapshots = await db.query<{ id: string; space: string | null }>(DELETE_SNAPSHOTS, [tenantId, id])
  for (const { id: snapshotId, space: copied } of snapshots.rows) {
    if (copied !== null) pipelined(db.query(DELETE_PAGES, [copied, snapshotId]))
  }
  pipelined(db.query(END_FAULTS, [tenantId, sandboxOf(space)]))
  pipelined(bumpRevision(db))
  return true
}

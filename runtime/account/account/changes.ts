import type { AccountChanges, RotatedKey } from '../../api/account.ts'
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import { readSpace } from '../../database/space.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { insertKey, type NewKey, RETIRE_KEY } from '../../tenants/admin/keys.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { deleteFaults, putFaults } from '../../tenants/faults/queries.ts'
import type { Caller } from '../../tenants/keys/caller.ts'
import { createSandbox, createSandboxKey, deleteSandbox } from '../sandboxes/changes.ts'
import { LOCK_TENANT } from '../sandboxes/spaces.ts'
import { wipeSpace } from './wipe-queries.ts'

/** Applies the settings that the role of the environment has. */
const ENTER: Statement = {
  text: `SELECT set_config('search_path', $1, true), set_config('statement_timeout', '30s', true)`,
}

const KEYS_IN_USE: Statement = {
  text: `SELECT id, scope, member_id, allowed_ips FROM control.keys
         WHERE tenant_id = $1 AND environment = $2 AND kind = 'secret' AND retired_at IS NULL AND revoked_at IS NULL
           AND space IS NOT DISTINCT FROM $3
         ORDER BY id FOR UPDATE`,
}

const CHANGE_BILLING: Statement = {
  text: `UPDATE control.tenants
         SET plan = coalesce($2, plan), billing_email = CASE WHEN $3 THEN $4 ELSE billing_email END
         WHERE id = $1 RETURNING plan`,
}

type KeyInUse = {
  readonly id: string
  readonly scope: NewKey['scope']
  readonly member_id: string | null
  readonly allowed_ips: readonly string[]
}

export function createAccountChanges(
  control: Pool,
  pepper: string,
  environment: Environment,
  clock: Pick<Clock, 'machine'>,
): AccountChanges {
  return {
    forTenant: (tenantId) => ({
      transaction: (work) =>
        control.forTenant(tenantId).transaction((db) => {
          pipelined(db.query(ENTER, [environment]))
          return work(db)
        }),
    }),
    notifyNodes: () => bumpRevision(control),
    bind: (db, { tenant: { id: tenantId }, space, key, now, moved, changed }) => ({
      rotateKeys: () => rotateKeys(db, pepper, { tenantId, space, environment }, now),
      async wipeSandbox() {
        const wiped = await wipeSpace(db, space, clock.machine())
        moved(wiped.space)
        return wiped.deleted
      },
      async putFaults(faults) {
        await putFaults(db, space, faults)
        pipelined(bumpRevision(db))
        changed()
      },
      async deleteFaults() {
        const isDeleted = await deleteFaults(db, space, now)
        pipelined(bumpRevision(db))
        changed()
        return isDeleted
      },
      createSandbox: (row) => createSandbox(db, { pepper, tenantId, actorId: key.id, space }, row),
      createSandboxKey: (wanted) =>
        createSandboxKey(db, { pepper, tenantId, actorId: key.id, space }, wanted, now),
      async deleteSandbox(id) {
        const times = { service: now, machine: clock.machine() }
        const isDeleted = await deleteSandbox(db, { tenantId, space }, id, times)
        changed()
        return isDeleted
      },
      async changeBilling({ plan, billingEmail }) {
        const values = [tenantId, plan ?? null, billingEmail !== undefined, billingEmail ?? null]
        const { rows } = await db.query<{ plan: Caller['tenant']['plan'] }>(CHANGE_BILLING, values)
        pipelined(bumpRevision(db))
        return rows[0]!.plan
      },
    }),
  }
}

interface KeyPlace {
  readonly tenantId: string
  readonly space: string
  readonly environment: Environment
}

/** Space of the keys of a sandbox: null for those of the default one and of live. */
const spaceOfKeys = (space: string): string | null => (readSpace(space).sandbox === undefined ? null : space)

async function rotateKeys(
  db: Database,
  pepper: string,
  { tenantId, space, environment }: KeyPlace,
  now: number,
): Promise<readonly RotatedKey[]> {
  // The second of two concurrent rotations finds the successors that the first one created.
  pipelined(db.query(LOCK_TENANT, [tenantId]))
  const { rows } = await db.query<KeyInUse>(KEYS_IN_USE, [tenantId, environment, spaceOfKeys(space)])
  const rotated = await Promise.all(
    rows.map(async (old) => {
      const successor: NewKey = {
        tenantId,
        environment,
        kind: 'secret',
        scope: old.scope,
        memberId: old.member_id,
        allowedIps: old.allowed_ips,
        replacesId: old.id,
        space: spaceOfKeys(space),
      }
      const [{ id, secret }] = await Promise.all([
        insertKey(db, pepper, successor, now),
        db.query(RETIRE_KEY, [tenantId, old.id, toTimestamp(now)]),
      ])
      return { id, replacesId: old.id, secret }
    }),
  )
  pipelined(bumpRevision(db))
  return rotated
}

/** The worker that takes snapshots of sandboxes and restores them. */
import type { Logger } from 'pino'
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { TurnOutcome } from '../../work/queue-worker.ts'
import { type DeclaredWorker, defineWorker } from '../../work/workers.ts'
import { moveSandbox } from '../sandboxes/spaces.ts'
import { freezeSpace, restoreSpace } from './copying.ts'

export interface SnapshotWorkerOptions {
  readonly database: { readonly control: Pool; readonly sandbox: Pool }
  readonly clock: Clock
  readonly log: Logger
}

interface Wanted {
  readonly tenant_id: string
  /** A snapshot to take, or a sandbox to restore. */
  readonly id: string
  readonly kind: 'take' | 'restore'
}

const FIND: Statement = {
  text: `SELECT s.tenant_id, s.id, 'take' AS kind FROM sandbox_snapshots s WHERE s.status = 'pending'
         UNION ALL
         SELECT x.tenant_id, x.id, 'restore' AS kind FROM sandboxes x
           JOIN sandbox_snapshots s ON s.tenant_id = x.tenant_id AND s.id = x.restoring AND s.status = 'done'
          WHERE x.restoring IS NOT NULL
         LIMIT $1`,
}

/** Applies the settings that the role of the sandbox has, but no limit of time. */
const ENTER: Statement = {
  text: `SELECT set_config('search_path', 'sandbox', true), set_config('statement_timeout', '0', true)`,
}

/**
 * Declares the worker. Each snapshot and each restore is one transaction, which holds its row: if the process dies,
 * nothing has happened, and any worker starts it again.
 */
export function snapshotWorker(options: SnapshotWorkerOptions): DeclaredWorker {
  const { database, clock } = options
  return defineWorker<Wanted>(
    { ...options, database: { ...database, live: database.sandbox } },
    {
      name: 'sandbox_snapshots',
      environments: ['sandbox'],
      find: async ({ limit }) => (await database.sandbox.query<Wanted>(FIND, [limit])).rows,
      itemOf: ({ tenant_id, id }) => ({ space: tenant_id, id }),
      perform: ([wanted]) =>
        database.control.transaction(async (db) => {
          pipelined(db.query(ENTER))
          const { kind, tenant_id, id } = wanted!
          return kind === 'take' ? take(db, tenant_id, id, clock) : restore(db, tenant_id, id, clock)
        }),
    },
  )
}

const HOLD_SNAPSHOT: Statement = {
  text: `SELECT coalesce(s.source_id, s.sandbox_id) AS sandbox_id FROM sandbox_snapshots s
          WHERE s.tenant_id = $1 AND s.id = $2 AND s.status = 'pending' FOR UPDATE SKIP LOCKED`,
}

const SPACE: Statement = { text: 'SELECT x.space FROM sandboxes x WHERE x.tenant_id = $1 AND x.id = $2' }

const TAKEN: Statement = {
  text: `UPDATE sandbox_snapshots s SET status = 'done', space = $3, updated = $4
          WHERE s.tenant_id = $1 AND s.id = $2`,
}

async function take(db: Database, tenantId: string, id: string, clock: Clock): Promise<TurnOutcome> {
  const held = await db.query<{ sandbox_id: string }>(HOLD_SNAPSHOT, [tenantId, id])
  const sandboxId = held.rows[0]?.sandbox_id
  if (sandboxId === undefined) return 'idle'
  const spaceNow = async () =>
    (await db.query<{ space: string }>(SPACE, [tenantId, sandboxId])).rows[0]?.space
  const space = await spaceNow()
  if (space === undefined) return 'idle'
  await freezeSpace(db, space, id)
  if ((await spaceNow()) !== space) throw new Error('the sandbox was wiped while its snapshot was taken')
  await db.query(TAKEN, [tenantId, id, space, toTimestamp(clock.service('sandbox'))])
  return 'done'
}

// `FOR NO KEY UPDATE` of the sandbox would block requests that rename it; a snapshot is held instead.
const HOLD_RESTORED: Statement = {
  text: `SELECT s.id, s.space, x.space AS old FROM sandboxes x
           JOIN sandbox_snapshots s ON s.tenant_id = x.tenant_id AND s.id = x.restoring
          WHERE x.tenant_id = $1 AND x.id = $2 AND s.status = 'done' FOR UPDATE OF s SKIP LOCKED`,
}

const RESTORED: Statement = {
  text: `UPDATE sandboxes x SET restoring = NULL, updated = $3 WHERE x.tenant_id = $1 AND x.id = $2`,
}

async function restore(db: Database, tenantId: string, id: string, clock: Clock): Promise<TurnOutcome> {
  const held = await db.query<{ id: string; space: string; old: string }>(HOLD_RESTORED, [tenantId, id])
  const found = held.rows[0]
  if (!found) return 'idle'
  const space = await restoreSpace(db, found, found.old)
  if (!(await moveSandbox(db, found.old, space, clock.machine()))) {
    throw new Error('the sandbox was wiped while it was restored')
  }
  pipelined(db.query(RESTORED, [tenantId, id, toTimestamp(clock.service('sandbox'))]))
  await bumpRevision(db)
  return 'done'
}

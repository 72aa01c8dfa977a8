/** The worker that takes snapshots of sandboxes and restores them. */
import type { Logger } from 'pino'
import type { EndpointSecrets } from '../../api/handler.ts'
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import { spaceOf } from '../../database/space.ts'
import { toTimestamp } from '../../database/types.ts'
import { collectEvents, emit, type TypedEvent } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { type DeclaredWorker, defineWorker } from '../../work/workers.ts'
import { showSandbox } from '../sandboxes/handlers.ts'
import { readSandbox } from '../sandboxes/queries.ts'
import { LOCK_TENANT, moveSandbox } from '../sandboxes/spaces.ts'
import { freezeSpace, restoreSpace } from './copying.ts'
import { showSnapshot } from './handlers.ts'
import { freezeConfiguration } from './live-configuration.ts'
import { readSnapshot } from './queries.ts'

export interface SnapshotWorkerOptions {
  readonly database: { readonly control: Pool; readonly sandbox: Pool }
  readonly clock: Clock
  readonly endpointSecrets: EndpointSecrets
  readonly wakeUpChannel: WakeUpChannel
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
  const { database, wakeUpChannel } = options
  return defineWorker<Wanted>(
    { ...options, database: { ...database, live: database.sandbox } },
    {
      name: 'sandbox_snapshots',
      environments: ['sandbox'],
      find: async ({ limit }) => (await database.sandbox.query<Wanted>(FIND, [limit])).rows,
      itemOf: ({ tenant_id, id }) => ({ space: tenant_id, id }),
      async perform([wanted]) {
        const { kind, tenant_id, id } = wanted!
        const pin = await readPin(database.control, tenant_id, 'sandbox')
        const work = { tenantId: tenant_id, id, pin, now: options.clock.service('sandbox') }
        const space = await database.control.transaction(async (db) => {
          pipelined(db.query(ENTER))
          return kind === 'take' ? take(db, work, options) : restore(db, work, options)
        })
        if (space === undefined) return 'idle'
        wakeUpChannel.publish('sandbox', space)
        return 'done'
      },
    },
  )
}

interface SnapshotWork {
  readonly tenantId: string
  readonly id: string
  readonly pin: string | null
  /** Service time. */
  readonly now: number
}

const HOLD_SNAPSHOT: Statement = {
  text: `SELECT s.sandbox_id, coalesce(s.source_id, s.sandbox_id) AS source_id FROM sandbox_snapshots s
          WHERE s.tenant_id = $1 AND s.id = $2 AND s.status = 'pending' FOR UPDATE SKIP LOCKED`,
}

const SPACE: Statement = { text: 'SELECT x.space FROM sandboxes x WHERE x.tenant_id = $1 AND x.id = $2' }

const WIPES: Statement = { text: 'SELECT t.sandbox_wipes AS wipes FROM control.tenants t WHERE t.id = $1' }

/** Returns the space that a sandbox has now. @param id `default` for the default sandbox. */
async function spaceNow(db: Database, tenantId: string, id: string): Promise<string | undefined> {
  if (id !== 'default') return (await db.query<{ space: string }>(SPACE, [tenantId, id])).rows[0]?.space
  return spaceOf(tenantId, (await db.query<{ wipes: number }>(WIPES, [tenantId])).rows[0]!.wipes)
}

const TAKEN: Statement = {
  text: `UPDATE sandbox_snapshots s SET status = 'done', space = $3, updated = $4
          WHERE s.tenant_id = $1 AND s.id = $2`,
}

/** Writes an event to the default sandbox, which the account has as long as it exists. Returns its space. */
async function tell<Type extends 'sandbox.restored' | 'sandbox_snapshot.completed'>(
  db: Database,
  { tenantId, pin, now }: SnapshotWork,
  event: TypedEvent<Type>,
): Promise<string | undefined> {
  const space = await spaceNow(db, tenantId, 'default')
  if (space === undefined) return undefined
  const events = collectEvents({ tenantId: space, pin, now })
  emit(events, event)
  await events.write(db)
  return space
}

async function take(
  db: Database,
  work: SnapshotWork,
  { endpointSecrets }: SnapshotWorkerOptions,
): Promise<string | undefined> {
  const { tenantId, id, now } = work
  const held = await db.query<{ sandbox_id: string; source_id: string }>(HOLD_SNAPSHOT, [tenantId, id])
  const wanted = held.rows[0]
  if (!wanted) return undefined
  const isLive = wanted.source_id === 'live'
  const placeId = isLive ? wanted.sandbox_id : wanted.source_id
  const space = await spaceNow(db, tenantId, placeId)
  if (space === undefined) return undefined
  if (isLive) await freezeConfiguration(db, tenantId, { space, id }, endpointSecrets)
  else await freezeSpace(db, space, id)
  if ((await spaceNow(db, tenantId, placeId)) !== space)
    throw new Error('the sandbox was wiped while its snapshot was taken')
  await db.query(TAKEN, [tenantId, id, space, toTimestamp(now)])
  // A wipe of the default sandbox waits, so that the event is written where the account will look.
  await db.query(LOCK_TENANT, [tenantId])
  const row = await readSnapshot(db, tenantId, wanted.sandbox_id, id)
  const sandbox_snapshot = showSnapshot(row!)
  return tell(db, work, { type: 'sandbox_snapshot.completed', data: { sandbox_snapshot } })
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

async function restore(
  db: Database,
  work: SnapshotWork,
  { clock }: SnapshotWorkerOptions,
): Promise<string | undefined> {
  const { tenantId, id, now } = work
  const held = await db.query<{ id: string; space: string; old: string }>(HOLD_RESTORED, [tenantId, id])
  const found = held.rows[0]
  if (!found) return undefined
  const space = await restoreSpace(db, found, found.old)
  // Lock order: the tenant, the end of the events, then the end of the audit log, in which the spaces are moved.
  await db.query(LOCK_TENANT, [tenantId])
  pipelined(db.query(RESTORED, [tenantId, id, toTimestamp(now)]))
  const sandbox = showSandbox((await readSandbox(db, tenantId, id))!)
  const told = await tell(db, work, { type: 'sandbox.restored', data: { sandbox } })
  if (!(await moveSandbox(db, found.old, space, clock.machine()))) {
    throw new Error('the sandbox was wiped while it was restored')
  }
  await bumpRevision(db)
  return told
}

import type { SandboxSnapshotsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import { refuseNamed, showSandbox } from '../sandboxes/handlers.ts'
import { lockSandbox, readSandbox, startRestoring } from '../sandboxes/queries.ts'
import {
  countSnapshots,
  deleteSnapshot,
  insertSnapshot,
  isRestored,
  listSnapshots,
  readSnapshot,
  type SandboxSnapshotRow,
} from './queries.ts'

/** Maximum number of snapshots of a sandbox. */
const MAX_SNAPSHOTS = 5

export const sandboxSnapshotsHandlers = {
  async createSandboxSnapshot({ caller, db, request: { now } }, { path, body }) {
    refuseNamed(caller)
    const { id: tenantId } = caller.tenant
    // The lock makes concurrent requests count one after the other.
    if (!(await lockSandbox(db, tenantId, path.sandbox_id))) throw notFound()
    if ((await countSnapshots(db, tenantId, path.sandbox_id)) >= MAX_SNAPSHOTS) {
      throw invalidState(
        `The sandbox has ${MAX_SNAPSHOTS} snapshots, which is the maximum. Delete one first.`,
      )
    }
    const times = { created: now, updated: now }
    const row = { id: newId('snap', now), ...path, name: body.name, status: 'pending', ...times } as const
    await insertSnapshot(db, tenantId, row)
    return { status: 201, body: showSnapshot(row) }
  },

  async listSandboxSnapshots({ caller, db, cursors }, { path, query }) {
    refuseNamed(caller)
    const { sandbox_id } = path
    return answerList(
      { caller: { space: caller.tenant.id }, db, cursors },
      query,
      async (reader, tenantId, filter, page) => {
        const [sandbox, records] = await Promise.all([
          readSandbox(reader, tenantId, sandbox_id),
          listSnapshots(reader, tenantId, { ...filter, sandbox_id: [sandbox_id] }, page),
        ])
        if (!sandbox) throw notFound()
        return records
      },
      showSnapshot,
    )
  },

  async getSandboxSnapshot({ caller, db }, { path }) {
    refuseNamed(caller)
    const row = await readSnapshot(db, caller.tenant.id, path.sandbox_id, path.snapshot_id)
    if (!row) throw notFound()
    return { status: 200, body: showSnapshot(row) }
  },

  async deleteSandboxSnapshot({ caller, db }, { path }) {
    refuseNamed(caller)
    await lockSandbox(db, caller.tenant.id, path.sandbox_id)
    if (await isRestored(db, caller.tenant.id, path.snapshot_id)) {
      throw invalidState('A sandbox is being filled from the snapshot. Delete it when the sandbox is ready.')
    }
    const isDeleted = await deleteSnapshot(db, caller.tenant.id, path.sandbox_id, path.snapshot_id)
    if (!isDeleted) throw notFound()
    return { status: 200, body: { id: path.snapshot_id, object: 'sandbox_snapshot', deleted: true } }
  },

  async restoreSandboxSnapshot({ caller, db, request: { now } }, { path }) {
    refuseNamed(caller)
    const { id: tenantId } = caller.tenant
    const sandbox = await lockSandbox(db, tenantId, path.sandbox_id)
    const snapshot = await readSnapshot(db, tenantId, path.sandbox_id, path.snapshot_id)
    if (!sandbox || !snapshot) throw notFound()
    if (snapshot.status !== 'done')
      throw invalidState('The snapshot is not taken yet. Wait until it is done.')
    if (sandbox.restoring !== null) throw invalidState('The sandbox is already being restored.')
    await startRestoring(db, tenantId, sandbox.id, snapshot.id, now)
    return { status: 200, body: showSandbox({ ...sandbox, restoring: snapshot.id, updated: now }) }
  },
} satisfies SandboxSnapshotsHandlers<Context>

export function showSnapshot(row: SandboxSnapshotRow): components['schemas']['SandboxSnapshot'] {
  const { id, sandbox_id, name, status, created, updated } = row
  const times = { created: writeInstant(created), updated: writeInstant(updated) }
  return { id, object: 'sandbox_snapshot', sandbox_id, name, status, ...times }
}

import type { SandboxesHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { readSpace } from '../../database/space.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { Caller } from '../../tenants/keys/caller.ts'
import { listSandboxes, readSandbox, renameSandbox, type SandboxRow } from './queries.ts'

export const sandboxesHandlers = {
  async createSandbox({ account, audit, caller, request: { now } }, { body }) {
    refuseNamed(caller)
    const row = { id: newId('sbx', now), name: body.name, created: now, updated: now }
    const key = await account.createSandbox({ ...row, from: body.from })
    audit.add({ action: 'key.created', targetId: key.id })
    return {
      status: 201,
      body: { ...showSandbox({ ...row, restoring: key.restoring }), secret_key: key.secret },
    }
  },

  async listSandboxes({ caller, db, cursors }, { query }) {
    refuseNamed(caller)
    // Sandboxes belong to the tenant, not to a space.
    return answerList({ caller: { space: caller.tenant.id }, db, cursors }, query, listSandboxes, showSandbox)
  },

  async getSandbox({ caller, db }, { path }) {
    refuseNamed(caller)
    const row = await readSandbox(db, caller.tenant.id, path.sandbox_id)
    if (!row) throw notFound()
    return { status: 200, body: showSandbox(row) }
  },

  async updateSandbox({ caller, db, request: { now } }, { path, body }) {
    refuseNamed(caller)
    const change = { id: path.sandbox_id, name: body.name, updated: now }
    const row = await renameSandbox(db, caller.tenant.id, change)
    if (!row) throw notFound()
    return { status: 200, body: showSandbox(row) }
  },

  async deleteSandbox({ account, caller }, { path }) {
    refuseNamed(caller)
    if (!(await account.deleteSandbox(path.sandbox_id))) throw notFound()
    return { status: 200, body: { id: path.sandbox_id, object: 'sandbox', deleted: true } }
  },
} satisfies SandboxesHandlers<Context>

/** A key of one sandbox must not reach the others. @throws ApiError `not_found`. */
export function refuseNamed({ space }: Caller): void {
  if (readSpace(space).sandbox === undefined) return
  throw notFound(
    'This key belongs to a named sandbox, which has no sandboxes. Use a key of the default sandbox.',
  )
}

export function showSandbox(row: SandboxRow): components['schemas']['Sandbox'] {
  const { id, name, restoring, created, updated } = row
  const status = restoring === null ? 'ready' : 'restoring'
  const times = { created: writeInstant(created), updated: writeInstant(updated) }
  return { id, object: 'sandbox', name, status, ...times }
}

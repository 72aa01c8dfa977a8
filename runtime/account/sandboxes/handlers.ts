import type { SandboxesHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound, validationFailed } from '../../api/errors/errors.ts'
import { type Context, prepared } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { readSpace } from '../../database/space.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { parseInstant, writeInstant } from '../../platform/instants.ts'
import type { Caller } from '../../tenants/keys/caller.ts'
import { listSandboxes, readSandbox, renameSandbox, type SandboxRow } from './queries.ts'

type Schemas = components['schemas']

/** How far in the past the clock of a sandbox can start, in milliseconds. */
const MAX_LAG_MS = 2 * 366 * 86_400_000

export const sandboxesHandlers = {
  createSandbox: prepared(
    async ({ caller, requireLive }, { body }: { body: Schemas['SandboxCreate'] }) => {
      refuseNamed(caller)
      if (body.from === 'live') await requireLive()
    },
    async ({ account, audit, events, request: { now } }, { body }) => {
      const row = { id: newId('sbx', now), name: body.name, created: now, updated: now }
      const key = await account.createSandbox({ ...row, from: body.from, lag: lagOf(body, now) })
      audit.add({ action: 'key.created', targetId: key.id })
      const sandbox = showSandbox({ ...row, restoring: key.restoring })
      emit(events, { type: 'sandbox.created', data: { sandbox } })
      return { status: 201, body: { ...sandbox, secret_key: key.secret } }
    },
  ),

  async createSandboxKey({ account, audit, caller, request: { now } }, { path: { sandbox_id }, body = {} }) {
    refuseNamed(caller)
    const { scope = 'admin' } = body
    const key = await account.createSandboxKey({ id: sandbox_id, scope })
    if (!key) throw notFound()
    audit.add({ action: 'key.created', targetId: key.id })
    const created = writeInstant(now)
    const shown = { id: key.id, object: 'sandbox_key', sandbox_id, scope, secret_key: key.secret } as const
    return { status: 201, body: { ...shown, created } }
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

  async deleteSandbox({ account, caller, db, events }, { path }) {
    refuseNamed(caller)
    const row = await readSandbox(db, caller.tenant.id, path.sandbox_id)
    if (!row || !(await account.deleteSandbox(row.id))) throw notFound()
    emit(events, { type: 'sandbox.deleted', data: { sandbox: showSandbox(row) } })
    return { status: 200, body: { id: path.sandbox_id, object: 'sandbox', deleted: true } }
  },
} satisfies SandboxesHandlers<Context>

/** Returns how far the clock of a new sandbox starts in the past, in milliseconds. @throws ApiError `validation_failed`. */
function lagOf({ starts_at, from }: Schemas['SandboxCreate'], now: number): number {
  if (starts_at === undefined) return 0
  const fault = (issue: string) => validationFailed([{ field: 'starts_at', issue }])
  if (from !== undefined && from !== 'live') {
    throw fault('is not possible with `from`, because a copy keeps the times and the clock of the original')
  }
  const lag = now - Math.trunc(parseInstant(starts_at) ?? Number.NaN)
  if (!(lag >= 0 && lag <= MAX_LAG_MS)) throw fault('must be a time in the past, at most 2 years ago')
  return lag
}

/** A key of one sandbox must not reach the others. @throws ApiError `not_found`. */
export function refuseNamed({ space }: Caller): void {
  if (readSpace(space).sandbox === undefined) return
  throw notFound(
    'This key belongs to a named sandbox, which has no sandboxes. Use a key of the default sandbox.',
  )
}

export function showSandbox(row: SandboxRow): Schemas['Sandbox'] {
  const { id, name, restoring, created, updated } = row
  const status = restoring === null ? 'ready' : 'restoring'
  const times = { created: writeInstant(created), updated: writeInstant(updated) }
  return { id, object: 'sandbox', name, status, ...times }
}

import type { WebhookRecoveriesHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { parseInstant, writeInstant } from '../../platform/instants.ts'
import { lockEndpoint, readEndpoint } from '../webhook-endpoints/queries.ts'
import {
  beginRecovery,
  findOpenRecovery,
  listRecoveries,
  lockRecovery,
  type RecoveryRow,
  readRecovery,
  updateRecovery,
} from './queries.ts'

type Schemas = components['schemas']

/** Events per second, if the caller names no rate. */
const RATE = 25

export const webhookRecoveriesHandlers = {
  async recoverWebhookEndpoint({ caller, db, request: { now } }, { path, body }) {
    // The lock keeps a second request from passing the check for an open recovery.
    const endpoint = await lockEndpoint(db, caller.space, path.whe_id)
    if (!endpoint) throw notFound()
    const period = readPeriod(body, now)
    if (endpoint.status !== 'enabled') throw invalidState('The endpoint is disabled. Enable it first.')
    const open = await findOpenRecovery(db, caller.space, path.whe_id)
    if (open !== undefined) {
      throw invalidState(
        `The recovery ${open} of this endpoint has not ended. Wait for its end, or cancel it first.`,
      )
    }
    const asked = {
      endpoint_id: path.whe_id,
      ...period,
      types: body.types ? [...new Set(body.types)] : null,
      scope: body.scope ?? 'failed',
      rate: body.rate ?? RATE,
    }
    const row = await beginRecovery(db, caller.space, asked, now)
    return { status: 201, body: showRecovery(row) }
  },

  async listWebhookRecoveries(context, { path, query }) {
    const { whe_id } = path
    return answerList(
      context,
      query,
      async (db, space, filter, page) => {
        const [endpoint, records] = await Promise.all([
          readEndpoint(db, space, whe_id),
          listRecoveries(db, space, { ...filter, endpoint_id: [whe_id] }, page),
        ])
        if (!endpoint) throw notFound()
        return records
      },
      showRecovery,
    )
  },

  async getWebhookRecovery({ caller, db }, { path }) {
    const [endpoint, row] = await Promise.all([
      readEndpoint(db, caller.space, path.whe_id),
      readRecovery(db, caller.space, path.whe_id, path.whr_id),
    ])
    if (!endpoint || !row) throw notFound()
    return { status: 200, body: showRecovery(row) }
  },

  async cancelWebhookRecovery({ caller, db, request: { now } }, { path }) {
    const [endpoint, row] = await Promise.all([
      readEndpoint(db, caller.space, path.whe_id),
      lockRecovery(db, caller.space, path.whe_id, path.whr_id),
    ])
    if (!endpoint || !row) throw notFound()
    if (row.status !== 'counting' && row.status !== 'running') {
      throw invalidState(`The recovery has ended: its status is ${row.status}.`)
    }
    const canceled: RecoveryRow = { ...row, status: 'canceled', updated: now }
    await updateRecovery(db, caller.space, canceled)
    return { status: 200, body: showRecovery(canceled) }
  },
} satisfies WebhookRecoveriesHandlers<Context>

/** Reads the period. Throws `validation_failed` if it begins in the future or is empty. @param now service time. */
function readPeriod(
  { since, until }: Schemas['WebhookRecoveryCreate'],
  now: number,
): Pick<RecoveryRow, 'since' | 'until'> {
  // The validator has accepted both as instants.
  const [first, last] = [parseInstant(since)!, until === undefined ? now : parseInstant(until)!]
  if (first > now) throw validationFailed([{ field: 'since', issue: 'must be in the past' }])
  if (last < first) throw validationFailed([{ field: 'until', issue: 'must not be before since' }])
  return { since: first, until: Math.min(last, now) }
}

/** Returns a recovery in canonical form. */
export function showRecovery(row: RecoveryRow): Schemas['WebhookRecovery'] {
  return {
    id: row.id,
    object: 'webhook_recovery',
    webhook_endpoint_id: row.endpoint_id,
    since: writeInstant(row.since),
    until: writeInstant(row.until),
    types: row.types as Schemas['WebhookRecovery']['types'],
    scope: row.scope,
    rate: row.rate,
    status: row.status,
    total: row.total,
    sent: row.sent,
    failed: row.failed,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

import type { DeliveryAttemptsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { writeInstant } from '../../platform/instants.ts'
import { readEvent } from '../emit/queries.ts'
import { readEndpoint } from '../webhook-endpoints/queries.ts'
import {
  type AttemptRow,
  listAttempts,
  lockAttempt,
  lockWaiting,
  readAttempt,
  retryAttempt,
} from './queries.ts'

export const deliveryAttemptsHandlers = {
  async listDeliveryAttempts(context, { path, query }) {
    const { whe_id } = path
    return answerList(
      context,
      query,
      async (db, space, filter, page) => {
        const [endpoint, records] = await Promise.all([
          readEndpoint(db, space, whe_id),
          listAttempts(db, space, { ...statusesOf(filter.outcome), ...filter, endpoint_id: [whe_id] }, page),
        ])
        if (!endpoint) throw notFound()
        return records
      },
      showAttempt,
    )
  },

  async getDeliveryAttempt({ caller, db }, { path }) {
    const [endpoint, row] = await Promise.all([
      readEndpoint(db, caller.space, path.whe_id),
      readAttempt(db, caller.space, path.whe_id, path.wdla_id),
    ])
    if (!endpoint || !row) throw notFound()
    return { status: 200, body: showAttempt(row) }
  },

  async retryDeliveryAttempt({ caller, request, db, events }, { path }) {
    const [endpoint, isWaiting, row] = await Promise.all([
      readEndpoint(db, caller.space, path.whe_id),
      lockWaiting(db, caller.space, path.wdla_id),
      lockAttempt(db, caller.space, path.whe_id, path.wdla_id),
    ])
    if (!endpoint || !row) throw notFound()
    // A pending attempt that is not waiting is already due or being sent, so there is nothing to do.
    if (row.status === 'pending' && !isWaiting) return { status: 202, body: showAttempt(row) }
    if (!(await readEvent(db, caller.space, row.event_id))) {
      throw invalidState('The event is no longer stored, so it cannot be sent again.')
    }
    const reset = await retryAttempt(db, caller.space, row.id, request.now)
    events.deliverSoon()
    return { status: 202, body: showAttempt(reset) }
  },
} satisfies DeliveryAttemptsHandlers<Context>

type Status = components['schemas']['WebhookDeliveryAttemptStatus']

/** Returns the statuses that attempts with one of the outcomes have: the index leads to them. */
function statusesOf(outcomes: readonly components['schemas']['WebhookDeliveryOutcome'][] = []): {
  readonly status?: Status[]
} {
  if (outcomes.length === 0) return {}
  return {
    status: [
      ...(outcomes.includes('delivered') ? (['succeeded'] as const) : []),
      ...(outcomes.includes('given_up') ? (['failed', 'canceled'] as const) : []),
    ],
  }
}

function showAttempt(row: AttemptRow): components['schemas']['WebhookDeliveryAttempt'] {
  return {
    id: row.id,
    object: 'webhook_delivery_attempt',
    webhook_endpoint_id: row.endpoint_id,
    event_id: row.event_id,
    attempt: row.attempt,
    status: row.status,
    trigger: row.trigger,
    response_status: row.response_status,
    response_body: row.response_body,
    error: row.error,
    duration_ms: row.duration_ms,
    scheduled_at: writeInstant(row.scheduled_at),
    attempted_at: row.attempted_at === null ? null : writeInstant(row.attempted_at),
    next_attempt_at: row.next_attempt_at === null ? null : writeInstant(row.next_attempt_at),
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

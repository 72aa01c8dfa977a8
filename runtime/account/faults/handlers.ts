import type { TestFaultsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { Faults } from '../../tenants/faults/faults.ts'

const USUAL_DURATION_S = 3600

export const testFaultsHandlers = {
  async getFaults({ faults }) {
    if (!faults) throw notFound()
    return { status: 200, body: showFaults(faults) }
  },

  async putFaults({ account, request: { id, now } }, { body }) {
    const { expires_in_seconds = USUAL_DURATION_S, ...given } = body
    const faults: Faults = {
      latency_ms: 0,
      rate_limited_percent: 0,
      error_percent: 0,
      declined_percent: 0,
      decline_reason: 'suspected_fraud',
      late_webhooks_percent: 0,
      webhook_delay_ms: 2000,
      duplicate_webhooks_percent: 0,
      attempts: 1,
      seed: 0,
      ...given,
      request_id: id,
      created: now,
      expires_at: now + expires_in_seconds * 1000,
    }
    await account.putFaults(faults)
    return { status: 200, body: showFaults(faults) }
  },

  async deleteFaults({ account }) {
    if (!(await account.deleteFaults())) throw notFound()
    return { status: 200, body: { object: 'faults', deleted: true } }
  },
} satisfies TestFaultsHandlers<Context>

function showFaults({
  request_id: _,
  created,
  expires_at,
  ...setting
}: Faults): components['schemas']['Faults'] {
  return {
    object: 'faults',
    ...setting,
    expires_at: writeInstant(expires_at),
    created: writeInstant(created),
  }
}

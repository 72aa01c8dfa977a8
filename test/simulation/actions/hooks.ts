/** What a merchant does with its webhook endpoints. */
import { mustEqual } from '../checks/evidence.ts'
import type { Merchant } from '../merchant.ts'
import { type Actions, type Drawn, mustRefuse, one, walk } from './action.ts'

/** Sends one attempt again by hand. */
async function retryByHand(merchant: Merchant, { pick }: Drawn): Promise<void> {
  const place = `/v1/webhook-endpoints/${merchant.known.flaky}/delivery-attempts`
  const attempts = await walk(merchant.live, `${place}?status=failed`)
  for (const { status, webhook_endpoint_id } of attempts)
    mustEqual(
      [status, webhook_endpoint_id],
      ['failed', merchant.known.flaky],
      'an attempt in a list of failures',
    )
  const attempt = one(attempts, pick)
  if (!attempt) return
  const { status, body } = await merchant.live.post(`${place}/${attempt.id}/retry`, {})
  mustEqual([status, body.id], [202, attempt.id], 'the answer to a retry by hand')
}

/** How far back a merchant recovers events. */
const RECOVERED_MS = 6 * 3_600_000

/** Enables the endpoint that fails always, if it is disabled, and recovers what it has missed. */
async function recover(merchant: Merchant): Promise<void> {
  const { live, known } = merchant
  const place = `/v1/webhook-endpoints/${known.broken}`
  const { body: endpoint } = await live.send('GET', place)
  const from = new Date(Date.now() - RECOVERED_MS).toISOString()
  if (endpoint.status === 'disabled') {
    const refused = await live.post(`${place}/recover`, { since: from })
    mustRefuse(refused, [409, 'invalid_state'], 'the recovery of a disabled endpoint')
    const { status, body } = await live.send('PATCH', place, { status: 'enabled' })
    mustEqual(
      [status, body.status, body.disabled_reason],
      [200, 'enabled', null],
      'an endpoint that was enabled',
    )
  }
  const { status, body } = await live.post(`${place}/recover`, { since: from, scope: 'all', rate: 10 })
  if (status !== 409) mustEqual([status, body.scope, body.rate], [201, 'all', 10], 'a new recovery')
}

/** Sends a test event to one endpoint. */
async function sendTest(merchant: Merchant): Promise<void> {
  const { status, body } = await merchant.live.post(`/v1/webhook-endpoints/${merchant.known.flaky}/test`, {})
  mustEqual([status, body.type], [201, 'webhook_endpoint.test'], 'a test of an endpoint')
}

export const HOOK_ACTIONS: Actions = {
  retry: { times: 1, act: retryByHand },
  recover: { times: 1, act: recover },
  test_endpoint: { times: 1, act: sendTest },
}

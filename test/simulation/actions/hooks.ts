/** What a merchant does with its webhook endpoints. */
import { mustEqual } from '../checks/evidence.ts'
import type { Merchant } from '../merchant.ts'
import { walk } from './cards.ts'

const one = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)]

/** Sends one attempt again by hand. */
export async function retryByHand(merchant: Merchant, pick: number): Promise<void> {
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

/** Enables the endpoint that fails always, if it is disabled, and recovers what it has missed. */
export async function recover(merchant: Merchant, since: number): Promise<void> {
  const { live, known } = merchant
  const place = `/v1/webhook-endpoints/${known.broken}`
  const { body: endpoint } = await live.send('GET', place)
  const from = new Date(since).toISOString()
  if (endpoint.status === 'disabled') {
    const refused = await live.post(`${place}/recover`, { since: from })
    mustEqual(
      [refused.status, refused.body.error?.code],
      [409, 'invalid_state'],
      'the recovery of a disabled endpoint',
    )
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
export async function sendTest(merchant: Merchant): Promise<void> {
  const { status, body } = await merchant.live.post(`/v1/webhook-endpoints/${merchant.known.flaky}/test`, {})
  mustEqual([status, body.type], [201, 'webhook_endpoint.test'], 'a test of an endpoint')
}

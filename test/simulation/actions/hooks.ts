/** What a merchant does with the delivery attempts of its webhook endpoints. */
import { fail, mustEqual } from '../checks/must.ts'
import type { EndpointKind } from '../endpoints.ts'
import type { Merchant } from '../merchant.ts'
import type { Item } from '../reads.ts'
import { type Actions, type Drawn, must, mustRefuse, one, walk } from './action.ts'

const placeOf = ({ endpoints }: Merchant, kind: EndpointKind) =>
  `/v1/webhook-endpoints/${endpoints.get(`live.${kind}`)}`

/** Whether a recovery sends events at the moment, so that nobody can predict what it sends if the merchant does, too. */
async function isRecovered(merchant: Merchant): Promise<boolean> {
  if (!merchant.isExact) return false
  const recoveries = await walk(merchant.live, `${placeOf(merchant, 'mixed')}/recoveries`)
  return recoveries.some(isOpen)
}

/** A recovery can end while the merchant reads. */
const ENDED_MS = 5000

const isOpen = ({ status }: Item) => status === 'running' || status === 'counting'

/** Sends one attempt again by hand. */
async function retryByHand(merchant: Merchant, { amount, pick }: Drawn): Promise<void> {
  const { live, endpoints, isExact } = merchant
  const kind = amount % 50 === 0 || (await isRecovered(merchant)) ? 'flaky' : 'mixed'
  const place = `${placeOf(merchant, kind)}/delivery-attempts`
  const attempts = await walk(live, `${place}?status=failed`)
  for (const { status, webhook_endpoint_id } of attempts)
    mustEqual(
      [status, webhook_endpoint_id],
      ['failed', endpoints.get(`live.${kind}`)],
      'an attempt in a list of failures',
    )
  const attempt = one(attempts, pick)
  if (!attempt) return
  const elsewhere = `${placeOf(merchant, 'plain')}/delivery-attempts/${attempt.id}`
  const strange = [await live.send('GET', elsewhere), await live.post(`${elsewhere}/retry`, {})]
  for (const answer of strange)
    mustRefuse(answer, [404, 'not_found'], 'the answer about an attempt of another endpoint')
  merchant.byHand.push({ event: attempt.event_id as string, at: Date.now() })
  const { status, body } = await live.post(`${place}/${attempt.id}/retry`, {})
  mustEqual([status, body.id], [202, attempt.id], 'the answer to a retry by hand')
  if (!isExact) return
  const reset = {
    response_status: null,
    response_body: null,
    error: null,
    duration_ms: null,
    attempted_at: null,
  }
  mustEqual(
    { ...body, scheduled_at: null, updated: null },
    { ...attempt, ...reset, status: 'pending', trigger: 'manual', scheduled_at: null, updated: null },
    'an attempt that is made again by hand',
  )
  await merchant.wait(25_000)
  const { body: after } = await live.send('GET', `${place}/${attempt.id}`)
  if (after.attempted_at === null) fail('an attempt that was queued by hand was not made at once')
}

/** Sends an attempt that waits for its time again by hand. */
async function hurry(merchant: Merchant, { pick }: Drawn): Promise<void> {
  const { live, isExact, wait } = merchant
  const kind = pick % 2 === 0 || (await isRecovered(merchant)) ? 'flaky' : 'mixed'
  const place = `${placeOf(merchant, kind)}/delivery-attempts`
  const attempt = one(await walk(live, `${place}?status=pending`), pick)
  if (!attempt) return
  merchant.byHand.push({ event: attempt.event_id as string, at: Date.now() })
  const { status, body } = await live.post(`${place}/${attempt.id}/retry`, {})
  mustEqual([status, body.id], [202, attempt.id], 'the answer to a retry of an attempt that waits')
  if (!isExact) return
  await wait(25_000)
  const { body: after } = await live.send('GET', `${place}/${attempt.id}`)
  const { response_status } = after
  if (response_status === null) fail('an attempt that waited was not made at once')
  const isGood = response_status < 300
  mustEqual(
    [after.status, after.trigger, after.attempt],
    isGood ? ['succeeded', 'manual', attempt.attempt] : ['pending', 'schedule', attempt.attempt],
    'an attempt that waited, and was made by hand',
  )
  if (!isGood) mustEqual(after.scheduled_at, attempt.scheduled_at, 'when it is made again')
}

/** How far back a merchant recovers events. */
const RECOVERED_MS = 6 * 3_600_000

const NONE = { total: 0, sent: 0, failed: 0 }

/** Recovers what an endpoint has missed, after enabling it if it is disabled. */
async function recover(merchant: Merchant): Promise<void> {
  const { live, isExact, wait } = merchant
  const began = (kind: EndpointKind) => walk(live, `${placeOf(merchant, kind)}/recoveries`)
  const turn = (await began('mixed')).length + (await began('broken')).length
  const place = placeOf(merchant, turn % 2 === 0 ? 'mixed' : 'broken')
  const { body: endpoint } = await live.send('GET', place)
  const since = new Date(Date.now() - RECOVERED_MS).toISOString()
  if (endpoint.status === 'disabled') {
    const refused = await live.post(`${place}/recover`, { since })
    // In a storm, another client may have enabled it meanwhile.
    if (isExact) mustRefuse(refused, [409, 'invalid_state'], 'the recovery of a disabled endpoint')
    const { status, body } = await live.send('PATCH', place, { status: 'enabled' })
    mustEqual(
      [status, body.status, body.disabled_reason],
      [200, 'enabled', null],
      'an endpoint that was enabled',
    )
  }
  if (isExact) await wait(30_000) // until nothing is being sent
  await refuseWrong(merchant, place)
  const earlier = new Date(Date.now() - RECOVERED_MS / 4).toISOString()
  const orders = [
    { scope: 'all', rate: 2 },
    { scope: 'all', rate: 1, types: ['payout.paid', 'payout.paid'] },
    { scope: 'failed', rate: 10, until: earlier },
    { until: earlier },
  ]
  const order = { since, ...one(orders, turn)! }
  const { status, body } = await live.post(`${place}/recover`, order)
  if (status === 409) {
    const open = await walk(live, `${place}/recoveries`)
    const isLate = ({ updated }: Item) => Date.parse(String(updated)) > Date.now() - ENDED_MS
    const isDisabled = (await live.send('GET', place)).body.status === 'disabled' // once more, meanwhile
    if (isExact && !isDisabled && !open.some((each) => isOpen(each) || isLate(each)))
      fail('a recovery was refused, and none is open')
    return
  }
  const { id, until, created, updated, ...others } = must(
    { status, body, headers: {} },
    201,
    'a new recovery',
  )
  mustEqual(
    others,
    {
      ...{ object: 'webhook_recovery', webhook_endpoint_id: endpoint.id, scope: 'failed', rate: 25 },
      ...{ ...order, until: undefined, types: 'types' in order ? [...new Set(order.types)] : null },
      ...{ status: 'counting', ...NONE },
    },
    'a new recovery',
  )
  mustEqual([created, until], [updated, 'until' in order ? order.until : created], 'times of a new recovery')
  if (!isExact) return
  mustRefuse(
    await live.post(`${place}/recover`, order),
    [409, 'invalid_state'],
    'a second recovery of an endpoint',
  )
  if (turn % orders.length < orders.length - 1) return
  const canceled = must(await live.post(`${place}/recoveries/${id}/cancel`, {}), 200, 'a cancellation')
  mustEqual(
    { ...canceled, total: 0, sent: 0, failed: 0, updated },
    { ...body, status: 'canceled', updated },
    'a recovery that was canceled',
  )
  const again = await live.post(`${place}/recoveries/${id}/cancel`, {})
  mustRefuse(again, [409, 'invalid_state'], 'a second cancellation')
}

/** Periods that are refused. */
async function refuseWrong({ live }: Merchant, place: string): Promise<void> {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  for (const [order, field] of [
    [{ since: at(3_600_000) }, 'since'],
    [{ since: at(-60_000), until: at(-120_000) }, 'until'],
  ] as const) {
    const { status, body } = await live.post(`${place}/recover`, order)
    mustEqual([status, body.error?.details?.[0]?.field], [422, field], 'the answer to a wrong period')
  }
}

/** Sends a test event to one endpoint. */
async function sendTest(merchant: Merchant): Promise<void> {
  const { status, body } = await merchant.live.post(`${placeOf(merchant, 'flaky')}/test`, {})
  mustEqual([status, body.type], [201, 'webhook_endpoint.test'], 'a test of an endpoint')
}

export const HOOK_ACTIONS: Actions = {
  retry: { times: 1, act: retryByHand },
  hurry: { times: 1, act: hurry },
  recover: { times: 2, act: recover },
  test_endpoint: { times: 1, act: sendTest },
}

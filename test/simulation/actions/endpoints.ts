/** The life of webhook endpoints: a merchant creates, changes, disables and deletes them, and predicts each answer. */
import type { Environment } from '../../../runtime/platform/environment.ts'
import { fail, mustEqual } from '../checks/must.ts'
import { FIRST_ENDPOINTS } from '../endpoints.ts'
import type { Merchant } from '../merchant.ts'
import { type Actions, type Drawn, must, mustRefuse, one, walk } from './action.ts'

const ROOT = '/v1/webhook-endpoints'

const NEW = {
  object: 'webhook_endpoint',
  description: null,
  status: 'enabled',
  disabled_reason: null,
  signature: 'service',
  delivery: 'unordered',
  filters: [],
  retry_schedule: 'standard',
  metadata: {},
}

/** What an endpoint is created with, and what is shown beside what was given. */
const CONTENTS: readonly (readonly [given: object, shown: object])[] = [
  [{ enabled_events: ['*'] }, {}],
  [{ enabled_events: ['payout.paid', 'payout.paid'] }, { enabled_events: ['payout.paid'] }],
  [{ enabled_events: ['*'], delivery: 'fifo' }, { fifo_key: 'endpoint' }],
  [{ enabled_events: ['pass.created'], delivery: 'fifo', fifo_key: 'object', metadata: { team: 'a' } }, {}],
  [
    {
      enabled_events: ['payout.created', 'pass.created'],
      filters: [
        { property: 'data.payout.metadata.order', equals: ['7', null] },
        { property: 'data.pass.template_id', equals: [null] },
      ],
      retry_schedule: 'extended',
      signature: 'standard_webhooks',
    },
    {},
  ],
]

/** Contents that are refused, with the field that is named. */
const REFUSED: readonly (readonly [given: object, field: string])[] = [
  [{ enabled_events: ['*', 'pass.created'] }, 'enabled_events'],
  [{ enabled_events: ['*'], fifo_key: 'object' }, 'fifo_key'],
  [{ enabled_events: ['*'], filters: [{ property: 'data.nothing', equals: [1] }] }, 'filters[0].property'],
  [
    { enabled_events: ['pass.created'], filters: [{ property: 'data.payout.id', equals: ['1'] }] },
    'filters[0].property',
  ],
]

interface Shown {
  readonly id: string
  readonly created: string
  readonly updated: string
  readonly blocked?: unknown
  readonly blocked_keys?: unknown
}

/** Fails unless an endpoint is shown with these members, beside its times and what blocks it. */
function mustShow(
  { created, updated, blocked: _, blocked_keys: __, ...found }: Shown,
  wanted: object,
  what: string,
): void {
  mustEqual(found, wanted, what)
  if (Date.parse(created) > Date.parse(updated)) fail(`${what} was changed before it was created`)
}

const jwksOf = ({ tenantId }: Merchant, environment: Environment, id: string) => ({
  jwks_url: `http://${environment}.invalid/webhooks/${tenantId}/${id}/jwks.json`,
})

/** Creates an endpoint, changes it, rotates its secret, disables and enables it, and deletes it at times. */
async function liveThrough(merchant: Merchant, { pick }: Drawn): Promise<void> {
  // In turn, so that each content occurs: the sandbox has no other ordered endpoint.
  const turn = merchant.secrets.size - FIRST_ENDPOINTS.length
  const environment = turn % 2 === 0 ? 'live' : 'sandbox'
  const client = merchant[environment]
  const url = `https://${environment}.own${merchant.secrets.size}.${merchant.name}.invalid/`
  const [content, shown] = one(CONTENTS, turn)!
  const { secret, ...made } = must(await client.post(ROOT, { url, ...content }), 201, 'a new endpoint')
  const isStandard = 'signature' in content
  if (!/^whsec_[\w+/-]{43}=?$/.test(secret) || secret.endsWith('=') !== isStandard)
    fail(`the secret ${secret} has a wrong form`)
  const keys = isStandard ? jwksOf(merchant, environment, made.id) : {}
  let state: typeof NEW & { readonly enabled_events?: readonly string[] } & Record<string, unknown> = {
    ...NEW,
    id: made.id,
    url,
    ...content,
    ...shown,
    ...keys,
  }
  mustShow(made, state, 'a new endpoint')
  const place = `${ROOT}/${made.id}`
  merchant.secrets.set(made.id, secret)
  merchant.pauses.add(made.id)
  // A change that was sent twice can take effect after the next one.
  const show: typeof mustShow = (...given) => {
    if (merchant.isExact) mustShow(...given)
  }
  const change = async (patch: object, to: object = patch) => {
    state = { ...state, ...to }
    show(must(await client.send('PATCH', place, patch), 200, 'a change'), state, 'a changed endpoint')
    if (pick % 3 === 0) show(must(await client.send('GET', place), 200, 'an endpoint'), state, 'an endpoint')
  }
  const changeAsBefore = async (enabled_events: readonly string[], shown: readonly string[]) => {
    const answer = await merchant.older[environment].send('PATCH', place, { enabled_events })
    must(answer, 200, 'a change in an older version')
    state = { ...state, enabled_events: [...shown] }
    show(
      must(await client.send('GET', place), 200, 'an endpoint'),
      state,
      'an endpoint after an older change',
    )
  }
  await change({ metadata: { a: '1', b: '2' } }, { metadata: { ...state.metadata, a: '1', b: '2' } })
  await change({ metadata: { a: null, c: '3' } }, { metadata: { ...state.metadata, a: undefined, c: '3' } })
  await change({ url: `${url}new`, retry_schedule: 'extended' })
  const test = must(await client.post(`${place}/test`, {}), 201, 'a test of an endpoint')
  mustEqual(test.data.webhook_endpoint.id, made.id, 'what a test tells')
  if (state.delivery === 'unordered') {
    await change({
      filters: [{ property: 'data.payout.id', equals: ['po_1'] }],
      enabled_events: ['payout.paid', 'balance.low'],
    })
    // A caller whose version has no balance.low cannot have meant to remove it.
    await changeAsBefore(['payout.created'], ['payout.created', 'balance.low'])
    await changeAsBefore(['*'], ['*'])
    await change({ filters: [] })
  }
  await change({ metadata: null }, { metadata: {} })
  await change({ status: 'enabled' })
  const hasFailed = await fails(merchant, environment, { id: made.id, event: test.id })
  await change({ status: 'disabled' }, { status: 'disabled', disabled_reason: 'manual' })
  if (hasFailed) await isCanceled(merchant, environment, { id: made.id, event: test.id })
  await change({ status: 'disabled' })
  const disabled = await walk(client, `${ROOT}?status=disabled`)
  if (merchant.isExact && !disabled.some(({ id }) => id === made.id))
    fail('a disabled endpoint is missing in their list')
  const since = new Date(Date.now()).toISOString()
  const early = await client.post(`${place}/recover`, { since })
  if (merchant.isExact) mustRefuse(early, [409, 'invalid_state'], 'a disabled recovery')
  await change({ status: 'enabled' }, { status: 'enabled', disabled_reason: null })
  const rotated = must(await client.post(`${place}/rotate_secret`, {}), 200, 'a rotated secret')
  show({ ...rotated, secret: null }, { ...state, secret: null }, 'an endpoint with a new secret')
  merchant.rotated.set(made.id, { secret, at: Date.now() })
  merchant.secrets.set(made.id, rotated.secret)
  for (const [given, field] of REFUSED) {
    const refused = await client.post(ROOT, { url, ...given })
    mustRefuse(refused, [422, 'validation_failed'], 'a wrong endpoint')
    mustEqual(refused.body.error.details?.[0]?.field, field, 'what is wrong with an endpoint')
  }
  for (const given of [{ enabled_events: ['*', 'pass.created'] }, { filters: REFUSED[2]![0] }])
    mustEqual((await client.send('PATCH', place, given)).status, 422, 'the answer to a wrong change')
  await client.post(`${place}/test`, {})
  if (turn % 4 !== 1) return
  if (merchant.isExact) await merchant.wait(2000) // until nothing is being sent
  await client.send('DELETE', place)
  await isGone(merchant, environment, made.id)
}

interface Sent {
  /** An endpoint, and an event that it gets. */
  readonly id: string
  readonly event: string
}

const attemptsAt = (merchant: Merchant, environment: Environment, { id, event }: Sent) =>
  walk(merchant[environment], `${ROOT}/${id}/delivery-attempts?event_id=${event}`)

/** In calm universes: waits until the first attempt has failed. Returns false if it is late. */
async function fails(merchant: Merchant, environment: Environment, sent: Sent): Promise<boolean> {
  for (let left = 10; merchant.isExact && left > 0; left -= 1) {
    await merchant.wait(1000)
    if ((await attemptsAt(merchant, environment, sent)).length === 2) return true
  }
  return false
}

/** The attempts that wait for their time are canceled as soon as their endpoint is disabled. */
async function isCanceled(merchant: Merchant, environment: Environment, sent: Sent): Promise<void> {
  const attempts = await attemptsAt(merchant, environment, sent)
  mustEqual(
    attempts.map(({ status, next_attempt_at, attempt }) => ({ status, next_attempt_at, attempt })),
    [
      { status: 'canceled', next_attempt_at: null, attempt: 2 },
      { status: 'failed', next_attempt_at: null, attempt: 1 },
    ],
    'the attempts at an endpoint that was disabled',
  )
}

/** Every operation of an endpoint that does not exist is refused. */
async function isGone(merchant: Merchant, environment: Environment, id: string): Promise<void> {
  const client = merchant[environment]
  const place = `${ROOT}/${id}`
  const since = new Date(Date.now()).toISOString()
  const attempt = `${place}/delivery-attempts/wdla_${'0'.repeat(26)}`
  const recovery = `${place}/recoveries/whr_${'0'.repeat(26)}`
  const event_id = `evt_${'0'.repeat(26)}`
  const answers = [
    await client.send('GET', place),
    await client.send('PATCH', place, { status: 'enabled' }),
    await client.send('DELETE', place),
    await client.post(`${place}/test`, {}),
    await client.post(`${place}/rotate_secret`, {}),
    await client.post(`${place}/skip`, { event_id }),
    await client.post(`${place}/recover`, { since }),
    await client.send('GET', `${place}/delivery-attempts`),
    await client.send('GET', attempt),
    await client.post(`${attempt}/retry`, {}),
    await client.send('GET', `${place}/recoveries`),
    await client.send('GET', recovery),
    await client.post(`${recovery}/cancel`, {}),
  ]
  for (const answer of answers)
    mustRefuse(answer, [404, 'not_found'], 'the answer about an endpoint that does not exist')
}

/** Skips the event that blocks an ordered endpoint. Others cannot be skipped. */
async function skip(merchant: Merchant, { pick }: Drawn): Promise<void> {
  const { live: client, endpoints } = merchant
  const kind = pick % 2 === 0 ? 'stuck' : 'jammed'
  const place = `${ROOT}/${endpoints.get(`live.${kind}`)}`
  const before = must(await client.send('GET', place), 200, 'an ordered endpoint')
  const events = await walk(client, '/v1/events')
  const blocks: readonly { readonly event_id: string }[] = before.blocked_keys ?? [before.blocked]
  mustEqual(before.blocked, blocks[0] ?? null, 'what blocks an endpoint')
  // The oldest one: a newer one may begin to block meanwhile.
  const other = events.findLast(({ id }) => !blocks.some((block) => block?.event_id === id))
  if (other)
    mustRefuse(
      await client.post(`${place}/skip`, { event_id: other.id }),
      [409, 'invalid_state'],
      'a skip of an event that blocks nothing',
    )
  const plain = `${ROOT}/${endpoints.get('live.plain')}`
  const none = await client.post(`${plain}/skip`, { event_id: other?.id ?? `evt_${'0'.repeat(26)}` })
  mustRefuse(none, [409, 'invalid_state'], 'a skip of an endpoint without an order')
  if (!before.blocked) return
  const { event_id } = before.blocked
  const answer = await client.post(`${place}/skip`, { event_id })
  if (!merchant.isExact) return
  const after = must(answer, 200, 'a skip')
  if (after.blocked?.event_id === event_id) fail('an event that was skipped still blocks')
  merchant.skipped.add(`${before.id} ${event_id}`)
  mustRefuse(
    await client.post(`${place}/skip`, { event_id }),
    [409, 'invalid_state'],
    'a second skip of the same event',
  )
}

/** Tests an endpoint whose receiver is slow. The attempt is shown while it runs, and cannot be made twice. */
async function watchSlow(merchant: Merchant): Promise<void> {
  const { sandbox: client, endpoints, wait, isExact } = merchant
  const place = `${ROOT}/${endpoints.get('sandbox.slow')}`
  const event = must(await client.post(`${place}/test`, {}), 201, 'a test')
  if (!isExact) return
  const list = `${place}/delivery-attempts?event_id=${event.id}`
  const seen: string[] = []
  for (let left = 12; left > 0; left -= 1) {
    await wait(1000)
    const [attempt, ...more] = await walk(client, list)
    const [status, attempted_at, id] = [attempt?.status, attempt?.attempted_at, attempt?.id]
    mustEqual(more.length, 0, 'further attempts of an event that is being sent')
    mustEqual(
      [status === 'pending', typeof attempted_at === 'string'],
      attempt ? [status !== 'succeeded', status === 'succeeded'] : [false, false],
      'an attempt that runs',
    )
    seen.push(String(status))
    if (status !== 'pending') continue
    const { body } = await client.post(`${place}/delivery-attempts/${id}/retry`, {})
    mustEqual(
      [body.id, body.status, body.trigger],
      [id, 'pending', 'schedule'],
      'a retry of what is being sent',
    )
  }
  if (!seen.includes('pending')) fail('an attempt is not shown while it runs')
  if (seen.at(-1) !== 'succeeded') fail(`an attempt was shown as ${seen.join(', ')}`)
}

/** Lets deliveries of the sandbox be late and come twice, for one event, and ends that. */
async function disturb({ live, sandbox, endpoints, wait, disturbed, isExact }: Merchant): Promise<void> {
  const faults = { late_webhooks_percent: 100, webhook_delay_ms: 150, duplicate_webhooks_percent: 100 }
  if (!isExact) return
  must(await sandbox.send('PUT', '/v1/test/faults', { ...faults, expires_in_seconds: 60 }), 200, 'faults')
  const test = async () =>
    must(await sandbox.post(`${ROOT}/${endpoints.get('sandbox.plain')}/test`, {}), 201, 'a test').id
  await wait(12_000)
  disturbed.set(await test(), undefined) // the worker reads the setting at about the same time
  await wait(12_000)
  disturbed.set(await test(), true)
  must(await live.post(`${ROOT}/${endpoints.get('live.plain')}/test`, {}), 201, 'a test in live')
  await wait(60_000)
  disturbed.set(await test(), false)
}

/** Issues many passes in one request: more events than a tenant may send at once. */
async function issueMany({ live, known, passes, files, changes }: Merchant): Promise<void> {
  const order = { passes: Array.from({ length: 24 }, () => ({ template_id: known.template })) }
  const { results } = must(await live.post('/v1/passes/batch', order), 200, 'a batch of passes')
  for (const { pass } of results) {
    passes.push(pass.id)
    files.set(pass.id, pass.download.apple_url)
    changes.push({ environment: 'live', type: 'pass.created', body: pass })
  }
}

export const ENDPOINT_ACTIONS: Actions = {
  own_endpoint: { times: 2, isCalm: true, act: liveThrough },
  skip_event: { times: 2, isCalm: true, act: skip },
  watch_slow: { times: 1, act: watchSlow },
  disturb_deliveries: { times: 1, isCalm: true, act: disturb },
  issue_many: { times: 1, act: issueMany },
}

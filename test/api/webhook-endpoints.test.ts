/** Endpoints of webhooks over HTTP: registration, change, secrets, and the attempts that are to be made. */
import { beforeAll, describe, expect, test } from 'vitest'
import { openSecrets } from '../../runtime/events/outbound/signing.ts'
import { secretContext } from '../../runtime/events/webhook-endpoints/secrets.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { planAll } from '../support/planning.ts'
import { until } from '../support/programs.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { countWaiting, firstFault, makeTemplate, refusal, speakFor, VERSIONS } from './fixtures.ts'

const service = useService({ env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' }, keepsTime: true })
let tenantId: string
let send: Send

const URL = 'http://127.0.0.1:9999/hooks'
const NO_ENDPOINT = 'whe_00000000000000000000000000'

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
})

async function register(content: object = {}, by: Send = send) {
  const { status, body } = await by('/v1/webhook-endpoints', {
    body: { url: URL, enabled_events: ['*'], ...content },
  })
  expect(status).toBe(201)
  return body
}

/** Statuses of all attempts of an endpoint, newest first, read past the API; workers plan them, so they are planned first. */
async function attemptsOf(endpointId: string) {
  await planAll(service.database.sandbox)
  const { rows } = await service.database.control.query<{ status: string; event_id: string; id: string }>(
    {
      text: `SELECT status, event_id, id FROM sandbox.webhook_attempts WHERE endpoint_id = $1 ORDER BY created DESC, id DESC`,
    },
    [endpointId],
  )
  return rows
}

const queued = async (table: 'ready' | 'waiting', endpointId: string) =>
  (
    await service.database.control.query(
      { text: `SELECT 1 FROM sandbox.webhook_${table} WHERE endpoint_id = $1` },
      [endpointId],
    )
  ).rows.length

describe.each(VERSIONS)('in %s', (version) => {
  test('an endpoint is registered, read, changed and deleted', async () => {
    const { secret } = await makeKey(service, await makeTenant(service, 'enterprise', version))
    const by = speak(service.urls.sandbox, { secret, version })
    const made = await register({ enabled_events: ['pass.created', 'pass.created'], description: 'Shop' }, by)
    expect(made).toMatchObject({
      object: 'webhook_endpoint',
      url: URL,
      description: 'Shop',
      enabled_events: ['pass.created'],
      status: 'enabled',
      disabled_reason: null,
      metadata: {},
    })
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
    const { secret: _, ...shown } = made
    const path = `/v1/webhook-endpoints/${made.id}`
    expect((await by(path)).body).toEqual(shown)
    expect((await by('/v1/webhook-endpoints')).body.data).toEqual([shown])
    const changed = await by(path, {
      method: 'PATCH',
      body: { url: `${URL}/2`, description: null, metadata: { a: 'b' }, enabled_events: ['*'] },
    })
    expect(changed.body).toEqual({
      ...shown,
      url: `${URL}/2`,
      description: null,
      metadata: { a: 'b' },
      enabled_events: ['*'],
    })
    expect((await by(path, { method: 'DELETE' })).body).toEqual({
      id: made.id,
      object: 'webhook_endpoint',
      deleted: true,
    })
    expect((await by(path)).status).toBe(404)
    expect((await by(path, { method: 'DELETE' })).status).toBe(404)
  })
})

describe('what is refused', () => {
  test.each([
    ['a private address', { url: 'http://10.0.0.1/' }, 'url'],
    ['the cloud’s metadata', { url: 'http://169.254.169.254/latest' }, 'url'],
    ['another scheme', { url: 'ftp://example.com/' }, 'url'],
    ['no address', { url: 'hooks' }, 'url'],
    ['an unknown type', { enabled_events: ['pass.born'] }, 'enabled_events[0]'],
    ['all types and one more', { enabled_events: ['*', 'pass.created'] }, 'enabled_events'],
    ['no type', { enabled_events: [] }, 'enabled_events'],
  ])('POST /v1/webhook-endpoints refuses %s by its field', async (_, content, field) => {
    const answer = await send('/v1/webhook-endpoints', {
      body: { url: URL, enabled_events: ['*'], ...content },
    })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_failed'])
    expect(answer.body.error.details.map((each: { field: string }) => each.field)).toContain(field)
  })

  test('a webhook URL with http is refused in live, and https is not', async () => {
    const live = await speakFor(service, tenantId, 'live')
    const ask = (url: string) => live('/v1/webhook-endpoints', { body: { url, enabled_events: ['*'] } })
    expect(firstFault(await ask('http://93.184.215.14/hooks'))).toMatchObject([
      422,
      'validation_failed',
      { field: 'url' },
    ])
    // What the sandbox may reach for tests, live may not.
    expect((await ask('https://127.0.0.1:9999/hooks')).status).toBe(422)
    expect((await ask('https://93.184.215.14/hooks')).status).toBe(201)
  })

  test('a refused change of a webhook endpoint does nothing', async () => {
    const { id } = await register()
    const answer = await send(`/v1/webhook-endpoints/${id}`, {
      method: 'PATCH',
      body: { url: 'http://192.168.1.1/', description: 'changed' },
    })
    expect(answer.status).toBe(422)
    expect((await send(`/v1/webhook-endpoints/${id}`)).body.description).toBeNull()
  })

  test('a refused registration is refused the same when it is repeated', async () => {
    const call = {
      body: { url: 'http://10.0.0.1/', enabled_events: ['*'] },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    }
    await send('/v1/webhook-endpoints', call)
    const again = await send('/v1/webhook-endpoints', call)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([422, 'true'])
  })
})

test('types that a version does not have are left out there, and stay through its changes', async () => {
  const { id } = await register({
    enabled_events: ['pass.created', 'cardholder.sanctions.alert', 'payout.paid'],
  })
  const { secret } = await makeKey(service, tenantId)
  const [oldest, second] = ['2025-06-01', '2025-11-01'].map((version) =>
    speak(service.urls.sandbox, { secret, version }),
  )
  const path = `/v1/webhook-endpoints/${id}`
  expect((await oldest!(path)).body.enabled_events).toEqual(['pass.created'])
  expect((await second!(path)).body.enabled_events).toEqual(['pass.created', 'payout.paid'])
  const body = { enabled_events: ['pass.revoked'] }
  expect((await oldest!(path, { method: 'PATCH', body })).body.enabled_events).toEqual(['pass.revoked'])
  expect((await send(path)).body.enabled_events).toEqual([
    'pass.revoked',
    'cardholder.sanctions.alert',
    'payout.paid',
  ])
  const unknown = { enabled_events: ['payout.paid'] }
  expect((await oldest!(path, { method: 'PATCH', body: unknown })).status).toBe(422)
  await oldest!(path, { method: 'PATCH', body: { enabled_events: ['*'] } })
  expect((await send(path)).body.enabled_events).toEqual(['*'])
})

describe('the secret', () => {
  const stored = async (id: string) => {
    const { rows } = await service.database.control.query<{
      secret: Buffer
      retired_secrets: { sealed: string; until: number }[]
    }>({ text: 'SELECT secret, retired_secrets FROM sandbox.webhook_endpoints WHERE id = $1' }, [id])
    return rows[0]!
  }
  const opened = async (id: string) =>
    openSecrets(
      createSeals(service.database.pepper),
      secretContext('sandbox', tenantId, id),
      await stored(id),
      service.clock.now,
    )

  test('the secret of a webhook endpoint is sealed, opens for its endpoint alone, and is shown again only to a repeated request', async () => {
    const call = {
      body: { url: URL, enabled_events: ['*'] },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    }
    const { body } = await send('/v1/webhook-endpoints', call)
    expect((await send('/v1/webhook-endpoints', call)).body.secret).toBe(body.secret)
    const row = await stored(body.id)
    expect(row.secret.includes(body.secret)).toBe(false)
    expect(await opened(body.id)).toEqual([body.secret])
    const other = await register()
    expect(() =>
      openSecrets(
        createSeals(service.database.pepper),
        secretContext('sandbox', tenantId, other.id),
        row,
        service.clock.now,
      ),
    ).toThrow(/cannot be unsealed/)
  })

  const rotate = async (id: string) =>
    (await send(`/v1/webhook-endpoints/${id}/rotate_secret`, { body: {} })).body.secret as string

  test('the secret of a webhook endpoint signs for 24 hours after its rotation, unless another one follows', async () => {
    const { id, secret: first } = await register()
    const second = await rotate(id)
    expect(await opened(id)).toEqual([second, first])
    service.clock.now += 3_600_000
    const third = await rotate(id)
    expect(new Set([first, second, third]).size).toBe(3)
    expect(await opened(id)).toEqual([third, second])
    service.clock.now += 24 * 3_600_000 - 1
    expect(await opened(id)).toEqual([third, second])
    service.clock.now += 1
    expect(await opened(id)).toEqual([third])
  })

  test('the secret of a webhook endpoint leaves nothing but the one before it, however often it is rotated', async () => {
    const { id } = await register()
    for (let count = 0; count < 50; count += 1) await rotate(id)
    expect((await stored(id)).retired_secrets).toHaveLength(1)
  })

  test('only the last of an earlier version’s many old secrets signs', async () => {
    const { id, secret: first } = await register()
    const second = await rotate(id)
    const [kept] = (await stored(id)).retired_secrets
    await service.database.control.query(
      { text: 'UPDATE sandbox.webhook_endpoints SET retired_secrets = $2 WHERE id = $1' },
      [id, JSON.stringify(Array(900).fill(kept))],
    )
    expect(await opened(id)).toEqual([second, first])
  })
})

describe('the number of endpoints', () => {
  const fill = async (limit: number) => {
    const owner = await makeTenant(service)
    const by = await speakFor(service, owner)
    await register({}, by)
    await service.database.control.query(
      {
        text: `INSERT INTO sandbox.webhook_endpoints (tenant_id, id, url, enabled_events, status, secret, metadata,
                                                      created, updated)
               SELECT tenant_id, 'whe_' || lpad(n::text, 26, '0'), url, enabled_events, status, secret, metadata,
                      created, updated
                 FROM sandbox.webhook_endpoints, generate_series(2, $2) AS n WHERE tenant_id = $1`,
      },
      [owner, limit],
    )
    return { by, owner }
  }
  const add = (by: Send) => by('/v1/webhook-endpoints', { body: { url: URL, enabled_events: ['*'] } })

  test('the number of webhook endpoints is 100 in an environment; one that is deleted makes room', async () => {
    const { by } = await fill(100)
    const refused = await add(by)
    expect(refusal(refused)).toEqual([409, 'conflict', 'invalid_state'])
    expect(refused.body.error.message).toMatch(/100 endpoints/)
    await by(`/v1/webhook-endpoints/whe_${'2'.padStart(26, '0')}`, { method: 'DELETE' })
    expect((await add(by)).status).toBe(201)
    expect((await add(by)).status).toBe(409)
  })

  test('the number of webhook endpoints is not exceeded by requests at the same time', async () => {
    const { by, owner } = await fill(99)
    const { control } = service.database
    // While the end of the audit log is held, whoever has counted the endpoints cannot commit.
    const { answers } = await control.transaction(async (tx) => {
      await tx.query({ text: 'SELECT 1 FROM sandbox.audit_heads WHERE tenant_id = $1 FOR UPDATE' }, [owner])
      const sent = Promise.all(Array.from({ length: 20 }, () => add(by)))
      await until('two of them to wait', async () => (await countWaiting(service.database)) >= 2)
      return { answers: sent }
    })
    const statuses = (await answers).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, ...Array(19).fill(409)])
  })
})

describe('attempts', () => {
  test('webhook attempts are planned for who is subscribed, and cancelled where the endpoint is disabled', async () => {
    const by = await speakFor(service, await makeTenant(service))
    const all = await register({}, by)
    const some = await register({ enabled_events: ['pass_template.created', 'pass.created'] }, by)
    const none = await register({ enabled_events: ['pass.created'] }, by)
    const off = await register({}, by)
    await by(`/v1/webhook-endpoints/${off.id}`, { method: 'PATCH', body: { status: 'disabled' } })
    await makeTemplate(by)
    const statuses = async ({ id }: { id: string }) => (await attemptsOf(id)).map(({ status }) => status)
    expect(await Promise.all([all, some, none, off].map(statuses))).toEqual([
      ['pending'],
      ['pending'],
      [],
      ['canceled'],
    ])
    expect([await queued('ready', all.id), await queued('ready', off.id)]).toEqual([1, 0])
    const { body } = await by(`/v1/webhook-endpoints/${all.id}/delivery-attempts`)
    const [event] = (await by('/v1/events')).body.data
    expect(body.data).toMatchObject([
      {
        object: 'webhook_delivery_attempt',
        webhook_endpoint_id: all.id,
        event_id: event.id,
        attempt: 1,
        status: 'pending',
        trigger: 'schedule',
        response_status: null,
        scheduled_at: event.emitted_at,
        attempted_at: null,
        next_attempt_at: null,
      },
    ])
    const path = `/v1/webhook-endpoints/${all.id}/delivery-attempts`
    expect((await by(`${path}/${body.data[0].id}`)).body).toEqual(body.data[0])
    expect((await by(`/v1/webhook-endpoints/${some.id}/delivery-attempts/${body.data[0].id}`)).status).toBe(
      404,
    )
    expect((await by(`${path}?status=succeeded`)).body.data).toEqual([])
    expect((await by(`${path}?event_id=${event.id}&status=pending`)).body.data).toHaveLength(1)
    expect((await by(`/v1/webhook-endpoints/${NO_ENDPOINT}/delivery-attempts`)).status).toBe(404)
  })

  test('a test event goes to its endpoint alone, subscribed or not', async () => {
    const by = await speakFor(service, await makeTenant(service))
    const [one, other] = [await register({ enabled_events: ['pass.created'] }, by), await register({}, by)]
    const { status, body } = await by(`/v1/webhook-endpoints/${one.id}/test`, { body: {} })
    expect(status).toBe(201)
    const { secret: _, ...shown } = one
    expect(body).toMatchObject({ type: 'webhook_endpoint.test', data: { webhook_endpoint: shown } })
    expect((await attemptsOf(one.id)).map(({ event_id }) => event_id)).toEqual([body.id])
    expect(await attemptsOf(other.id)).toEqual([])
    expect((await by(`/v1/events/${body.id}`)).body).toEqual(body)
  })

  test('webhook attempts that are pending are cancelled when the endpoint is disabled, and stay so', async () => {
    const by = await speakFor(service, await makeTenant(service))
    const { id } = await register({}, by)
    await makeTemplate(by)
    expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(['pending'])
    const path = `/v1/webhook-endpoints/${id}`
    const disabled = await by(path, { method: 'PATCH', body: { status: 'disabled' } })
    expect(disabled.body).toMatchObject({ status: 'disabled', disabled_reason: 'manual' })
    expect((await by('/v1/webhook-endpoints?status=disabled')).body.data).toHaveLength(1)
    expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(['canceled'])
    expect(await queued('ready', id)).toBe(0)
    const enabled = await by(path, { method: 'PATCH', body: { status: 'enabled' } })
    expect(enabled.body).toMatchObject({ status: 'enabled', disabled_reason: null })
    expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(['canceled'])
  })

  test('webhook attempts are retried by hand, also while the endpoint is disabled; those that are due are made anyway', async () => {
    const by = await speakFor(service, await makeTenant(service))
    const { id } = await register({}, by)
    await makeTemplate(by)
    const attemptId = (await attemptsOf(id))[0]!.id
    const retry = () => by(`/v1/webhook-endpoints/${id}/delivery-attempts/${attemptId}/retry`, { body: {} })
    const due = await retry()
    expect([due.status, due.body]).toMatchObject([202, { status: 'pending', trigger: 'schedule' }])
    expect(await queued('ready', id)).toBe(1)
    await by(`/v1/webhook-endpoints/${id}`, { method: 'PATCH', body: { status: 'disabled' } })
    service.clock.now += 1000
    const retried = await retry()
    expect(retried.status).toBe(202)
    expect(retried.body).toMatchObject({
      id: attemptId,
      attempt: 1,
      status: 'pending',
      trigger: 'manual',
      scheduled_at: new Date(service.clock.now).toISOString(),
    })
    expect((await retry()).body).toEqual(retried.body)
    expect(await queued('ready', id)).toBe(1)
    // What was asked for by hand is not cancelled with the rest.
    await by(`/v1/webhook-endpoints/${id}`, { method: 'PATCH', body: { status: 'enabled' } })
    await by(`/v1/webhook-endpoints/${id}`, { method: 'PATCH', body: { status: 'disabled' } })
    expect(await queued('ready', id)).toBe(1)
  })

  test('webhook attempts that wait for their time are made at once by hand, and keep their time', async () => {
    const by = await speakFor(service, await makeTenant(service))
    const { id } = await register({}, by)
    await makeTemplate(by)
    const attemptId = (await attemptsOf(id))[0]!.id
    await service.database.control.query(
      {
        text: `WITH ready AS (DELETE FROM sandbox.webhook_ready WHERE attempt_id = $1 RETURNING *)
               INSERT INTO sandbox.webhook_waiting (tenant_id, attempt_id, endpoint_id, event_id, attempt, previous_id,
                                                    generation, due_at)
               SELECT tenant_id, attempt_id, endpoint_id, event_id, 1, '', 0, '2026-06-02' FROM ready`,
      },
      [attemptId],
    )
    const path = `/v1/webhook-endpoints/${id}/delivery-attempts/${attemptId}`
    const retried = await by(`${path}/retry`, { body: {} })
    expect([retried.status, retried.body]).toMatchObject([202, { status: 'pending', trigger: 'manual' }])
    expect((await by(`${path}/retry`, { body: {} })).body).toEqual(retried.body)
    expect([await queued('ready', id), await queued('waiting', id)]).toEqual([1, 0])
    const { rows } = await service.database.control.query<{ resume_at: number }>(
      { text: 'SELECT resume_at FROM sandbox.webhook_ready WHERE attempt_id = $1' },
      [attemptId],
    )
    expect(rows[0]!.resume_at).toBe(Date.parse('2026-06-02T00:00:00Z'))
  })

  test('webhook attempts go with the endpoint', async () => {
    const by = await speakFor(service, await makeTenant(service))
    const { id } = await register({}, by)
    await makeTemplate(by)
    expect(await attemptsOf(id)).toHaveLength(1)
    await by(`/v1/webhook-endpoints/${id}`, { method: 'DELETE' })
    expect(await queued('ready', id)).toBe(0)
    expect((await by(`/v1/webhook-endpoints/${id}/delivery-attempts`)).status).toBe(404)
  })
})

describe('choices of an endpoint', () => {
  const choices = {
    signature: 'standard_webhooks',
    delivery: 'fifo',
    retry_schedule: 'extended',
    filters: [{ property: 'data.pass.metadata.shop', equals: ['a', null] }],
  }

  test('they are shown to the newest version alone, and change nothing for endpoints without them', async () => {
    const plain = await register()
    expect(plain).toMatchObject({
      signature: 'service',
      delivery: 'unordered',
      retry_schedule: 'standard',
      filters: [],
    })
    const { id, secret, jwks_url } = await register(choices)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const path = `/v1/webhook-endpoints/${id}`
    expect((await send(path)).body).toMatchObject({ ...choices, blocked: null })
    const keys = await fetch(jwks_url)
    expect([keys.status, keys.headers.get('content-type')]).toEqual([200, 'application/jwk-set+json'])
    expect(await keys.json()).toMatchObject({ keys: [{ kty: 'OKP', crv: 'Ed25519' }] })
    const older = speak(service.urls.sandbox, {
      secret: (await makeKey(service, tenantId)).secret,
      version: '2026-02-01',
    })
    const { body } = await older(path)
    for (const name of [...Object.keys(choices), 'jwks_url', 'blocked']) expect(body).not.toHaveProperty(name)
    const refused = await older(path, { method: 'PATCH', body: { signature: 'service' } })
    expect(refused.status).toBe(422)
    const changed = { signature: 'service', retry_schedule: 'standard', filters: [] }
    expect((await send(path, { method: 'PATCH', body: changed })).body).toMatchObject(changed)
    expect((await fetch(jwks_url)).status).toBe(404)
  })

  test.each([
    [
      'a property that no event has',
      { filters: [{ property: 'data.pass.colour', equals: ['red'] }] },
      'filters[0].property',
    ],
    [
      'a property of other events',
      { enabled_events: ['payout.paid'], filters: choices.filters },
      'filters[0].property',
    ],
    ['a filter without values', { filters: [{ property: 'data.pass.id', equals: [] }] }, 'filters[0].equals'],
    ['an unknown order', { delivery: 'random' }, 'delivery'],
  ])('%s is refused by its field', async (_, content, field) => {
    const answer = await send('/v1/webhook-endpoints', {
      body: { url: URL, enabled_events: ['*'], ...content },
    })
    expect([answer.status, answer.body.error.details[0].field]).toEqual([422, field])
  })

  test('a recovery is started once, is read, listed and canceled', async () => {
    const { id } = await register()
    const path = `/v1/webhook-endpoints/${id}`
    const since = '2020-01-01T00:00:00.000Z'
    const recover = (body: object) => send(`${path}/recover`, { body })
    for (const [body, field] of [
      [{ since: '2099-01-01T00:00:00Z' }, 'since'],
      [{ since, until: '2019-01-01T00:00:00Z' }, 'until'],
      [{ since, rate: 1001 }, 'rate'],
    ] as const) {
      const refused = await recover(body)
      expect([refused.status, refused.body.error.details[0].field]).toEqual([422, field])
    }
    await send(path, { method: 'PATCH', body: { status: 'disabled' } })
    expect((await recover({ since })).status).toBe(409)
    await send(path, { method: 'PATCH', body: { status: 'enabled' } })
    const { status, body } = await recover({ since, types: ['pass.created', 'pass.created'] })
    expect(status).toBe(201)
    expect(body).toMatchObject({ scope: 'failed', rate: 25, types: ['pass.created'], sent: 0, failed: 0 })
    expect((await send(`${path}/recoveries/${body.id}`)).body).toMatchObject({ id: body.id, since })
    expect((await send(`${path}/recoveries`)).body.data).toHaveLength(1)
    expect((await send(`${path}/recoveries/${body.id.replace(/.{4}$/, '0000')}`)).status).toBe(404)
  })

  test('a given-up delivery is listed with its reason', async () => {
    const { id } = await register()
    const path = `/v1/webhook-endpoints/${id}`
    await send(path, { method: 'PATCH', body: { status: 'disabled' } })
    await send(`${path}/test`, { method: 'POST' })
    expect(await attemptsOf(id)).toMatchObject([{ status: 'canceled' }])
    const { body } = await send(`${path}/delivery-attempts?outcome=given_up`)
    expect(body.data).toMatchObject([{ status: 'canceled', webhook_endpoint_id: id }])
    expect((await send(`${path}/delivery-attempts?outcome=delivered`)).body.data).toEqual([])
  })
})

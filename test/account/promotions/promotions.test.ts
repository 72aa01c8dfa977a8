/** Configuration that goes from the sandbox to live: planned, copied once, compared when asked for again. */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { current, versions } from '../../../generated/versions.ts'
import { verifyAudit } from '../../../runtime/tenants/admin/audit.ts'
import { revokeKey } from '../../../runtime/tenants/admin/keys.ts'
import { verifyTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { makeKey, makeTenant, START, useService } from '../../support/service.ts'
import { contentOf, ENDPOINT, make, openPromoter, PROGRAM, type Promoter, TEMPLATE } from './setup.ts'

const service = useService({ env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' } })
let promoter: Promoter

beforeEach(async () => {
  const tenantId = await makeTenant(service)
  await verifyTenant(service.operator, tenantId)
  promoter = await openPromoter(service, tenantId, current)
})

const TYPES = [
  ['pass_template', '/v1/pass_templates', TEMPLATE],
  ['card_program', '/v1/card_programs', PROGRAM],
  ['webhook_endpoint', '/v1/webhook-endpoints', ENDPOINT],
] as const

const eventsOf = async () => (await promoter.live('/v1/events?order=asc&limit=100')).body.data
const listed = async (path: string) => (await promoter.live(`${path}?limit=100`)).body.data
const fault = ({ status, body }: Awaited<ReturnType<Promoter['promote']>>) => [
  status,
  body.error.code,
  body.error.param ?? body.error.details?.[0]?.field,
]

describe.each(TYPES)('a %s', (resource_type, path, content) => {
  const make1 = () => make(promoter.sandbox, path, content)

  test('a promoted object is copied as it is, under a new id', async () => {
    const id = await make1()
    const answer = await promoter.promote({ resource_type, sandbox_ids: [id] })
    expect(answer.status).toBe(201)
    const [copy] = answer.body.created
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^prm_/),
      object: 'promotion',
      resource_type,
      dry_run: false,
      plan: [{ sandbox_id: id, live_id: null, action: 'create', differences: [], problems: [] }],
      created: [{ sandbox_id: id, live_id: copy.live_id }],
      promoted_at: new Date(START).toISOString(),
    })
    expect(copy.live_id).not.toBe(id)
    const source = (await promoter.sandbox(`${path}/${id}`)).body
    const target = (await promoter.live(`${path}/${copy.live_id}`)).body
    expect(contentOf(target)).toEqual(contentOf(source))
    expect((await promoter.live(`/v1/promotions/${answer.body.id}`)).body).toEqual(answer.body)
    expect((await promoter.live('/v1/promotions')).body.data).toEqual([answer.body])
  })

  test('a promoted object is copied once: repeated, nothing is done', async () => {
    const id = await make1()
    const order = { resource_type, sandbox_ids: [id] }
    const { body: first } = await promoter.promote(order)
    const { live_id } = first.created[0]
    const told = (await eventsOf()).length
    const again = await promoter.promote(order)
    expect([again.status, again.body.created, again.body.plan]).toEqual([
      201,
      [],
      [{ sandbox_id: id, live_id, action: 'unchanged', differences: [], problems: [] }],
    ])
    expect(await listed(path)).toHaveLength(1)
    expect(await eventsOf()).toHaveLength(told)
  })

  test('a promoted object that was changed shows where, and is left alone', async () => {
    const id = await make1()
    const order = { resource_type, sandbox_ids: [id] }
    const { live_id } = (await promoter.promote(order)).body.created[0]
    const body = { metadata: { note: 'new' } }
    await promoter.sandbox(`${path}/${id}`, { method: 'PATCH', body })
    const before = (await promoter.live(`${path}/${live_id}`)).body
    const again = await promoter.promote(order)
    expect(again.body.plan).toEqual([
      {
        sandbox_id: id,
        live_id,
        action: 'differs',
        differences: [{ field: 'metadata.note', sandbox: '"new"', live: null }],
        problems: [],
      },
    ])
    expect(again.body.created).toEqual([])
    expect((await promoter.live(`${path}/${live_id}`)).body).toEqual(before)
    await promoter.live(`${path}/${live_id}`, { method: 'PATCH', body })
    expect((await promoter.promote(order)).body.plan[0].action).toBe('unchanged')
  })

  test('20 concurrent promotions of an object make one copy', async () => {
    const id = await make1()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => promoter.promote({ resource_type, sandbox_ids: [id] })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    const copies = answers.flatMap(({ body }) => body.created)
    expect(copies).toHaveLength(1)
    expect(
      answers.flatMap(({ body }) => body.plan.map(({ action }: { action: string }) => action)).sort(),
    ).toEqual(['create', ...Array(19).fill('unchanged')])
    expect(await listed(path)).toHaveLength(1)
    const told = (await eventsOf()).filter(({ type }: { type: string }) => type === 'promotion.created')
    expect(told.map(({ data }: { data: unknown }) => data)).toEqual([
      { promotion: { resource_type, ...copies[0] } },
    ])
    await verifyAudit(service.operator, promoter.tenantId, 'live')
  })

  test('a dry run says what the promotion then does, and does nothing', async () => {
    const made = await make1()
    const other = await make1()
    const fresh = await make1()
    await promoter.promote({ resource_type, sandbox_ids: [made, other] })
    await promoter.sandbox(`${path}/${other}`, { method: 'PATCH', body: { metadata: null } })
    const [before, told] = [await listed(path), await eventsOf()]
    const order = { resource_type, sandbox_ids: [made, fresh, other] }
    const { status, body } = await promoter.promote({ ...order, dry_run: true })
    expect([status, body.dry_run, body.created]).toEqual([201, true, []])
    expect([await listed(path), await eventsOf()]).toEqual([before, told])
    const applied = await promoter.promote({ ...order, plan_id: body.id })
    expect([applied.status, applied.body.plan]).toEqual([201, body.plan])
    expect(body.plan.map(({ action }: { action: string }) => action)).toEqual([
      'unchanged',
      'create',
      'differs',
    ])
    expect(applied.body.created.map(({ sandbox_id }: { sandbox_id: string }) => sandbox_id)).toEqual([fresh])
  })

  test('a promotion of an object that is missing, of another type, or of another tenant’s sandbox is refused by its field', async () => {
    const theirs = await openPromoter(service, await makeTenant(service), current)
    const [id, foreign] = [await make1(), await make(theirs.sandbox, path, content)]
    const other = await make(promoter.live, path, content)
    const strange = [foreign, other, `${id.split('_')[0]}_00000000000000000000000000`, '', 'x'.repeat(64), id]
    const answer = await promoter.promote({ resource_type, sandbox_ids: [id, ...strange] })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_failed'])
    expect(answer.body.error.details.map(({ field }: { field: string }) => field)).toEqual(
      strange.map((_, index) => `sandbox_ids[${index + 1}]`),
    )
    expect(await listed(path)).toHaveLength(1) // the other, made in live
  })
})

test('types that are none of those, and ids of another type, are refused', async () => {
  const id = await make(promoter.sandbox, '/v1/pass_templates', TEMPLATE)
  expect(fault(await promoter.promote({ resource_type: 'pass', sandbox_ids: [id] }))).toEqual([
    422,
    'validation_failed',
    'resource_type',
  ])
  expect(fault(await promoter.promote({ resource_type: 'card_program', sandbox_ids: [id] }))).toEqual([
    422,
    'validation_failed',
    'sandbox_ids[0]',
  ])
  for (const sandbox_ids of [[], Array(101).fill(id), id, [7], [null]]) {
    expect((await promoter.promote({ resource_type: 'pass_template', sandbox_ids })).status).toBe(422)
  }
})

describe('the key of the sandbox', () => {
  const order = async (through = promoter) => ({
    resource_type: 'pass_template',
    sandbox_ids: [await make(through.sandbox, '/v1/pass_templates', TEMPLATE)],
  })
  const HEADER = 'Service-Sandbox-Authorization'
  const keyOf = async (options: Parameters<typeof makeKey>[2], tenantId = promoter.tenantId) =>
    (await makeKey(service, tenantId, options)).secret

  test('the key of the sandbox is needed, and is checked as it would be there', async () => {
    const body = await order()
    const revoked = await makeKey(service, promoter.tenantId, { scope: 'admin' })
    await revokeKey(service.operator, revoked.id)
    service.forget()
    const good = promoter.sandboxKey.secret
    const cases: readonly (readonly [string, string | null, number, string])[] = [
      ['absent', null, 400, 'missing_field'],
      ['no key', 'nonsense', 401, 'invalid_api_key'],
      ['mistyped', `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`, 401, 'invalid_api_key'],
      ['revoked', revoked.secret, 401, 'revoked_api_key'],
      ['of live', await keyOf({ environment: 'live', scope: 'admin' }), 401, 'environment_mismatch'],
      ['of another', await keyOf({ scope: 'admin' }, await makeTenant(service)), 401, 'invalid_api_key'],
      ['used elsewhere', await keyOf({ scope: 'admin', allowIps: ['10.0.0.0/8'] }), 403, 'ip_not_allowed'],
      ['of a lower scope', await keyOf({ scope: 'write' }), 403, 'insufficient_scope'],
      ['publishable', await keyOf({ kind: 'publishable' }), 403, 'publishable_key_not_allowed'],
    ]
    for (const [about, as, status, code] of cases) {
      expect([about, ...fault(await promoter.promote(body, { as }))]).toEqual([about, status, code, HEADER])
    }
    expect(await listed('/v1/pass_templates')).toEqual([])
    expect((await promoter.promote(body)).status).toBe(201)
  })

  test('a stored answer is not shown to one that was revoked since', async () => {
    const [body, key] = [await order(), randomUUID()]
    const first = await promoter.promote(body, { key })
    const again = await promoter.promote(body, { key })
    expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
    await revokeKey(service.operator, promoter.sandboxKey.id)
    service.forget()
    expect(fault(await promoter.promote(body, { key }))).toEqual([401, 'revoked_api_key', HEADER])
  })

  test('the key of the sandbox never stands in an answer, in what is stored, or in the audit log', async () => {
    const { text } = await promoter.promote(await order())
    const text2 = (await promoter.live('/v1/audit_log')).text
    expect(text + text2).not.toContain(promoter.sandboxKey.secret)
  })
})

describe('rules of live', () => {
  test('addresses have to be public and https; where one is refused, none is copied', async () => {
    const urls = [
      'https://93.184.215.14/a',
      'http://93.184.215.14/a',
      'http://127.0.0.1:9999/a',
      'https://127.0.0.1/a',
    ]
    const ids = []
    for (const url of urls)
      ids.push(await make(promoter.sandbox, '/v1/webhook-endpoints', { ...ENDPOINT, url }))
    const order = { resource_type: 'webhook_endpoint', sandbox_ids: ids }
    const planned = await promoter.promote({ ...order, dry_run: true })
    const steps = (body: { plan: { action: string; problems: { field: string }[] }[] }) =>
      body.plan.map(({ action, problems }) => [action, ...problems.map(({ field }) => field)])
    expect(steps(planned.body)).toEqual([
      ['create'],
      ['refused', 'url'],
      ['refused', 'url'],
      ['refused', 'url'],
    ])
    const applied = await promoter.promote(order)
    expect([applied.status, applied.body.plan, applied.body.created]).toEqual([201, planned.body.plan, []])
    expect(await listed('/v1/webhook-endpoints')).toEqual([])
    expect(await eventsOf()).toEqual([])
  })

  test('an environment has room for 100 endpoints', async () => {
    for (let count = 0; count < 99; count += 1) await make(promoter.live, '/v1/webhook-endpoints', ENDPOINT)
    const ids = [
      await make(promoter.sandbox, '/v1/webhook-endpoints', ENDPOINT),
      await make(promoter.sandbox, '/v1/webhook-endpoints', ENDPOINT),
    ]
    const both = await promoter.promote({ resource_type: 'webhook_endpoint', sandbox_ids: ids })
    expect(both.body.plan.map(({ action }: { action: string }) => action)).toEqual(['create', 'refused'])
    expect(both.body.created).toEqual([])
    const one = await promoter.promote({ resource_type: 'webhook_endpoint', sandbox_ids: ids.slice(1) })
    expect(one.body.created).toHaveLength(1)
  }, 60_000)

  test('card programs wait until the business is verified', async () => {
    promoter = await openPromoter(service, await makeTenant(service), current)
    const order = {
      resource_type: 'card_program',
      sandbox_ids: [await make(promoter.sandbox, '/v1/card_programs', PROGRAM)],
    }
    const { body } = await promoter.promote(order)
    expect(body.plan[0]).toMatchObject({
      action: 'refused',
      problems: [{ issue: expect.stringMatching(/verified/) }],
    })
    await verifyTenant(service.operator, promoter.tenantId)
    service.forget()
    expect((await promoter.promote(order)).body.created).toHaveLength(1)
  })

  test('an archived or disabled object is not copied; a copy that is archived or disabled differs', async () => {
    const template = await make(promoter.sandbox, '/v1/pass_templates', TEMPLATE)
    const ended = await make(promoter.sandbox, '/v1/pass_templates', TEMPLATE)
    const order = { resource_type: 'pass_template', sandbox_ids: [template] }
    const { live_id } = (await promoter.promote(order)).body.created[0]
    await promoter.live(`/v1/pass_templates/${live_id}/archive`, { method: 'POST' })
    await promoter.sandbox(`/v1/pass_templates/${ended}/archive`, { method: 'POST' })
    const { body } = await promoter.promote({ ...order, sandbox_ids: [template, ended] })
    expect(body.plan).toMatchObject([
      { action: 'differs', differences: [{ field: 'status', sandbox: '"active"', live: '"archived"' }] },
      { action: 'refused', problems: [{ field: 'status' }] },
    ])
    const endpoint = await make(promoter.sandbox, '/v1/webhook-endpoints', ENDPOINT)
    await promoter.sandbox(`/v1/webhook-endpoints/${endpoint}`, {
      method: 'PATCH',
      body: { status: 'disabled' },
    })
    const off = await promoter.promote({ resource_type: 'webhook_endpoint', sandbox_ids: [endpoint] })
    expect(off.body.plan).toMatchObject([{ action: 'refused', problems: [{ field: 'status' }] }])
  })
})

test('a copy that was deleted is made again', async () => {
  const id = await make(promoter.sandbox, '/v1/webhook-endpoints', ENDPOINT)
  const order = { resource_type: 'webhook_endpoint', sandbox_ids: [id] }
  const first = (await promoter.promote(order)).body.created[0].live_id
  await promoter.live(`/v1/webhook-endpoints/${first}`, { method: 'DELETE' })
  const second = (await promoter.promote(order)).body.created[0].live_id
  expect(second).not.toBe(first)
  expect((await promoter.promote(order)).body.plan).toMatchObject([{ live_id: second, action: 'unchanged' }])
})

test('a copied endpoint has a secret of its own and gets what comes after it', async () => {
  const sandbox = await promoter.sandbox('/v1/webhook-endpoints', { body: ENDPOINT })
  const { body } = await promoter.promote({
    resource_type: 'webhook_endpoint',
    sandbox_ids: [sandbox.body.id],
  })
  const { live_id } = body.created[0]
  const secretOf = async (table: string, id: string) => {
    const text = `SELECT secret FROM ${table} WHERE id = $1`
    return (await service.database.control.query<{ secret: Buffer }>({ text }, [id])).rows[0]!.secret
  }
  const own = await secretOf('live.webhook_endpoints', live_id)
  expect(own.equals(await secretOf('sandbox.webhook_endpoints', sandbox.body.id))).toBe(false)
  const rotated = await promoter.live(`/v1/webhook-endpoints/${live_id}/rotate_secret`, { method: 'POST' })
  expect(rotated.body.secret).not.toBe(sandbox.body.secret)
})

describe('a plan that has become another one', () => {
  const dryRun = async (count = 2) => {
    const sandbox_ids = []
    for (let made = 0; made < count; made += 1)
      sandbox_ids.push(await make(promoter.sandbox, '/v1/pass_templates', TEMPLATE))
    const order = { resource_type: 'pass_template', sandbox_ids }
    const { body } = await promoter.promote({ ...order, dry_run: true })
    return { order, plan_id: body.id as string }
  }

  test('a plan that has become another one is not carried out: the answer says what has changed', async () => {
    const { order, plan_id } = await dryRun(3)
    const [first, second] = order.sandbox_ids
    await promoter.promote({ ...order, sandbox_ids: [first] })
    await promoter.sandbox(`/v1/pass_templates/${second}`, { method: 'PATCH', body: { name: 'Tea club' } })
    const late = await promoter.promote({ ...order, plan_id })
    expect([late.status, late.body.error.code]).toEqual([409, 'invalid_state'])
    expect(late.body.error.details).toEqual([
      { field: 'sandbox_ids[0]', issue: 'was planned to be created, but would now be left unchanged' },
      { field: 'sandbox_ids[1]', issue: 'has changed in the sandbox since the dry run' },
    ])
    expect(await listed('/v1/pass_templates')).toHaveLength(1)
    expect((await promoter.promote(order)).body.created).toHaveLength(2)
  })

  test('a plan that has become another one has to be a dry run of the same', async () => {
    const { order, plan_id } = await dryRun()
    const other = await openPromoter(service, await makeTenant(service), current)
    const applied = (await promoter.promote({ ...order, sandbox_ids: order.sandbox_ids.slice(1) })).body.id
    const cases: readonly (readonly [string, object])[] = [
      ['in another order', { ...order, sandbox_ids: order.sandbox_ids.toReversed(), plan_id }],
      ['of fewer', { ...order, sandbox_ids: order.sandbox_ids.slice(1), plan_id }],
      ['no dry run', { ...order, plan_id: applied }],
      ['unknown', { ...order, plan_id: 'prm_00000000000000000000000000' }],
      ['itself a dry run', { ...order, plan_id, dry_run: true }],
      ['malformed', { ...order, plan_id: 'prm_1' }],
    ]
    for (const [about, body] of cases) {
      expect([about, ...fault(await promoter.promote(body))]).toEqual([
        about,
        422,
        'validation_failed',
        'plan_id',
      ])
    }
    const theirs = await make(other.sandbox, '/v1/pass_templates', TEMPLATE)
    const foreign = await other.promote({ resource_type: 'pass_template', sandbox_ids: [theirs], plan_id })
    expect(fault(foreign)).toEqual([422, 'validation_failed', 'plan_id'])
  })
})

test('one promotion of much is bounded, by what is read and by what is shown', async () => {
  const { body: made } = await promoter.sandbox('/v1/pass_templates', {
    body: { ...TEMPLATE, metadata: { text: 'x'.repeat(400) } },
  })
  const order = { resource_type: 'pass_template', sandbox_ids: [made.id] }
  await promoter.promote(order)
  await promoter.sandbox(`/v1/pass_templates/${made.id}`, {
    method: 'PATCH',
    body: { metadata: { text: `${'x'.repeat(399)}y` } },
  })
  const [difference] = (await promoter.promote(order)).body.plan[0].differences
  expect(difference.field).toBe('metadata.text')
  expect(JSON.parse(difference.sandbox)).toMatch(/^x{60}… \(402 characters, SHA-256 [0-9a-f]{16}…\)$/)
  expect(difference.sandbox).not.toBe(difference.live)
})

test('the audit log tells of the promotion and of each copy', async () => {
  const ids = [
    await make(promoter.sandbox, '/v1/pass_templates', TEMPLATE),
    await make(promoter.sandbox, '/v1/pass_templates', TEMPLATE),
  ]
  const { body } = await promoter.promote({ resource_type: 'pass_template', sandbox_ids: ids })
  const { data } = (await promoter.live('/v1/audit_log?order=asc')).body
  const entries = data.map(({ action, target_id }: Record<string, string>) => [action, target_id])
  expect(entries.slice(-3)).toEqual([
    ['pass_template.created', body.created[0].live_id],
    ['pass_template.created', body.created[1].live_id],
    ['promotion.created', body.id],
  ])
  const told = (await eventsOf()).map(({ type, data: of }: { type: string; data: object }) => [type, of])
  expect(told.map(([type]: [string]) => type)).toEqual([
    ...['pass_template.created', 'promotion.created'],
    ...['pass_template.created', 'promotion.created'],
  ])
  expect(told[1][1]).toEqual({ promotion: { resource_type: 'pass_template', ...body.created[0] } })
})

describe.each(versions)('in $name', ({ name }) => {
  test('templates and endpoints are promoted, card programs where there are cards', async () => {
    const tenantId = await makeTenant(service, 'enterprise', name)
    await verifyTenant(service.operator, tenantId)
    const own = await openPromoter(service, tenantId, name)
    const hasCards = name !== '2025-06-01'
    for (const [resource_type, path, content] of TYPES) {
      if (resource_type === 'card_program' && !hasCards) continue
      const body = resource_type === 'webhook_endpoint' ? { ...content, enabled_events: ['*'] } : content
      const id = await make(own.sandbox, path, body)
      const promoted = await own.promote({ resource_type, sandbox_ids: [id] })
      expect([resource_type, promoted.status, promoted.body.created?.length]).toEqual([resource_type, 201, 1])
      const copy = (await own.live(`${path}/${promoted.body.created[0].live_id}`)).body
      expect(contentOf(copy)).toEqual(contentOf((await own.sandbox(`${path}/${id}`)).body))
    }
    const { data } = (await own.live('/v1/promotions?order=asc')).body
    expect(data).toHaveLength(hasCards ? 3 : 2)
    const types = (await own.live('/v1/events')).body.data.map(({ type }: { type: string }) => type)
    expect(types.filter((type: string) => type === 'promotion.created')).toHaveLength(data.length)
    expect((await own.sandbox('/v1/promotions')).status).toBe(404)
  })
})

test('promotions of card programs are left out of lists in a version without cards', async () => {
  const id = await make(promoter.sandbox, '/v1/card_programs', PROGRAM)
  const made = await promoter.promote({ resource_type: 'card_program', sandbox_ids: [id] })
  expect(made.status).toBe(201)
  const old = { headers: { 'Service-Version': '2025-06-01' } }
  expect((await promoter.live('/v1/promotions', old)).body.data).toEqual([])
  expect((await promoter.live('/v1/promotions')).body.data).toHaveLength(1)
})

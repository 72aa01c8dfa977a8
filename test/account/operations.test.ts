/** What changes an account: billing, all its keys, the whole sandbox. */
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CLOSED_TABLES, KEPT_TABLES, WIPED_TABLES } from '../../runtime/account/account/wipe-queries.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { retireKey, revokeKey } from '../../runtime/tenants/admin/keys.ts'
import { issuePass, makeTemplate, VERSIONS } from '../api/fixtures.ts'
import { planAll } from '../support/planning.ts'
import { makeKey, makeTenant, START, speak, useService } from '../support/service.ts'
import { type Confirmer, holdMachineClock, type MachineClock, makeConfirmer } from './confirmers.ts'

const service = useService()
let machine: MachineClock
let tenantId: string
let key: { readonly id: string; readonly secret: string }
let owner: Confirmer

beforeAll(async () => {
  machine = holdMachineClock(service)
})
beforeEach(async () => {
  machine.toNewCodes()
  tenantId = await makeTenant(service, 'standard')
  key = await makeKey(service, tenantId, { scope: 'admin' })
  owner = await makeConfirmer(service, machine, tenantId)
})

/** Sends with a factor that nobody has used; `steps` tells codes of one moment apart. */
const confirmed = (path: string, method: string, body?: object, headers: object = {}, steps = 0) =>
  speak(service.urls.sandbox, { secret: key.secret })(path, {
    method,
    ...(body && { body }),
    headers: { 'Service-Factor': owner.code(steps), ...headers },
  })

const query = async (text: string, ...values: readonly unknown[]) =>
  (await service.database.control.query({ text }, values)).rows

const me = async (secret: string) => {
  service.forget()
  const { status, body } = await speak(service.urls.sandbox, { secret })('/v1/me')
  return status === 200 ? body : status
}

const log = async (environment: 'sandbox' | 'live', filter: string) => {
  const { secret } = await makeKey(service, tenantId, { environment, scope: 'admin' })
  return (await speak(service.urls[environment], { secret })(`/v1/audit_log?${filter}`)).body.data
}

describe('billing', () => {
  const billing = (body: object, steps = 0) => confirmed('/v1/account/billing', 'PATCH', body, {}, steps)

  const stored = async () =>
    (await query('SELECT plan, billing_email FROM control.tenants WHERE id = $1', tenantId))[0]

  test('the billing of an account is changed member by member', async () => {
    const { status, body } = await billing({ plan: 'enterprise', billing_email: 'a@example.com' })
    expect([status, body.tenant]).toEqual([200, { id: tenantId, name: 'Harbour Coffee', plan: 'enterprise' }])
    expect(await stored()).toEqual({ plan: 'enterprise', billing_email: 'a@example.com' })
    expect((await me(key.secret)).tenant.plan).toBe('enterprise')
    expect((await billing({ billing_email: null }, 1)).body.tenant.plan).toBe('enterprise')
    expect(await stored()).toEqual({ plan: 'enterprise', billing_email: null })
    expect((await billing({}, -1)).status).toBe(200)
    expect(await stored()).toEqual({ plan: 'enterprise', billing_email: null })
  })

  test.each([{ plan: 'trial' }, { plan: null }, { billing_email: 'x' }, { name: 'x' }])(
    'a change of billing to %j is refused and stores nothing',
    async (body) => {
      expect((await billing(body)).status).toBe(422)
      expect(await stored()).toEqual({ plan: 'standard', billing_email: null })
    },
  )

  test('the billing of an account makes every node look again, in the transaction of the change', async () => {
    const revision = async () => Number((await query('SELECT revision FROM control.revision'))[0]?.revision)
    const before = await revision()
    await billing({ plan: 'enterprise' })
    expect(await revision()).toBe(before + 1)
  })

  test('concerns the account: the logs of both environments tell of it, in whole chains', async () => {
    const answer = await billing({ plan: 'enterprise' })
    for (const environment of ['sandbox', 'live'] as const) {
      expect(await log(environment, 'action=billing.updated')).toMatchObject([
        {
          environment: null,
          actor: { type: 'key', id: key.id },
          target_id: tenantId,
          request_id: answer.headers.get('Request-Id'),
        },
      ])
      await verifyAudit(service.operator, tenantId, environment)
    }
  })

  test.each(VERSIONS)('a change of billing is answered in version %s', async (version) => {
    const call = { body: { plan: 'enterprise' }, headers: { 'Service-Version': version } }
    const { status, body } = await confirmed('/v1/account/billing', 'PATCH', call.body, call.headers)
    expect([status, body.version, body.tenant.plan]).toEqual([200, version, 'enterprise'])
  })

  test('changes of billing and writes of both environments wait for each other in one order', async () => {
    const live = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
    const members = await Promise.all([1, 2, 3].map(() => makeConfirmer(service, machine, tenantId)))
    const answers = await Promise.all(
      [...members.entries()].flatMap(([index, member]) => [
        speak(service.urls[index % 2 ? 'live' : 'sandbox'], { secret: index % 2 ? live.secret : key.secret })(
          '/v1/account/billing',
          { method: 'PATCH', body: { plan: 'standard' }, headers: { 'Service-Factor': member.code() } },
        ),
        makeTemplate(speak(service.urls.live, { secret: live.secret })).then(() => ({ status: 200 })),
        makeTemplate(speak(service.urls.sandbox, { secret: key.secret })).then(() => ({ status: 200 })),
      ]),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    for (const environment of ['sandbox', 'live'] as const)
      await verifyAudit(service.operator, tenantId, environment)
  })
})

describe('rotation', () => {
  const rotate = (headers: object = {}, steps = 0) =>
    confirmed('/v1/account/rotate_credentials', 'POST', undefined, headers, steps)

  test('a rotation of credentials gives every secret key of the environment that is in use a successor', async () => {
    const reader = await makeKey(service, tenantId, { scope: 'read', allowIps: ['127.0.0.0/8'] })
    const others = {
      live: await makeKey(service, tenantId, { environment: 'live' }),
      publishable: await makeKey(service, tenantId, { kind: 'publishable' }),
      retired: await makeKey(service, tenantId),
      revoked: await makeKey(service, tenantId),
      stranger: await makeKey(service, await makeTenant(service)),
    }
    await retireKey(service.operator, others.retired.id)
    await revokeKey(service.operator, others.revoked.id)
    const { status, body } = await rotate()
    expect([status, body.object]).toEqual([200, 'credential_rotation'])
    const replaced = body.keys.map((each: { replaces_key_id: string }) => each.replaces_key_id)
    expect(replaced.toSorted()).toEqual([key.id, reader.id].toSorted())
    const successor = body.keys.find(
      (each: { replaces_key_id: string }) => each.replaces_key_id === reader.id,
    )
    expect((await me(successor.secret)).key).toEqual({ id: successor.id, kind: 'secret', scope: 'read' })
    const text =
      'SELECT allowed_ips, replaces_id, member_id IS NOT NULL AS owned FROM control.keys WHERE id = $1'
    expect(await query(text, successor.id)).toEqual([
      { allowed_ips: ['127.0.0.0/8'], replaces_id: reader.id, owned: true },
    ])
    for (const [seconds, old] of [
      [86_399, reader.id],
      [86_400, 401],
    ] as const) {
      service.clock.now = START + seconds * 1000
      const answer = await me(reader.secret)
      expect(typeof answer === 'number' ? answer : answer.key.id).toBe(old)
      expect((await me(successor.secret)).key.id).toBe(successor.id)
    }
  })

  test('a second rotation rotates the successors, never a key twice', async () => {
    const first = (await rotate()).body.keys
    const second = (await rotate({}, 1)).body.keys
    expect(second.map((each: { replaces_key_id: string }) => each.replaces_key_id)).toEqual(
      first.map(({ id }: { id: string }) => id),
    )
  })

  test('many concurrent rotations come one after the other', async () => {
    const members = await Promise.all([1, 2, 3, 4].map(() => makeConfirmer(service, machine, tenantId)))
    const answers = await Promise.all(members.map((member) => rotate({ 'Service-Factor': member.code() })))
    const replaced = answers.map(({ body }) => body.keys[0].replaces_key_id)
    expect(new Set(replaced).size).toBe(4)
    expect(replaced).toContain(key.id)
    await verifyAudit(service.operator, tenantId, 'sandbox')
  })

  test('a repeated rotation shows the same secrets, which the database does not hold openly', async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    const first = await rotate(headers)
    const again = await rotate(headers, 1)
    expect(again.text).toBe(first.text)
    const secret = first.body.keys[0].secret
    const rows = await query('SELECT * FROM sandbox.idempotency_answers WHERE tenant_id = $1', tenantId)
    expect(rows).toMatchObject([{ body: null, sealed: expect.any(Buffer) }])
    const tables = await query(
      `SELECT schemaname AS s, tablename AS t FROM pg_tables WHERE schemaname IN ('control', 'sandbox', 'live')`,
    )
    for (const { s, t } of tables) {
      const found = await query(
        `SELECT 1 FROM ${s}.${t} AS row WHERE row::text LIKE '%' || $1 || '%' LIMIT 1`,
        secret.slice(15, 50),
      )
      expect([t, found]).toEqual([t, []])
    }
  })

  test('sealed answers open under their own key alone', async () => {
    const [one, other] = [randomUUID(), randomUUID()]
    await rotate({ 'Idempotency-Key': one })
    await query(
      `INSERT INTO sandbox.idempotency_answers SELECT tenant_id, $2, fingerprint, status, body, head, created, sealed
         FROM sandbox.idempotency_answers WHERE tenant_id = $3 AND key = $1`,
      one,
      other,
      tenantId,
    )
    const answer = await rotate({ 'Idempotency-Key': other }, 1)
    expect([answer.status, answer.body.error.code]).toEqual([500, 'internal_error'])
  })

  test('a rotation of credentials is told key by key', async () => {
    await rotate()
    expect(await log('sandbox', 'action=key.rotated')).toMatchObject([
      { target_id: key.id, actor: { type: 'key', id: key.id }, environment: 'sandbox' },
    ])
    expect(await log('sandbox', 'action=credentials.rotated')).toHaveLength(1)
    expect(await log('live', 'action=key.rotated')).toEqual([])
  })
})

describe('a wipe', () => {
  const wipe = (body: object = { confirm: 'wipe' }, headers: object = {}, steps = 0) =>
    confirmed('/v1/account/wipe_sandbox', 'POST', body, headers, steps)

  const sandbox = () => speak(service.urls.sandbox, { secret: key.secret })

  const count = async (send = sandbox()) => (await send('/v1/passes/count')).body.count

  test('a wipe of the sandbox deletes what the tenant has in the sandbox and nothing else', async () => {
    const live = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
    const stranger = await makeKey(service, await makeTenant(service))
    const others = [
      speak(service.urls.live, { secret: live.secret }),
      speak(service.urls.sandbox, { secret: stranger.secret }),
    ]
    for (const send of [sandbox(), ...others]) {
      const templateId = await makeTemplate(send)
      await makeTemplate(send)
      const hook = { url: 'https://93.184.215.14/hooks', enabled_events: ['pass.created'] }
      expect((await send('/v1/webhook-endpoints', { body: hook })).status).toBe(201)
      for (let made = 0; made < 3; made += 1) await issuePass(send, templateId)
    }
    await planAll(service.database.sandbox)
    const before = await log('sandbox', 'limit=100')
    const { status, body } = await wipe()
    // Every kind of record is counted, also those that there are none of.
    const deleted = Object.fromEntries(Object.entries(body.deleted).filter(([, count]) => count !== 0))
    expect([status, { ...body, deleted }]).toEqual([
      200,
      {
        object: 'wipe',
        deleted: { pass: 3, pass_template: 2, webhook_endpoint: 1, webhook_delivery_attempt: 3, event: 5 },
      },
    ])
    expect([await count(), (await sandbox()('/v1/pass_templates')).body.data]).toEqual([0, []])
    for (const send of others) {
      expect([await count(send), (await send('/v1/pass_templates')).body.data.length]).toEqual([3, 2])
    }
    const after = await log('sandbox', 'limit=100&order=asc')
    expect(after.length).toBeGreaterThan(before.length)
    expect(await log('sandbox', 'action=sandbox.wiped')).toMatchObject([{ outcome: 'succeeded' }])
    await verifyAudit(service.operator, tenantId, 'sandbox')
    expect((await me(key.secret)).version).toBe('2026-05-19')
  })

  test('a wipe of the sandbox is repeated without another effect', async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    await makeTemplate(sandbox())
    const first = await wipe(undefined, headers)
    await makeTemplate(sandbox())
    const again = await wipe(undefined, headers, 1)
    expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
    expect((await sandbox()('/v1/pass_templates')).body.data).toHaveLength(1)
  })

  test.each([{}, { confirm: 'Wipe' }, { confirm: true }])(
    'a wipe of the sandbox asks for its confirmation: %j',
    async (body) => {
      expect((await wipe(body)).status).toBe(422)
    },
  )

  test('a wipe of the sandbox is not there in live', async () => {
    const { secret } = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
    const send = speak(service.urls.live, { secret })
    const call = { body: { confirm: 'wipe' }, headers: { 'Service-Factor': owner.code() } }
    expect((await send('/v1/account/wipe_sandbox', call)).status).toBe(404)
  })

  test('a wipe of the sandbox while passes are issued leaves none without its template', async () => {
    const templateId = await makeTemplate(sandbox())
    const issuing = Array.from({ length: 30 }, () =>
      sandbox()('/v1/passes', { body: { template_id: templateId } }),
    )
    const [wiped, ...issued] = await Promise.all([wipe(), ...issuing])
    expect(wiped.status).toBe(200)
    const made = issued.filter(({ status }) => status === 201).length
    expect(issued.every(({ status }) => status === 201 || status === 422)).toBe(true)
    expect(wiped.body.deleted.pass).toBe(made)
    expect(await count()).toBe(0)
  })

  test('a wipe of the sandbox knows every table of an environment', async () => {
    const rows = await query(
      `SELECT relname AS name FROM pg_class
        WHERE relnamespace = 'sandbox'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    )
    const names = rows.map(({ name }) => String(name))
    const known: readonly string[] = [...WIPED_TABLES, ...CLOSED_TABLES, ...KEPT_TABLES]
    const file = 'runtime/account/account/wipe-queries.ts'
    const lacking = names.filter((name) => !known.includes(name))
    expect(lacking.map((name) => `${file}: neither WIPED nor KEPT_TABLES has ${name}`)).toEqual([])
    expect(known.filter((name) => !names.includes(name))).toEqual([])
  })
})

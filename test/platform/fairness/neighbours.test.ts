/** What one tenant does within its limits takes nothing from another: neither connections nor turns. */
import { type ClientRequest, request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { issuePass, makeTemplate, speakFor } from '../../api/fixtures.ts'
import { until } from '../../support/programs.ts'
import { type Answer, makeKey, makeTenant, type Send, useService } from '../../support/service.ts'

/** As many as a tenant may have under way. */
const AT_ONCE = 64

const service = useService({ poolSize: 10, guarded: false, watched: true })
let tenantId: string
let noisy: Send
let quiet: Send
let templateId: string
let passIds: string[]
let quietPassId: string
let quietTemplateId: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  noisy = await speakFor(service, tenantId)
  quiet = await speakFor(service, await makeTenant(service))
  templateId = await makeTemplate(noisy)
  quietTemplateId = await makeTemplate(quiet)
  const passes = Array.from({ length: 100 }, () => ({ template_id: templateId }))
  const { body } = await noisy('/v1/passes/batch', { body: { passes } })
  passIds = body.results.map(({ pass }: { pass: { id: string } }) => pass.id)
  quietPassId = (await issuePass(quiet, quietTemplateId)).id
})

const repeat = (work: () => Promise<Answer>, times = AT_ONCE) => Array.from({ length: times }, work)

const updateSome = () =>
  noisy('/v1/passes/batch_update', {
    body: { updates: passIds.slice(0, 10).map((id) => ({ id, metadata: { seen: 'yes' } })) },
  })

const statuses = async (answers: readonly Promise<Answer>[]) =>
  new Set((await Promise.all(answers)).map(({ status }) => status))

/** One of everything that a tenant who wants nothing special does; gives the statuses. */
async function goAboutBusiness(send: Send, template: string, pass: string): Promise<number[]> {
  const answers = [
    await send('/v1/me'),
    await send(`/v1/passes/${pass}`),
    await send('/v1/passes'),
    await send('/v1/passes', { body: { template_id: template } }),
    await send(`/v1/passes/${pass}`, { method: 'PATCH', body: { metadata: { seen: 'yes' } } }),
    await send('/v1/passes/pass_00000000000000000000000000/revoke', { body: {} }),
    await send('/v1/passes/count'),
  ]
  return answers.map(({ status }) => status)
}

const AS_USUAL = [200, 200, 200, 201, 200, 404, 200]

const business = () => goAboutBusiness(quiet, quietTemplateId, quietPassId)

/** Statements that wait for a lock or sleep on behalf of the environment's role. */
async function blocked(): Promise<number> {
  const { rows } = await service.database.control.query<{ count: number }>({
    text: `SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database()
             AND application_name = 'svc sandbox' AND wait_event_type = 'Lock'`,
  })
  return rows[0]!.count
}

/** Works while somebody holds rows of the tenant and does not let go. */
const whileHeld = <T>(statement: string, work: () => Promise<T>): Promise<T> =>
  service.database.control.transaction(async (db) => {
    await db.query({ text: `SELECT 1 FROM sandbox.${statement} FOR UPDATE` }, [tenantId])
    return work()
  })

describe('while one tenant waits for its own locks, another is served: ', () => {
  test.each([
    ['updates of the same passes', 'passes WHERE tenant_id = $1', updateSome],
    [
      'writes at the end of its audit log',
      'audit_heads WHERE tenant_id = $1',
      () => noisy('/v1/passes', { body: { template_id: templateId } }),
    ],
    [
      'refusals that are written down',
      'audit_heads WHERE tenant_id = $1',
      () => noisy('/v1/passes/pass_00000000000000000000000000/revoke', { body: {} }),
    ],
  ])('another tenant is served while one waits for its own locks: %s', async (_, rows, write) => {
    let ended = 0
    const { answers, answered, before } = await whileHeld(rows, async () => {
      const answers = repeat(() => write().finally(() => (ended += 1)))
      await until('the tenant to wait for its lock', async () => (await blocked()) > 0)
      const answered = [await business(), await business()]
      return { answers, answered, before: ended }
    })
    expect(answered).toEqual([AS_USUAL, AS_USUAL])
    // Nothing of the other had ended: none of this was done in its pauses. Later it may have waited too long in its own queue.
    expect(before).toBe(0)
    for (const status of await statuses(answers)) expect([200, 201, 404, 503]).toContain(status)
  })

  test('four tenants who do so leave room for a fifth', async () => {
    const others = await Promise.all(
      [1, 2, 3].map(async () => {
        const id = await makeTenant(service)
        const send = await speakFor(service, id)
        return { id, send, templateId: await makeTemplate(send) }
      }),
    )
    const all = [{ id: tenantId, send: noisy, templateId }, ...others]
    const served = await service.database.control.transaction(async (db) => {
      const text = 'SELECT 1 FROM sandbox.audit_heads WHERE tenant_id = ANY ($1) FOR UPDATE'
      await db.query({ text }, [all.map(({ id }) => id)])
      let ended = 0
      const answers = all.flatMap(({ send, templateId: template_id }) =>
        repeat(() => send('/v1/passes', { body: { template_id } }).finally(() => (ended += 1)), 16),
      )
      // Of 6. The last is only for a tenant that has none: whether one of the four comes so late depends on their signatures.
      await until('connections for transactions to wait', async () => (await blocked()) >= 5)
      return { answers, answered: await business(), before: ended }
    })
    expect([served.answered, served.before]).toEqual([AS_USUAL, 0])
    expect(await statuses(served.answers)).toEqual(new Set([201]))
  })
})

describe('while one tenant reads what takes long, another is served: ', () => {
  /** Reads of the tenant's passes stop until the work is over: nobody may even look at them. */
  const whileStopped = <T>(work: () => Promise<T>): Promise<T> =>
    service.database.control.transaction(async (db) => {
      await db.query({ text: 'LOCK TABLE sandbox.passes IN ACCESS EXCLUSIVE MODE' })
      return work()
    })

  test.each([
    ['12 counts at once', 12, () => noisy('/v1/passes/count')],
    ['64 lists of 100 at once', AT_ONCE, () => noisy('/v1/passes?limit=100')],
  ])('another tenant is served while one reads what takes long: %s', async (_, times, read) => {
    const { answers, served } = await whileStopped(async () => {
      const answers = repeat(read, times)
      await until('the tenant to wait', async () => (await blocked()) > 0)
      const served = [
        (await quiet(`/v1/pass_templates`)).status,
        (await quiet('/v1/pass_templates', { body: { name: 'Tea', kind: 'loyalty', brand: BRAND } })).status,
        (await quiet('/v1/events')).status,
      ]
      return { answers, served }
    })
    expect(served).toEqual([200, 201, 200])
    expect(await statuses(answers)).toEqual(new Set([200]))
  })

  test('lists of 100 of a tenant come one at a time beside others', async () => {
    await quiet('/v1/me')
    const { answers, waiting } = await whileStopped(async () => {
      const answers = repeat(() => noisy('/v1/passes?limit=100'))
      await until('the tenant to wait', async () => (await blocked()) > 0)
      // A request of another tenant is answered: whatever else was to be sent has been.
      await quiet('/v1/pass_templates')
      return { answers, waiting: await blocked() }
    })
    expect(waiting).toBe(1)
    expect(await statuses(answers)).toEqual(new Set([200]))
  })

  test('counts of a tenant come one at a time, whichever tenants count', async () => {
    const other = await speakFor(service, await makeTenant(service))
    const { answers, load, waiting } = await whileStopped(async () => {
      const answers = repeat(() => noisy('/v1/passes/count'), 12)
      await until('the tenant to wait', async () => (await blocked()) > 0)
      const load = service.database.sandbox.load()
      const waiting = await blocked()
      return { answers: [...answers, other('/v1/passes/count')], load, waiting }
    })
    expect(waiting).toBe(1)
    expect(load).toMatchObject({ long: 1, busy: 0, statements: 0 })
    expect(await statuses(answers)).toEqual(new Set([200]))
  })
})

const BRAND = { background_color: '#1E3A5F', foreground_color: '#FFFFFF' }

test('bodies that never come take nothing from another tenant', async () => {
  const { secret } = await makeKey(service, tenantId)
  const stalled = Array.from({ length: AT_ONCE }, () => stall(secret))
  await until('all to be under way', async () => (await noisy('/v1/me')).status === 429)
  expect(await business()).toEqual(AS_USUAL)
  for (const each of stalled) each.destroy()
  await until('their slots to be free', async () => (await noisy('/v1/me')).status === 200)
})

/** A request whose body stops in the middle. */
function stall(secret: string): ClientRequest {
  const begun = request(`${service.urls.sandbox}/v1/passes`, {
    method: 'POST',
    agent: false,
    headers: {
      Authorization: `Bearer ${secret}`,
      'Content-Type': 'application/json',
      'Content-Length': 100,
      'Idempotency-Key': crypto.randomUUID(),
    },
  })
  begun.on('error', () => {}) // it is destroyed
  begun.write('{')
  return begun
}

test('a request that waits too long is answered 503 with Retry-After, for its tenant alone', async () => {
  const { late, answered } = await whileHeld('passes WHERE tenant_id = $1', async () => {
    const late = await updateSome()
    return { late, answered: await business() }
  })
  expect([late.status, late.body.error.code, late.headers.get('Retry-After')]).toEqual([
    503,
    'unavailable',
    '1',
  ])
  expect(late.body.error.message).toMatch(/took too long/)
  expect(answered).toEqual(AS_USUAL)
  expect((await updateSome()).status).toBe(200)
})

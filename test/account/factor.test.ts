/** The second factor of a request: codes, and pages on which members confirm. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DatabaseUnavailable } from '../../runtime/database/errors.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { type Answer, makeKey, makeTenant, speak, useService } from '../support/service.ts'
import {
  type Confirmer,
  holdMachineClock,
  type MachineClock,
  makeConfirmer,
  openForm,
  serveChallenges,
} from './confirmers.ts'

const service = useService()
let machine: MachineClock
let console: { readonly origin: string; close(): void }
let tenantId: string
let key: { readonly id: string; readonly secret: string }
let owner: Confirmer

beforeAll(async () => {
  machine = holdMachineClock(service)
  console = await serveChallenges(service)
})
afterAll(async () => {
  console.close()
})
beforeEach(async () => {
  machine.toNewCodes()
  tenantId = await makeTenant(service, 'standard')
  key = await makeKey(service, tenantId, { scope: 'admin' })
  owner = await makeConfirmer(service, machine, tenantId)
})

interface Asked {
  readonly email?: string
  readonly secret?: string
}

/** Changes where invoices go: the least that needs a factor. */
const change = (factor?: string, { email = 'a@example.com', secret = key.secret }: Asked = {}) =>
  speak(service.urls.sandbox, { secret })('/v1/account/billing', {
    method: 'PATCH',
    body: { billing_email: email },
    headers: { 'Service-Factor': factor ?? null },
  })

const rotate = (idempotencyKey: string, factor?: string) =>
  speak(service.urls.sandbox, { secret: key.secret })('/v1/account/rotate_credentials', {
    method: 'POST',
    headers: { 'Idempotency-Key': idempotencyKey, 'Service-Factor': factor ?? null },
  })

const email = async () => {
  const text = 'SELECT billing_email FROM control.tenants WHERE id = $1'
  return (await service.database.control.query({ text }, [tenantId])).rows[0]?.billing_email
}

const expectRequired = ({ status, body }: Answer) => {
  expect([status, body.error.type, body.error.code]).toEqual([403, 'permission_error', 'factor_required'])
  expect(body.error.challenge_url).toMatch(/^http:\/\/127\.0\.0\.1:4000\/challenges\/[0-9A-Za-z]{43}$/)
  return String(body.error.challenge_url)
}

describe('a code', () => {
  test('a code of a second factor opens the operation once', async () => {
    expectRequired(await change())
    expect(await email()).toBeNull()
    expect((await change(owner.code())).status).toBe(200)
    expect(await email()).toBe('a@example.com')
    expectRequired(await change(owner.code(), { email: 'b@example.com' }))
    expect(await email()).toBe('a@example.com')
  })

  test.each([
    [-2, 403],
    [-1, 200],
    [0, 200],
    [1, 200],
    [2, 403],
  ])('a code of %i steps from now is answered with %i', async (steps, status) => {
    expect((await change(owner.code(steps))).status).toBe(status)
  })

  test.each(['', '000', 'abcdef', '１２３４５６', '1234567', 'fct_', `fct_${'x'.repeat(43)}`, "' OR 1=1"])(
    'a request with the code %j is refused: it is not a code',
    async (text) => {
      expectRequired(await change(encodeURIComponent(text) === text ? text : ` ${encodeURIComponent(text)}`))
    },
  )

  test('a code of a second factor is good at once for one request of many', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => change(owner.code())))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test.each([
    ['developer', 200],
    ['viewer', 403],
  ] as const)('a request with a code of a %s is answered with %i', async (role, status) => {
    const member = await makeConfirmer(service, machine, tenantId, role)
    expect((await change(member.code())).status).toBe(status)
  })

  test('a code of another tenant’s member is refused', async () => {
    const stranger = await makeConfirmer(service, machine, await makeTenant(service))
    expectRequired(await change(stranger.code()))
  })

  test('a code of a second factor cannot be guessed: after ten wrong ones none is looked at for a quarter of an hour', async () => {
    const wrong = () => String((Number(owner.code()) + 7) % 1_000_000).padStart(6, '0')
    for (let tried = 0; tried < 10; tried += 1) expectRequired(await change(wrong()))
    expectRequired(await change(owner.code()))
    machine.now += 15 * 60_000 - 1000
    expectRequired(await change(owner.code()))
    machine.now += 1000
    expect((await change(owner.code())).status).toBe(200)
  })

  test('a right code clears the wrong ones before it', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (let tried = 0; tried < 6; tried += 1) await change('000000')
      expect((await change(owner.code())).status).toBe(200)
      machine.toNewCodes()
    }
  })

  test('a code is checked last: a request that is not valid does not use it up', async () => {
    const call = { method: 'PATCH', body: { plan: 'free' }, headers: { 'Service-Factor': owner.code() } }
    const send = speak(service.urls.sandbox, { secret: key.secret })
    expect((await send('/v1/account/billing', call)).status).toBe(422)
    const writer = await makeKey(service, tenantId)
    expect((await change(owner.code(), { secret: writer.secret })).body.error.code).toBe('insufficient_scope')
    expect((await change(owner.code())).status).toBe(200)
  })
})

describe('a POST', () => {
  test('a POST without a factor uses no key up, and its repetition needs a factor of its own', async () => {
    const id = randomUUID()
    expectRequired(await rotate(id))
    const first = await rotate(id, owner.code())
    expect([first.status, first.headers.get('Idempotency-Replayed')]).toEqual([200, null])
    expectRequired(await rotate(id))
    expectRequired(await rotate(id, owner.code()))
    const again = await rotate(id, owner.code(1))
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
    expect(again.text).toBe(first.text)
  })
})

describe('a challenge', () => {
  const pageOf = (url: string) => console.origin + new URL(url).pathname

  const right = () => ({ email: owner.email, password: owner.password, code: owner.code() })

  const challenge = async () => pageOf(expectRequired(await change()))

  test('a challenge page shows what is asked for, in a page that nobody frames, keeps or passes on', async () => {
    const { page, html } = await openForm(await challenge())
    expect(page.status).toBe(200)
    expect(html).toContain('<dd>Update billing</dd>')
    expect(html).toContain('Harbour Coffee, sandbox')
    expect(html).toContain(`ending in ${key.secret.slice(-4)}`)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'set-cookie': expect.stringMatching(/; Path=\/challenges\/.*HttpOnly; SameSite=Strict$/),
    })
  })

  test('completed, shows a token that is good once, for this request', async () => {
    const page = await challenge()
    const { status, factor } = await (await openForm(page)).send(right())
    expect([status, factor]).toEqual([200, expect.stringMatching(/^fct_[0-9A-Za-z]{43}$/)])
    expectRequired(await change(factor, { email: 'b@example.com' }))
    const other = await makeKey(service, tenantId, { scope: 'admin' })
    expectRequired(await change(factor, { secret: other.secret }))
    const live = await makeKey(service, tenantId, { scope: 'admin', environment: 'live' })
    const there = await speak(service.urls.live, { secret: live.secret })('/v1/account/billing', {
      method: 'PATCH',
      body: { billing_email: 'a@example.com' },
      headers: { 'Service-Factor': factor! },
    })
    expectRequired(there)
    expect(await email()).toBeNull()
    expect((await change(factor)).status).toBe(200)
    expectRequired(await change(factor))
    expect((await openForm(page)).page.status).toBe(410)
    const text = 'SELECT * FROM control.challenges WHERE tenant_id = $1'
    const stored = JSON.stringify((await service.database.control.query({ text }, [tenantId])).rows)
    expect(stored).not.toContain(factor!.slice(4))
    expect(stored).not.toContain(page.split('/').at(-1))
  })

  test('a challenge page has a token that is good for ten minutes, once among many', async () => {
    const late = await (await openForm(await challenge())).send(right())
    machine.now += 10 * 60_000
    expectRequired(await change(late.factor))
    const { factor } = await (await openForm(await challenge())).send(right())
    machine.now += 10 * 60_000 - 1
    const answers = await Promise.all(Array.from({ length: 6 }, () => change(factor)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403, 403, 403])
  })

  test('a challenge page runs out after ten minutes', async () => {
    const page = await challenge()
    const form = await openForm(page)
    machine.now += 10 * 60_000 - 1
    expect((await openForm(page)).page.status).toBe(200)
    machine.now += 1
    expect((await openForm(page)).page.status).toBe(410)
    expect((await form.send(right())).status).toBe(410)
  })

  test.each([
    ['another password', () => ({ ...right(), password: 'wrong' })],
    ['another’s e-mail', () => ({ ...right(), email: 'eve@example.com' })],
    ['a wrong code', () => ({ ...right(), code: '000000' })],
    ['no code', () => ({ ...right(), code: '' })],
    ['nothing', () => ({})],
  ])('a challenge page is not completed with %s, and says no more than that', async (_, fields) => {
    const answer = await (await openForm(await challenge())).send(fields())
    expect([answer.status, answer.factor]).toEqual([403, undefined])
    expect(answer.html).toContain('The email, password, or code is incorrect')
  })

  test('a challenge page is completed whatever the case of the e-mail and the spacing of the code', async () => {
    const code = owner.code().replace(/^.../, '$& ')
    const fields = { ...right(), email: ` ${owner.email.toUpperCase()} `, code }
    expect((await (await openForm(await challenge())).send(fields)).status).toBe(200)
  })

  test('a challenge page takes a code once, wherever it is used', async () => {
    expect((await change(owner.code())).status).toBe(200)
    expect((await (await openForm(await challenge())).send(right())).status).toBe(403)
  })

  test('a challenge page is void after five wrong tries', async () => {
    const page = await challenge()
    for (let tried = 0; tried < 5; tried += 1) {
      expect((await (await openForm(page)).send({ ...right(), password: 'x' })).status).toBe(403)
    }
    expect((await openForm(page)).page.status).toBe(410)
  })

  test('a challenge page is not completed by a viewer or another tenant’s member', async () => {
    for (const member of [
      await makeConfirmer(service, machine, tenantId, 'viewer'),
      await makeConfirmer(service, machine, await makeTenant(service)),
    ]) {
      const fields = { email: member.email, password: member.password, code: member.code() }
      expect((await (await openForm(await challenge())).send(fields)).status).toBe(403)
    }
  })

  test.each([
    ['no cookie', { cookie: '' }],
    ['another’s cookie', { cookie: `svc_challenge=${'0'.repeat(32)}` }],
    ['another field', { csrf: 'x' }],
    ['a form of another site', { headers: { 'Sec-Fetch-Site': 'cross-site' } }],
  ])('a challenge page is bound to its form: %s', async (_, over) => {
    const form = await openForm(await challenge())
    const answer = await form.send(right(), over)
    expect([answer.status, answer.factor]).toEqual([403, undefined])
    expect((await form.send(right())).status).toBe(200)
  })

  test('a challenge page is completed once by many at once', async () => {
    const form = await openForm(await challenge())
    const second = await makeConfirmer(service, machine, tenantId, 'developer')
    const answers = await Promise.all([
      form.send(right()),
      form.send({ email: second.email, password: second.password, code: second.code() }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410])
  })

  test.each([
    ['GET', 'x', 404],
    ['GET', 'x'.repeat(43), 404],
    ['GET', "'", 404],
    ['GET', '%zz', 400],
    ['POST', 'x'.repeat(43), 404],
    ['PUT', 'x'.repeat(43), 405],
  ])('%s of the challenge page %s is answered with %i', async (method, token, status) => {
    expect((await fetch(`${console.origin}/challenges/${token}`, { method })).status).toBe(status)
  })

  test('a challenge page does not read endless forms', async () => {
    const page = await challenge()
    const answer = await fetch(page, {
      method: 'POST',
      body: new URLSearchParams({ password: 'x'.repeat(9000) }),
    })
    expect(answer.status).toBe(413)
    expect(answer.headers.get('X-Frame-Options')).toBe('DENY')
  })

  test('a challenge page keeps the newest of too many', async () => {
    const pages: string[] = []
    for (let asked = 0; asked < 22; asked += 1) pages.push(await challenge())
    const statuses = await Promise.all(pages.map(async (page) => (await openForm(page)).page.status))
    expect(statuses.filter((status) => status === 404)).toHaveLength(1)
    expect(statuses.at(-1)).toBe(200)
  })

  test('escapes what others have named', async () => {
    const text = `UPDATE control.tenants SET name = '<script>"&' WHERE id = $1`
    await service.database.control.query({ text }, [tenantId])
    expect((await openForm(await challenge())).html).toContain('&lt;script&gt;&quot;&amp;, sandbox')
  })

  test('a challenge page is told in the audit log', async () => {
    const page = await challenge()
    await (await openForm(page)).send({ ...right(), password: 'x' })
    await (await openForm(page)).send(right())
    const { body } = await speak(service.urls.sandbox, { secret: key.secret })(
      '/v1/audit_log?action=factor.completed&order=asc',
    )
    expect(body.data).toMatchObject([
      { outcome: 'failed', actor: { type: 'member', id: null }, target_id: key.id, ip: '127.0.0.1' },
      { outcome: 'succeeded', actor: { type: 'member', id: owner.id }, target_id: key.id, request_id: null },
    ])
    await verifyAudit(service.operator, tenantId, 'sandbox')
  })

  test.each([
    [new DatabaseUnavailable('at 10.0.0.1'), 503],
    [new Error('SELECT secret FROM vault'), 500],
  ])('a challenge page that fails gives no reason: %s', async (fault, status) => {
    const failing = await serveChallenges(service, 'http://console.example', {
      open: () => Promise.reject(fault),
    })
    const answer = await fetch(`${failing.origin}/challenges/x`)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('X-Frame-Options')).toBe('DENY')
    expect(await answer.text()).not.toMatch(/SELECT|10\.0\.0\.1|\.ts/)
    failing.close()
  })

  test('a challenge page behind TLS sets a cookie that stays on its host', async () => {
    const secure = await serveChallenges(service, 'https://console.example')
    const { page } = await openForm(secure.origin + new URL(await challenge()).pathname)
    expect(page.headers.get('Set-Cookie')).toMatch(/; Secure$/)
    secure.close()
  })
})

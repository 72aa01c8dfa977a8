/** Where a tenant is asked about authorizations: set, shown, its secret rotated, removed. */
import { expect, test } from 'vitest'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const PATH = '/v1/authorization_endpoint'
const URL = 'http://127.0.0.1:9999/authorizations'

const service = useService({ env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' } })

async function sender(
  version = '2026-05-19',
  plan: 'enterprise' | 'standard' = 'enterprise',
  scope: 'admin' | 'write' = 'admin',
): Promise<Send> {
  const { secret } = await makeKey(service, await makeTenant(service, plan, version), { scope })
  return speak(service.urls.sandbox, { secret, version })
}

const put = (send: Send, body: object) => send(PATH, { method: 'PUT', body })

test.each(['2026-02-01', '2026-05-19'])(
  'the authorization endpoint in %s is set, shown, changed and removed',
  async (version) => {
    const send = await sender(version)
    expect((await send(PATH)).status).toBe(404)
    const { status, body } = await put(send, { url: URL })
    expect(status).toBe(200)
    const { secret, ...shown } = body
    expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
    expect(shown).toEqual({
      object: 'authorization_endpoint',
      url: URL,
      timeout_ms: 2000,
      default_action: 'decline',
      created: expect.any(String),
      updated: shown.created,
    })
    expect((await send(PATH)).body).toEqual(shown)
    const again = await put(send, { url: `${URL}/2`, timeout_ms: 150, default_action: 'approve' })
    expect(again.body).toEqual({
      ...shown,
      url: `${URL}/2`,
      timeout_ms: 150,
      default_action: 'approve',
      updated: expect.any(String),
    })
    expect((await send(PATH, { method: 'DELETE' })).body).toEqual({
      object: 'authorization_endpoint',
      deleted: true,
    })
    expect((await send(PATH, { method: 'DELETE' })).status).toBe(404)
    expect((await put(send, { url: URL })).body.secret).not.toBe(secret)
  },
)

test('one of many concurrent first requests shows the secret of the authorization endpoint', async () => {
  const send = await sender()
  const answers = await Promise.all(Array.from({ length: 8 }, () => put(send, { url: URL })))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(answers.filter(({ body }) => body.secret !== undefined)).toHaveLength(1)
})

test('a rotation shows another secret; without an endpoint there is none to rotate', async () => {
  const send = await sender()
  const rotate = () => send(`${PATH}/rotate_secret`, { method: 'POST' })
  expect((await rotate()).status).toBe(404)
  const { secret } = (await put(send, { url: URL })).body
  const rotated = await rotate()
  expect(rotated.body.secret).toMatch(/^whsec_/)
  expect(rotated.body.secret).not.toBe(secret)
})

test('an authorization endpoint in a private network, or with too long a wait, is refused by field', async () => {
  const send = await sender()
  for (const [body, field] of [
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: URL, timeout_ms: 2001 }, 'timeout_ms'],
    [{ url: URL, default_action: 'ask' }, 'default_action'],
    [{ url: URL, description: '' }, 'description'],
  ] as const) {
    const { status, body: answer } = await put(send, body)
    expect([status, answer.error.details[0].field]).toEqual([422, field])
  }
})

test('the authorization endpoint needs the plan, the scope and the version', async () => {
  const refusals = await Promise.all(
    [sender('2026-05-19', 'standard'), sender('2026-05-19', 'enterprise', 'write'), sender('2025-11-01')].map(
      async (made) => {
        const { status, body } = await put(await made, { url: URL })
        return [status, body.error.code]
      },
    ),
  )
  expect(refusals).toEqual([
    [403, 'plan_required'],
    [403, 'insufficient_scope'],
    [404, 'not_found'],
  ])
})

import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { retireKey, revokeKey, rotateKey } from '../../runtime/tenants/admin/keys.ts'
import { makeKey as makeKeyText } from '../../runtime/tenants/keys/keys.ts'
import { makeKey, makeTenant, type Send, START, speak, useService } from '../support/service.ts'
import { makeTemplate, refusal } from './fixtures.ts'

const CURRENT = '2026-05-19'

const service = useService({ trustedProxies: 1 })
let tenantId: string
let secret: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  secret = (await makeKey(service, tenantId, { scope: 'admin' })).secret
})

const sandbox = (key?: string, version: string | undefined = CURRENT): Send =>
  speak(service.urls.sandbox, { secret: key, version })

describe('keys', () => {
  const unauthenticated = (code: string) => [401, 'authentication_error', code]
  const by = async (authorization: string | null, path = '/v1/me') =>
    sandbox()(path, { headers: { Authorization: authorization } })

  test.each([
    ['no header', null, 'missing_api_key'],
    ['another scheme', 'Basic c3ZjOnNlY3JldA==', 'invalid_api_key'],
    ['no key', 'Bearer', 'invalid_api_key'],
    ['two words', 'Bearer a b', 'invalid_api_key'],
    ['not a key', 'Bearer hello', 'invalid_api_key'],
    ['svc_test_', 'Bearer svc_test_0000', 'invalid_api_key'],
    ['a wrong checksum', `Bearer svc_sk_sandbox_${'0'.repeat(49)}`, 'invalid_api_key'],
  ])('a request is unauthenticated with %s', async (_, authorization, code) => {
    const answer = await by(authorization)
    expect(refusal(answer)).toEqual(unauthenticated(code))
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
    expect(answer.headers.get('X-RateLimit-Resource')).toBe('unauthenticated')
    expect(answer.headers.get('Service-Version')).toBe(CURRENT)
  })

  test('a well-formed key that is unknown is refused', async () => {
    expect(refusal(await by(`Bearer ${makeKeyText('secret', 'sandbox')}`))).toEqual(
      unauthenticated('invalid_api_key'),
    )
  })

  test('the scheme is read in any case', async () => {
    expect((await by(`bEARER ${secret}`)).status).toBe(200)
  })

  test('a request with a key in its address is refused', async () => {
    for (const query of [`api_key=${secret}`, `x=svc%5Fsk_sandbox_1`]) {
      expect(refusal(await by(`Bearer ${secret}`, `/v1/me?${query}`))).toEqual(
        unauthenticated('invalid_api_key'),
      )
    }
  })

  test('a request with two Authorization headers is refused', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(service.urls.sandbox)
      const headers = [
        'Host',
        hostname,
        'Authorization',
        `Bearer ${secret}`,
        'Authorization',
        `Bearer ${secret}`,
      ]
      request({ hostname, port, path: '/v1/me', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(401)
  })

  test('a key of the other environment is refused, both ways', async () => {
    const live = await makeKey(service, tenantId, { environment: 'live' })
    expect(refusal(await by(`Bearer ${live.secret}`))).toEqual(unauthenticated('environment_mismatch'))
    const answer = await speak(service.urls.live, { secret })('/v1/me')
    expect(refusal(answer)).toEqual(unauthenticated('environment_mismatch'))
  })

  test('a revoked key is refused from the next request after the hint', async () => {
    const key = await makeKey(service, tenantId)
    expect((await by(`Bearer ${key.secret}`)).status).toBe(200)
    await revokeKey(service.operator, key.id)
    service.forget()
    expect(refusal(await by(`Bearer ${key.secret}`))).toEqual(unauthenticated('revoked_api_key'))
  })

  test('a retired key is accepted for 24 hours more, by the service clock', async () => {
    const key = await makeKey(service, tenantId)
    await retireKey(service.operator, key.id)
    for (const [seconds, status] of [
      [0, 200],
      [86_399, 200],
      [86_400, 401],
      [86_401, 401],
    ]) {
      service.clock.now = START + seconds! * 1000
      expect([seconds, (await by(`Bearer ${key.secret}`)).status]).toEqual([seconds, status])
    }
  })

  test('rotated: both work, then the successor alone', async () => {
    const key = await makeKey(service, tenantId)
    const successor = await rotateKey(service.operator, key.id)
    const statuses = async () => [
      (await by(`Bearer ${key.secret}`)).status,
      (await by(`Bearer ${successor.secret}`)).status,
    ]
    expect(await statuses()).toEqual([200, 200])
    service.clock.now = START + 86_400_000
    expect(await statuses()).toEqual([401, 200])
  })

  test('a warm node asks nothing', async () => {
    await by(`Bearer ${secret}`)
    const { control } = service.database
    const { query } = control
    let asked = 0
    control.query = (...statement) => {
      asked += 1
      return query(...statement)
    }
    try {
      expect((await by(`Bearer ${secret}`)).status).toBe(200)
      expect((await by(`Bearer svc_sk_sandbox_${'0'.repeat(49)}`)).status).toBe(401)
      expect(asked).toBe(0)
      await by(`Bearer ${makeKeyText('secret', 'sandbox')}`)
      expect(asked).toBe(1)
    } finally {
      control.query = query
    }
  })
})

describe('addresses', () => {
  const from = async (key: string, forwarded: string | null) =>
    (await sandbox(key)('/v1/me', { headers: { 'X-Forwarded-For': forwarded } })).status

  test.each([
    ['10.1.2.0/24', '10.1.2.3', 200],
    ['10.1.2.0/24', '10.1.3.3', 403],
    ['10.1.2.0/24', '::ffff:10.1.2.3', 200],
    ['10.1.2.0/24', '::ffff:a01:203', 200],
    ['::ffff:10.1.2.3', '10.1.2.3', 200],
    ['2001:db8::/32', '2001:db8:1::5', 200],
    ['2001:db8::/32', '2001:db9::5', 403],
    ['10.1.2.3', '10.1.2.3', 200],
    // What stands before the last entry was written by the client.
    ['10.1.2.3', '10.1.2.3, 192.0.2.7', 403],
    ['192.0.2.7', '10.1.2.3, 192.0.2.7', 200],
    ['10.1.2.3', 'nonsense', 403],
  ])('an address allowlist of %s is asked about %s and answers %i', async (allowed, forwarded, status) => {
    const key = await makeKey(service, tenantId, { allowIps: [allowed] })
    expect(await from(key.secret, forwarded)).toBe(status)
  })

  test('refused with its own code, at the price of a read', async () => {
    const key = await makeKey(service, tenantId, { allowIps: ['10.0.0.1'] })
    const answer = await sandbox(key.secret)('/v1/nothing', { headers: { 'Service-Version': 'x' } })
    expect(refusal(answer)).toEqual([403, 'permission_error', 'ip_not_allowed'])
    expect(answer.headers.get('X-RateLimit-Resource')).toBe('read')
  })
})

describe('rights', () => {
  test('a key whose member became a viewer may only read', async () => {
    const other = await makeTenant(service)
    const key = await makeKey(service, other)
    await service.database.control.query(
      { text: `UPDATE control.members SET role = 'viewer' WHERE tenant_id = $1` },
      [other],
    )
    const answer = await sandbox(key.secret)('/v1/me')
    expect(refusal(answer)).toEqual([403, 'permission_error', 'developer_role_required'])
  })

  test('a read key reads and writes nothing', async () => {
    const templateId = await makeTemplate(sandbox(secret))
    const key = await makeKey(service, tenantId, { scope: 'read' })
    const send = sandbox(key.secret)
    expect((await send('/v1/passes')).status).toBe(200)
    const id = 'pass_00000000000000000000000000'
    for (const [method, path] of [
      ['POST', '/v1/pass_templates'],
      ['PATCH', `/v1/pass_templates/${templateId}`],
      ['POST', `/v1/pass_templates/${templateId}/archive`],
      ['POST', '/v1/passes'],
      ['PATCH', `/v1/passes/${id}`],
      ['POST', `/v1/passes/${id}/revoke`],
      ['POST', `/v1/passes/${id}/archive`],
      ['POST', '/v1/passes/batch'],
      ['POST', '/v1/passes/batch_update'],
      ['POST', '/v1/passes/batch_revoke'],
    ] as const) {
      const answer = await send(path, { method, body: {} })
      expect([path, ...refusal(answer)]).toEqual([path, 403, 'permission_error', 'insufficient_scope'])
      expect(answer.body.error.required_scope).toBe('write')
    }
  })

  test('a publishable key reads templates and nothing else', async () => {
    const templateId = await makeTemplate(sandbox(secret))
    const key = await makeKey(service, tenantId, { kind: 'publishable' })
    const send = sandbox(key.secret)
    expect((await send(`/v1/pass_templates/${templateId}`)).status).toBe(200)
    expect((await send('/v1/pass_templates?limit=1')).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/v1/me'],
      ['GET', '/v1/passes'],
      ['GET', '/v1/passes/count'],
      ['POST', '/v1/pass_templates'],
    ] as const) {
      const answer = await send(path, { method })
      expect([path, ...refusal(answer)]).toEqual([
        path,
        403,
        'permission_error',
        'publishable_key_not_allowed',
      ])
    }
  })
})

describe('browsers', () => {
  const preflight = (path: string, method: string) =>
    sandbox()(path, {
      method: 'OPTIONS',
      headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': method },
    })

  test('browsers may ask for what publishable keys may call', async () => {
    const { status, headers, text } = await preflight('/v1/pass_templates', 'GET')
    expect([status, text]).toEqual([204, ''])
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(headers.get('Access-Control-Allow-Methods')).toBe('GET')
    expect(headers.get('Access-Control-Allow-Headers')).toContain('Authorization')
    expect(headers.has('Access-Control-Allow-Credentials')).toBe(false)
  })

  test.each([
    ['/v1/passes', 'GET'],
    ['/v1/pass_templates', 'POST'],
    ['/v1/me', 'GET'],
    ['/v1/nothing', 'GET'],
  ])('browsers may ask for nothing else: %s %s', async (path, method) => {
    const answer = await preflight(path, method)
    expect(refusal(answer)).toEqual([401, 'authentication_error', 'missing_api_key'])
    expect(answer.headers.has('Access-Control-Allow-Origin')).toBe(false)
  })

  test('browsers read answers and errors there, and nowhere else', async () => {
    const key = await makeKey(service, tenantId, { kind: 'publishable' })
    const origin = { Origin: 'https://shop.example' }
    const allowed = async (path: string, by: Send) =>
      (await by(path, { headers: origin })).headers.get('Access-Control-Allow-Origin')
    expect(await allowed('/v1/pass_templates', sandbox(key.secret))).toBe('*')
    expect(await allowed('/v1/pass_templates', sandbox())).toBe('*')
    expect(await allowed('/v1/passes', sandbox(key.secret))).toBeNull()
    const { headers } = await sandbox(key.secret)('/v1/pass_templates')
    expect(headers.has('Access-Control-Allow-Origin')).toBe(false)
  })

  test('browsers show the documentation, which is at the console, all of the sandbox and nothing of live', async () => {
    const asked = async (url: string, origin: string, path: string) => {
      const headers = { Origin: origin, 'Access-Control-Request-Method': 'POST' }
      const answer = await fetch(url + path, { method: 'OPTIONS', headers })
      return [answer.status, answer.headers.get('Access-Control-Allow-Origin')]
    }
    const { sandbox: url, live } = service.urls
    const documentation = 'http://127.0.0.1:4000'
    expect(await asked(url, documentation, '/v1/passes')).toEqual([204, documentation])
    expect(await asked(url, 'http://127.0.0.1:4001', '/v1/passes')).toEqual([401, null])
    expect(await asked(url, documentation, '/v1/nothing')).toEqual([401, null])
    expect(await asked(live, documentation, '/v1/passes')).toEqual([401, null])
    const { headers } = await sandbox(secret)('/v1/passes', { headers: { Origin: documentation } })
    expect([headers.get('Access-Control-Allow-Origin'), headers.get('Vary')]).toEqual([
      documentation,
      expect.stringContaining('Origin'),
    ])
  })

  test('OPTIONS with a key is a method that is not there', async () => {
    const answer = await sandbox(secret)('/v1/passes', { method: 'OPTIONS' })
    expect(refusal(answer)).toEqual([405, 'method_not_allowed', 'method_not_allowed'])
  })
})

/** The request log as an operation of the API: who may read it, what it finds, and what it never shows. */
import { beforeEach, describe, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { createUser } from '../../runtime/account/members/users.ts'
import { makeTemplate, VERSIONS } from '../api/fixtures.ts'
import { make, makeCard } from '../cards/fixtures.ts'
import { issueToken } from '../support/access-tokens.ts'
import { makeKey, makeTenant, type Send, START, speak, useService } from '../support/service.ts'

const service = useService({ logsRequests: true })
let tenantId: string
let key: { readonly id: string; readonly secret: string }
let send: Send

beforeEach(async () => {
  tenantId = await makeTenant(service, 'trial')
  key = await makeKey(service, tenantId, { scope: 'admin' })
  send = speak(service.urls.sandbox, { secret: key.secret })
})

const LOGS = '/v1/request_logs'

/** An access token of the owner, as `svc login` gets it. */
async function adminToken(): Promise<string> {
  const email = `${tenantId}@example.com`
  const { id: memberId } = await createUser(service.operator, { tenantId, email, role: 'owner' })
  const hour = Date.now() + 3_600_000
  return (await issueToken(service.database, { tenantId, memberId }, 'sandbox', hour, 'admin')).secret
}

/** What the list answers after everything noted has been written. */
async function list(query = '', by = send) {
  await service.flush()
  const { status, body } = await by(`${LOGS}?limit=100${query}`)
  expect([query, status]).toEqual([query, 200])
  return body
}

const idsOf = async (query = '', by = send): Promise<string[]> =>
  (await list(query, by)).data.map(({ id }: { id: string }) => id)

const requestId = ({ headers }: { headers: Headers }) => headers.get('Request-Id')!

const SOME_PASS = '/v1/passes/pass_00000000000000000000000000'

describe('a request', () => {
  test('a request in the log is listed without bodies, and shown with them', async () => {
    const made = await send('/v1/pass_templates?x=1', { body: { name: 'T', kind: 'none' } })
    expect(made.status).toBe(400)
    const template = await makeTemplate(send)
    const [last, first] = (await list()).data
    expect(first).toEqual({
      id: requestId(made),
      object: 'request_log',
      method: 'POST',
      path: '/v1/pass_templates',
      query: 'x=1',
      operation: 'createPassTemplate',
      version: current,
      status: 400,
      error_code: 'unknown_parameter',
      key_id: key.id,
      ip: '127.0.0.1',
      duration_ms: expect.any(Number),
      created: new Date(START).toISOString(),
    })
    expect(last).toMatchObject({ query: null, status: 201, error_code: null })
    const { status, body } = await send(`${LOGS}/${last.id}`)
    expect(status).toBe(200)
    expect(body).toEqual({ ...last, request_body: expect.any(String), response_body: expect.any(String) })
    expect(JSON.parse(body.response_body).id).toBe(template)
    expect(JSON.parse(body.request_body)).toMatchObject({ kind: 'loyalty' })
    const { body: refused } = await send(`${LOGS}/${first.id}`)
    expect([refused.request_body, JSON.parse(refused.response_body).error.code]).toEqual([
      null,
      'unknown_parameter',
    ])
  })

  test('a request that matches no operation is logged too', async () => {
    const missing = await send('/v1/nothing')
    const [found] = (await list()).data
    expect(found).toMatchObject({ id: requestId(missing), path: '/v1/nothing', operation: null, status: 404 })
  })

  test('a request that is not in the log is answered with 404', async () => {
    expect((await send(`${LOGS}/req_00000000000000000000000000`)).status).toBe(404)
  })
})

describe('filters', () => {
  test('the request log filters by status and class, method, path, operation, key, request and time, and together', async () => {
    const other = await makeKey(service, tenantId, { scope: 'read' })
    const template = requestId(await send('/v1/pass_templates', { body: TEMPLATE }))
    service.clock.now += 60_000
    const missing = requestId(await speak(service.urls.sandbox, other)(`${SOME_PASS}?x`))
    const refused = requestId(await speak(service.urls.sandbox, other)('/v1/scans', { body: {} }))
    service.clock.now += 60_000
    const passes = requestId(await send('/v1/passes?limit=1'))
    const later = encodeURIComponent(new Date(START + 60_000).toISOString())
    for (const [query, wanted] of [
      ['', [passes, refused, missing, template]],
      ['&order=asc', [template, missing, refused, passes]],
      ['&status=200', [passes]],
      ['&status=4xx', [refused, missing]],
      ['&status=5xx', []],
      ['&status=299', []],
      ['&method=GET', [passes, missing]],
      ['&path=/v1/passes', [passes]],
      ['&operation=createScan', [refused]],
      [`&key_id=${other.id}`, [refused, missing]],
      [`&request_id=${refused}`, [refused]],
      [`&created[gte]=${later}`, [passes, refused, missing]],
      [`&created[lte]=${later}&order=asc`, [template, missing, refused]],
      [`&status=4xx&key_id=${other.id}&method=GET`, [missing]],
      [`&request_id=${refused}&status=2xx`, []],
      [`&operation=listPasses&method=GET&created[gt]=${later}`, [passes]],
    ] as const)
      expect([query, await idsOf(query)]).toEqual([query, wanted])
  })

  test.each(['status=999', 'status=4x', 'status=abc', 'method=get', 'request_id=pass_1', 'contains=passes'])(
    'the request log refuses the filter %s',
    async (query) => {
      const { status, body } = await send(`${LOGS}?${query}`)
      expect([status, body.error.type]).toEqual([400, 'invalid_parameter'])
    },
  )
})

describe('pages', () => {
  test('pages of the request log continue in both directions through what a filter does not find', async () => {
    const text = `INSERT INTO sandbox.request_log (tenant_id, id, created, written, method, target, path, version, status, key_id, address, ms)
      SELECT $1, 'req_' || lpad(n::text, 26, '0'), to_timestamp($2::float8 / 1000 + n), now(),
             CASE n % 1500 WHEN 0 THEN 'DELETE' ELSE 'GET' END, '/v1/me', '/v1/me', '2026-05-19', '200', 'key_common', '::1', 1
        FROM generate_series(1, 3000) n`
    await service.database.control.query({ text }, [tenantId, START])
    const read = async (query: string) => {
      const found: number[] = []
      const sizes: number[] = []
      for (let next: string | null = ''; next !== null; ) {
        const at: string = next === '' ? '' : `&starting_after=${next}`
        const { status, body } = await send(`${LOGS}?${query}${at}`)
        expect([query, status, body.has_more]).toEqual([query, 200, body.next_cursor !== null])
        found.push(...body.data.map(({ id }: { id: string }) => Number(id.slice(4))))
        sizes.push(body.data.length)
        next = body.next_cursor
      }
      return { found, sizes }
    }
    const rare = await read('method=DELETE')
    expect(rare).toEqual({ found: [3000, 1500], sizes: [1, 1, 0] })
    expect((await read('method=DELETE&order=asc')).found).toEqual([1500, 3000])
    const all = await read('path=/v1/me&limit=100')
    expect(all.found).toEqual(Array.from({ length: 3000 }, (_, index) => 3000 - index))
    const first = (await send(`${LOGS}?method=GET&limit=2`)).body
    const second = (await send(`${LOGS}?method=GET&limit=2&starting_after=${first.next_cursor}`)).body
    const back = (await send(`${LOGS}?method=GET&limit=2&ending_before=${second.next_cursor}`)).body
    expect(second.data).toHaveLength(2)
    expect(back.data).toHaveLength(2)
  })
})

describe('who may read it', () => {
  test.each(['read', 'write'] as const)(
    'the request log is not shown to a key with the scope %s',
    async (scope) => {
      const { secret } = await makeKey(service, tenantId, { scope })
      for (const path of [LOGS, `${LOGS}/req_00000000000000000000000000`]) {
        const { status, body } = await speak(service.urls.sandbox, { secret })(path)
        expect([status, body.error.code, body.error.required_scope]).toEqual([
          403,
          'insufficient_scope',
          'admin',
        ])
      }
    },
  )

  test('an access token with the scope admin, as svc login gets it', async () => {
    const token = await adminToken()
    const me = requestId(await send('/v1/me'))
    expect(await idsOf('', speak(service.urls.sandbox, { secret: token }))).toContain(me)
  })

  test('the request log is shown only to the tenant and in the environment of the request', async () => {
    const id = requestId(await send('/v1/me'))
    const live = await makeKey(service, tenantId, { scope: 'admin', environment: 'live' })
    const stranger = await makeKey(service, await makeTenant(service), { scope: 'admin' })
    for (const by of [
      speak(service.urls.live, live),
      speak(service.urls.sandbox, { secret: stranger.secret }),
    ]) {
      expect(await idsOf(`&request_id=${id}`, by)).toEqual([])
      expect((await by(`${LOGS}/${id}`)).status).toBe(404)
    }
  })

  test.each(VERSIONS.filter((version) => version !== current))(
    'the request log is not part of version %s',
    async (version) => {
      const old = speak(service.urls.sandbox, { secret: key.secret, version })
      for (const path of [LOGS, `${LOGS}/req_00000000000000000000000000`]) {
        const { status, body } = await old(path)
        expect([status, body.error.code]).toEqual([404, 'not_found'])
      }
    },
  )
})

test('a list of the log that succeeds is not logged; one that is refused, and a retrieval, are', async () => {
  await list()
  const refused = requestId(await send(`${LOGS}?status=1`))
  const missing = requestId(await send(`${LOGS}/req_00000000000000000000000000`))
  const retrieved = requestId(await send(`${LOGS}/${(await idsOf())[0]}`))
  expect(await idsOf()).toEqual([retrieved, missing, refused])
})

describe('never shown', () => {
  const NUMBER = '4242424242424242'

  /** What the log holds of the tenant, as its operations show it. */
  async function everything(): Promise<string> {
    const shown: string[] = []
    for (const id of await idsOf()) shown.push((await send(`${LOGS}/${id}`)).text)
    return shown.join('\n')
  }

  test('keys and tokens, wherever they are sent', async () => {
    const secrets = [key.secret, await adminToken(), `whsec_${'a1'.repeat(22)}`]
    for (const secret of secrets) {
      await send(`/v1/passes?${secret}`)
      await send(`/v1/nothing/${secret}`)
      await send(`/v1/passes?status=${encodeURIComponent(`is ${secret}`)}`)
      await send('/v1/pass_templates', { body: { ...TEMPLATE, name: secret, [secret]: 1 } })
      await send('/v1/pass_templates', { body: { ...TEMPLATE, metadata: { note: `use ${secret}.` } } })
      await send('/v1/pass_templates', { body: { ...TEMPLATE, name: 'x'.repeat(8150) + secret } })
    }
    const text = await everything()
    for (const secret of ['svc_sk_sandbox_…', 'svc_at_sandbox_…', 'whsec_…']) expect(text).toContain(secret)
    for (const secret of secrets) expect(text).not.toContain(secret.slice(0, 30))
  })

  test.each([NUMBER, '4242 4242 4242 4242', '4242-4242-4242-4242', '378282246310005'])(
    'the card number %s, wherever it is sent',
    async (number) => {
      await send(`/v1/passes?status=${encodeURIComponent(number)}`)
      await send(`/v1/passes/${encodeURIComponent(number)}`)
      await send('/v1/pass_templates', { body: { ...TEMPLATE, metadata: { note: `card ${number}` } } })
      await send('/v1/pass_templates', {
        body: { ...TEMPLATE, name: number, unknown: Number(number.replaceAll(/\D/g, '')) },
      })
      const text = (await everything()).replaceAll('%20', ' ')
      expect(text).toContain('[redacted]')
      expect(text).not.toContain(number)
      expect(text).not.toContain(number.replaceAll(/\D/g, ''))
    },
  )

  test('the request log shows no number and no security code of a card whose details were read', async () => {
    tenantId = await makeTenant(service, 'enterprise')
    key = await makeKey(service, tenantId, { scope: 'admin' })
    send = speak(service.urls.sandbox, { secret: key.secret })
    const card = await makeCard(send)
    const { body } = await send(`/v1/cards/${card.id}/details`)
    expect(body.number).toMatch(/^\d{16}$/)
    const text = await everything()
    expect(text).toContain(`/v1/cards/${card.id}/details`)
    expect(text).not.toContain(body.number)
    expect(text).not.toContain(`\\"cvc\\":\\"${body.cvc}`)
  })

  test('digits that are not a card number stay in the log: identifiers, amounts and instants', async () => {
    const template = await make(send, '/v1/pass_templates', {
      ...TEMPLATE,
      metadata: { order: '20260519120000', phone: '+4915123456789', ref: '4242424242424241' },
    })
    const [logged] = (await list()).data
    const { response_body } = (await send(`${LOGS}/${logged.id}`)).body
    expect(JSON.parse(response_body)).toEqual(template)
  })
})

const TEMPLATE = {
  name: 'T',
  kind: 'coupon',
  brand: { background_color: '#000000', foreground_color: '#FFFFFF' },
}

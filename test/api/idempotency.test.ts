/** One key, one effect. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { revokeKey } from '../../runtime/tenants/admin/keys.ts'
import {
  type Answer,
  type Call,
  makeKey,
  makeTenant,
  type Send,
  START,
  speak,
  useService,
} from '../support/service.ts'
import {
  issuePass,
  makeTemplate,
  NO_TEMPLATE,
  refusal,
  someoneWaits,
  TEMPLATE,
  whileHeld,
} from './fixtures.ts'

const CURRENT = '2026-05-19'
const DAY = 86_400_000

const service = useService({ poolSize: 8 })
let tenantId: string
let secret: string
let send: Send
let templateId: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  secret = (await makeKey(service, tenantId)).secret
  send = speak(service.urls.sandbox, { secret, version: CURRENT })
  templateId = await makeTemplate(send)
})

const keyed = (key: string, call: Call = {}): Call => ({
  ...call,
  headers: { 'Idempotency-Key': key, ...call.headers },
})

const order = () => ({ template_id: templateId, holder: { name: 'Ada' }, metadata: { a: '1', b: '2' } })

const passes = async (by = send) => (await by('/v1/passes/count')).body.count as number

const REUSED = [422, 'idempotency_error', 'idempotency_key_reused']

describe('the same key and request', () => {
  test('give the same bytes and one effect', async () => {
    const key = randomUUID()
    const before = await passes()
    const first = await send('/v1/passes', keyed(key, { body: order() }))
    service.clock.now += 1000
    const again = await send('/v1/passes', keyed(key, { body: order() }))
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.text).toBe(first.text)
    expect(first.headers.get('Idempotency-Replayed')).toBeNull()
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    expect(again.headers.get('Request-Id')).not.toBe(first.headers.get('Request-Id'))
    expect(await passes()).toBe(before + 1)
  })

  test('a request is repeated whatever the order of members, the spacing and the case of the key', async () => {
    const key = randomUUID()
    const first = await send('/v1/passes', keyed(key, { body: order() }))
    const { template_id, holder, metadata } = order()
    const raw = JSON.stringify({ metadata: { b: metadata.b, a: metadata.a }, holder, template_id }, null, 2)
    const json = { 'Content-Type': 'application/json; charset=utf-8' }
    const again = await send('/v1/passes', keyed(key.toUpperCase(), { raw, method: 'POST', headers: json }))
    expect(again.text).toBe(first.text)
  })

  test('a repetition in another version shows the stored response as that version does', async () => {
    const key = randomUUID()
    const first = await send('/v1/pass_templates', keyed(key, { body: TEMPLATE }))
    const older = speak(service.urls.sandbox, { secret, version: '2025-06-01' })
    const again = await older('/v1/pass_templates', keyed(key, { body: TEMPLATE }))
    const { relevant_locations, ...rest } = first.body
    expect(relevant_locations).toEqual([])
    expect([again.status, again.body]).toEqual([201, rest])
    expect(again.headers.get('Service-Version')).toBe('2025-06-01')
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
  })

  test('a repetition in another version shows the errors of a batch’s items in the words of that version', async () => {
    const key = randomUUID()
    const body = { passes: [{ template_id: NO_TEMPLATE }, { template_id: 7 }, order()] }
    const first = await send('/v1/passes/batch', keyed(key, { body }))
    const older = speak(service.urls.sandbox, { secret, version: '2026-02-01' })
    const again = await older('/v1/passes/batch', keyed(key, { body }))
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    const pages = (answer: Answer) => answer.body.results.map((each: Answer['body']) => each.error?.doc_url)
    const page = expect.stringContaining('/docs/errors#validation_failed')
    expect(pages(first)).toEqual([page, page, undefined])
    expect(pages(again)).toEqual(pages(first))
    expect(again.body.results[1].error.details[0].field).toBe('template_id')
    expect(Object.keys(again.body.results[1].error)).not.toContain('as_sent')
  })

  test('an Idempotency-Key is honored where it is optional', async () => {
    const older = speak(service.urls.sandbox, { secret, version: '2025-06-01' })
    const key = randomUUID()
    const first = await older('/v1/passes', keyed(key, { body: order() }))
    expect((await older('/v1/passes', keyed(key, { body: order() }))).text).toBe(first.text)
  })

  test.each([2, 30, 50])('%i concurrent requests with one key have one effect', async (parallel) => {
    const key = randomUUID()
    const before = await passes()
    const answers = await Promise.all(
      Array.from({ length: parallel }, () => send('/v1/passes', keyed(key, { body: order() }))),
    )
    const done = answers.filter(({ status }) => status === 201)
    expect(new Set(done.map(({ text }) => text)).size).toBe(1)
    expect(done.filter(({ headers }) => !headers.has('Idempotency-Replayed'))).toHaveLength(1)
    for (const busy of answers.filter(({ status }) => status !== 201)) {
      expect(refusal(busy)).toEqual([409, 'idempotency_error', 'idempotency_in_progress'])
      expect(busy.headers.get('Retry-After')).toBe('1')
      expect(busy.body.error.retry_after_ms).toBe(1000)
    }
    expect(await passes()).toBe(before + 1)
  })
})

describe('while the first is in the middle of its work', () => {
  test('the second hears so, whatever it asks for, and others go on', async () => {
    const key = randomUUID()
    const { first } = await whileHeld(service, templateId, async () => {
      const running = send('/v1/passes', keyed(key, { body: order() }))
      await someoneWaits(service)
      for (const body of [order(), { template_id: templateId }]) {
        const second = await send('/v1/passes', keyed(key, { body, signal: AbortSignal.timeout(5000) }))
        expect(refusal(second)).toEqual([409, 'idempotency_error', 'idempotency_in_progress'])
      }
      const live = await makeKey(service, tenantId, { environment: 'live' })
      const elsewhere = speak(service.urls.live, { secret: live.secret })
      expect((await elsewhere('/v1/pass_templates', keyed(key, { body: TEMPLATE }))).status).toBe(201)
      return { first: running }
    })
    expect((await first).status).toBe(201)
    expect((await send('/v1/passes', keyed(key, { body: order() }))).text).toBe((await first).text)
  })

  test.each([
    ['the same request: its answer stands, and the work is undone', 'fingerprint', 201],
    ['another request: the key is taken, and the work is undone', `decode('00', 'hex')`, 422],
  ])('a node that answers %s', async (_, fingerprint, status) => {
    const [known, key] = [randomUUID(), randomUUID()]
    const answered = await send('/v1/passes', keyed(known, { body: order() }))
    const before = await passes()
    const { first } = await whileHeld(service, templateId, async () => {
      const running = send('/v1/passes', keyed(key, { body: order() }))
      await someoneWaits(service)
      const text = `INSERT INTO idempotency_answers (tenant_id, key, fingerprint, status, body, head, created)
                    SELECT tenant_id, $2, ${fingerprint}, status, body, head, created FROM idempotency_answers
                    WHERE tenant_id = $3 AND key = $1`
      await service.database.sandbox.query({ text }, [known, key, tenantId])
      return { first: running }
    })
    const answer = await first
    expect(answer.status).toBe(status)
    if (status === 201) {
      expect([answer.text, answer.headers.get('Idempotency-Replayed')]).toEqual([answered.text, 'true'])
    } else expect(refusal(answer)).toEqual(REUSED)
    expect(await passes()).toBe(before)
  })
})

describe('the same key for another request', () => {
  test('a request with the key of another request is refused', async () => {
    const key = randomUUID()
    const pass = await send('/v1/passes', keyed(key, { body: order() }))
    const before = await passes()
    for (const [path, body] of [
      ['/v1/passes', { ...order(), holder: { name: 'Noor' } }],
      ['/v1/passes', { template_id: templateId }],
      ['/v1/pass_templates', TEMPLATE],
      [`/v1/passes/${pass.body.id}/revoke`, undefined],
      ['/v1/passes/batch', { passes: [order()] }],
    ] as const) {
      const answer = await send(path, keyed(key, { method: 'POST', ...(body && { body }) }))
      expect([path, ...refusal(answer)]).toEqual([path, ...REUSED])
      expect(answer.body.error.param).toBe('Idempotency-Key')
    }
    expect(await passes()).toBe(before)
  })

  test('a request with the key of a request about another object is refused', async () => {
    const key = randomUUID()
    const [one, other] = [await issuePass(send, templateId), await issuePass(send, templateId)]
    expect((await send(`/v1/passes/${one.id}/revoke`, keyed(key, { method: 'POST' }))).status).toBe(200)
    expect(refusal(await send(`/v1/passes/${other.id}/revoke`, keyed(key, { method: 'POST' })))).toEqual(
      REUSED,
    )
  })

  test('an Idempotency-Key does not count between tenants and environments', async () => {
    const key = randomUUID()
    await send('/v1/pass_templates', keyed(key, { body: TEMPLATE }))
    const other = await makeKey(service, await makeTenant(service))
    const live = await makeKey(service, tenantId, { environment: 'live' })
    for (const by of [
      speak(service.urls.sandbox, { secret: other.secret }),
      speak(service.urls.live, { secret: live.secret }),
    ]) {
      const { status, headers } = await by(
        '/v1/pass_templates',
        keyed(key, { body: { ...TEMPLATE, name: 'Tea' } }),
      )
      expect([status, headers.get('Idempotency-Replayed')]).toEqual([201, null])
    }
  })
})

describe('what is stored', () => {
  test("the handler's 404, 409 and 422 are stored and repeated", async () => {
    const pass = await issuePass(send, templateId)
    await send(`/v1/passes/${pass.id}/revoke`, { method: 'POST' })
    for (const [path, body, status] of [
      ['/v1/passes/pass_00000000000000000000000000/revoke', undefined, 404],
      [`/v1/passes/${pass.id}/revoke`, undefined, 409],
      ['/v1/passes', { template_id: 'tpl_00000000000000000000000000' }, 422],
    ] as const) {
      const key = randomUUID()
      const call = keyed(key, { method: 'POST', ...(body && { body }) })
      const first = await send(path, call)
      const again = await send(path, call)
      expect([first.status, again.status]).toEqual([status, status])
      expect(again.text).toBe(first.text)
      expect(again.headers.get('Idempotency-Replayed')).toBe('true')
      const older = speak(service.urls.sandbox, { secret, version: '2026-02-01' })
      expect((await older(path, call)).body.error).toMatchObject({
        request_id: first.headers.get('Request-Id'),
        doc_url: expect.stringContaining('/docs/errors#'),
      })
    }
  })

  test('a refused key stays with its request', async () => {
    const key = randomUUID()
    await send('/v1/passes', keyed(key, { body: { template_id: 'tpl_00000000000000000000000000' } }))
    expect(refusal(await send('/v1/passes', keyed(key, { body: order() })))).toEqual(REUSED)
  })

  test('a failure before the claim is not stored: the key is free after it', async () => {
    const key = randomUUID()
    for (const [call, status] of [
      [{ body: { template_id: 1 } }, 422],
      [{ raw: '{', method: 'POST', headers: { 'Content-Type': 'application/json' } }, 400],
      [{ raw: 'x', method: 'POST', headers: { 'Content-Type': 'text/plain' } }, 415],
    ] as const) {
      expect((await send('/v1/passes', keyed(key, call))).status).toBe(status)
    }
    const reader = await makeKey(service, tenantId, { scope: 'read' })
    const by = speak(service.urls.sandbox, { secret: reader.secret })
    expect((await by('/v1/passes', keyed(key, { body: order() }))).status).toBe(403)
    expect((await send('/v1/passes', keyed(key, { body: order() }))).status).toBe(201)
  })

  test('a response is stored under its Idempotency-Key for 24 hours', async () => {
    const key = randomUUID()
    const first = await send('/v1/passes', keyed(key, { body: order() }))
    service.clock.now = START + DAY - 1
    const late = await send('/v1/passes', keyed(key, { body: order() }))
    expect([late.text === first.text, late.headers.get('Idempotency-Replayed')]).toEqual([true, 'true'])
    service.clock.now = START + DAY
    const anew = await send('/v1/passes', keyed(key, { body: order() }))
    expect([anew.status, anew.headers.get('Idempotency-Replayed')]).toEqual([201, null])
    expect(anew.body.id).not.toBe(first.body.id)
    const again = await send('/v1/passes', keyed(key, { body: order() }))
    expect(again.text).toBe(anew.text)
  })

  test('a stored response is never shown to a revoked key', async () => {
    const own = await makeKey(service, tenantId)
    const by = speak(service.urls.sandbox, { secret: own.secret })
    const key = randomUUID()
    await by('/v1/passes', keyed(key, { body: order() }))
    await revokeKey(service.operator, own.id)
    service.forget()
    expect((await by('/v1/passes', keyed(key, { body: order() }))).status).toBe(401)
  })
})

describe('the header', () => {
  test.each([
    ['', 'invalid_format'],
    ['x', 'invalid_format'],
    ['0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa', 'invalid_format'],
    ['0197905f2f6c7d3e8a415b6c7d8e9fa0', 'invalid_format'],
    ['{0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0}', 'invalid_format'],
    ['0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0, 0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0', 'invalid_format'],
  ])('the Idempotency-Key %j is refused', async (key, code) => {
    for (const version of ['2025-06-01', CURRENT]) {
      const by = speak(service.urls.sandbox, { secret, version })
      const answer = await by('/v1/passes', keyed(key, { body: order() }))
      expect([...refusal(answer), answer.body.error.param]).toEqual([
        400,
        'invalid_parameter',
        code,
        'Idempotency-Key',
      ])
    }
  })

  test('an Idempotency-Key is ignored on other methods', async () => {
    expect((await send('/v1/me', { headers: { 'Idempotency-Key': 'x' } })).status).toBe(200)
    const pass = await issuePass(send, templateId)
    const call = { method: 'PATCH', body: { metadata: { a: '2' } }, headers: { 'Idempotency-Key': 'x' } }
    expect((await send(`/v1/passes/${pass.id}`, call)).status).toBe(200)
  })
})

describe('the audit log', () => {
  const entries = async (requestId: string | null) => {
    const { rows } = await service.database.sandbox.query(
      { text: 'SELECT * FROM audit_log WHERE tenant_id = $1 AND request_id = $2' },
      [tenantId, requestId],
    )
    return rows
  }

  test('the audit log tells each write once, and no replay', async () => {
    const key = randomUUID()
    const first = await send('/v1/passes', keyed(key, { body: order() }))
    const again = await send('/v1/passes', keyed(key, { body: order() }))
    expect(await entries(first.headers.get('Request-Id'))).toMatchObject([
      {
        action: 'pass.created',
        target_id: first.body.id,
        outcome: 'succeeded',
        ip: '127.0.0.1',
        version: CURRENT,
        created: START,
      },
    ])
    expect(await entries(again.headers.get('Request-Id'))).toEqual([])
  })

  test('the audit log tells of refused writes, and of no reads', async () => {
    const id = 'pass_00000000000000000000000000'
    const refused = await send(`/v1/passes/${id}/revoke`, { method: 'POST' })
    expect(await entries(refused.headers.get('Request-Id'))).toMatchObject([
      { action: 'pass.revoked', target_id: id, outcome: 'failed' },
    ])
    const read = await send('/v1/passes')
    expect(await entries(read.headers.get('Request-Id'))).toEqual([])
  })

  test.each([
    'UPDATE audit_log SET outcome = $1',
    'DELETE FROM audit_log WHERE outcome = $1',
    'TRUNCATE audit_log',
  ])('the audit log cannot be changed by the application: %s', async (text) => {
    const values = text.includes('$1') ? ['x'] : []
    await expect(service.database.sandbox.query({ text }, values)).rejects.toMatchObject({ code: '42501' })
  })
})

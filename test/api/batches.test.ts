/** Many passes in one request, each checked for itself. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, makeTenant, type Send, useService } from '../support/service.ts'
import { firstFault, issuePass, makeTemplate, NO_PASS, NO_TEMPLATE, speakFor } from './fixtures.ts'

const service = useService({ poolSize: 10 })
let tenantId: string
let send: Send
let templateId: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  templateId = await makeTemplate(send)
})

describe('batches', () => {
  test('a batch creates each pass for itself, in order', async () => {
    const coupon = await makeTemplate(send, { kind: 'coupon' })
    const archived = await makeTemplate(send)
    await send(`/v1/pass_templates/${archived}/archive`, { method: 'POST' })
    const passes = [
      { template_id: templateId, fields: { points: '1' } },
      { template_id: NO_TEMPLATE },
      { template_id: coupon, holder: { name: 'Noor' } },
      { template_id: archived },
      { template_id: 7 },
      null,
      { template_id: templateId, fields: { none: '1' } },
    ]
    const { status, body, headers } = await send('/v1/passes/batch', { body: { passes } })
    expect(status).toBe(200)
    expect(
      body.results.map(({ index, status, error }: never) => [index, status, (error as Answer['body'])?.code]),
    ).toEqual([
      [0, 'succeeded', undefined],
      [1, 'failed', 'validation_failed'],
      [2, 'succeeded', undefined],
      [3, 'failed', 'invalid_state'],
      [4, 'failed', 'validation_failed'],
      [5, 'failed', 'validation_failed'],
      [6, 'failed', 'validation_failed'],
    ])
    expect(body.results[1].error).toMatchObject({
      type: 'invalid_request',
      details: [{ field: 'template_id' }],
      request_id: headers.get('Request-Id'),
      doc_url: expect.stringContaining('/docs/errors#validation_failed'),
    })
    expect(body.results[4].error.details[0].field).toBe('template_id')
    for (const at of [0, 2]) {
      expect((await send(`/v1/passes/${body.results[at].pass.id}`)).body).toEqual(body.results[at].pass)
    }
  })

  test.each([
    ['NUL in a value', '{"template_id":"T","metadata":{"a":"x\\u0000"}}', 'metadata.a'],
    ['NUL in a name', '{"template_id":"T","metadata":{"a\\u0000":"x"}}', 'metadata.a\ufffd'],
    ['half of a surrogate pair', '{"template_id":"T","holder":{"name":"\\ud800"}}', 'holder.name'],
    ['half of one in a name', '{"\\udc00":1}', '\ufffd'],
    ['a reserved name', '{"template_id":"T","__proto__":{"a":1}}', '__proto__'],
    ['a number beyond all range', '{"template_id":1e999}', 'template_id'],
  ])('%s in one item costs only that item', async (_, item, field) => {
    const raw = `{"passes":[{"template_id":"T"},${item},{"template_id":"T"}]}`
    const { status, body } = await send('/v1/passes/batch', {
      method: 'POST',
      raw: raw.replaceAll('"T"', JSON.stringify(templateId)),
      headers: { 'Content-Type': 'application/json' },
    })
    expect([status, body.results.map((each: Answer['body']) => each.status)]).toEqual([
      200,
      ['succeeded', 'failed', 'succeeded'],
    ])
    expect(body.results[1].error).toMatchObject({ code: 'validation_failed', details: [{ field }] })
  })

  test('hostile identifiers of a revocation cost only themselves', async () => {
    const one = await issuePass(send, templateId)
    const ids = [one.id, 'a\0', '\ud800', { __proto__: 1 }]
    const { body } = await send('/v1/passes/batch_revoke', { body: { ids } })
    expect(body.results.map((each: Answer['body']) => each.status)).toEqual([
      'succeeded',
      'failed',
      'failed',
      'failed',
    ])
  })

  test('a batch with a wrong envelope is refused as a whole', async () => {
    const raw = '{"passes":[{}],"more":"\\u0000"}'
    const headers = { 'Content-Type': 'application/json' }
    const answer = await send('/v1/passes/batch', { method: 'POST', raw, headers })
    expect(firstFault(answer)).toMatchObject([422, 'validation_failed', { field: 'more' }])
  })

  test('100 passes keep their order in the list', async () => {
    const own = await makeTemplate(send)
    const passes = Array.from({ length: 100 }, (_, at) => ({
      template_id: own,
      metadata: { at: String(at) },
    }))
    const { body } = await send('/v1/passes/batch', { body: { passes } })
    expect(body.results).toHaveLength(100)
    const list = await send(`/v1/passes?template_id=${own}&order=asc&limit=100`)
    expect(list.body.data.map((pass: Answer['body']) => pass.metadata.at)).toEqual(
      passes.map((_, at) => String(at)),
    )
  })

  test('a batch of updates names unknown, ended and repeated passes', async () => {
    const [one, other] = [await issuePass(send, templateId), await issuePass(send, templateId)]
    await send(`/v1/passes/${other.id}/revoke`, { method: 'POST' })
    const { body } = await send('/v1/passes/batch_update', {
      body: {
        updates: [
          { id: one.id, metadata: { a: '1' } },
          { id: other.id, metadata: { a: '1' } },
          { id: NO_PASS },
          { id: one.id, metadata: { b: '2' } },
          { metadata: {} },
          { id: 'x' },
        ],
      },
    })
    expect(body.results.map((each: Answer['body']) => each.pass?.metadata ?? each.error.code)).toEqual([
      { a: '1' },
      'invalid_state',
      'not_found',
      { a: '1', b: '2' },
      'validation_failed',
      'validation_failed',
    ])
    expect((await send(`/v1/passes/${one.id}`)).body.metadata).toEqual({ a: '1', b: '2' })
  })

  test('a batch of revocations revokes each pass once', async () => {
    const [one, other] = [await issuePass(send, templateId), await issuePass(send, templateId)]
    const { body } = await send('/v1/passes/batch_revoke', {
      body: { ids: [other.id, NO_PASS, one.id, other.id, 3] },
    })
    expect(body.results.map((each: Answer['body']) => each.pass?.status ?? each.error.code)).toEqual([
      'revoked',
      'not_found',
      'revoked',
      'invalid_state',
      'validation_failed',
    ])
  })

  test.each([
    ['batch', {}, 'passes'],
    ['batch', { passes: [] }, 'passes'],
    ['batch', { passes: Array(101).fill({}) }, 'passes'],
    ['batch', { passes: {} }, 'passes'],
    ['batch', { passes: [{}], more: 1 }, 'more'],
    ['batch_update', { updates: Array(101).fill({}) }, 'updates'],
    ['batch_revoke', { ids: Array(1001).fill('x') }, 'ids'],
    ['batch_revoke', { ids: null }, 'ids'],
  ])('%s fails as a whole for its envelope: %#', async (name, body, field) => {
    const answer = await send(`/v1/passes/${name}`, { body })
    expect(firstFault(answer)).toMatchObject([422, 'validation_failed', { field }])
  })

  test('1,000 revocations are one request', async () => {
    const ids = Array.from(
      { length: 1000 },
      (_, at) => `pass_0000000000000000000000${String(at).padStart(4, '0')}`,
    )
    const { status, body, headers } = await send('/v1/passes/batch_revoke', { body: { ids } })
    expect([status, body.results.length]).toEqual([200, 1000])
    const after = await send(`/v1/passes/${NO_PASS}/revoke`, { method: 'POST' })
    expect(
      Number(headers.get('X-RateLimit-Remaining')) - Number(after.headers.get('X-RateLimit-Remaining')),
    ).toBeLessThanOrEqual(1)
  })

  test('two that name the same passes in opposite order both come to an end', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => issuePass(send, templateId)))
    const ids = made.map(({ id }) => id)
    const [a, b] = await Promise.all([
      send('/v1/passes/batch_revoke', { body: { ids } }),
      send('/v1/passes/batch_revoke', { body: { ids: ids.toReversed() } }),
    ])
    const won = [a, b].map(
      ({ body }) => body.results.filter((each: Answer['body']) => each.status === 'succeeded').length,
    )
    expect(won.sort()).toEqual([0, 20])
  })
})

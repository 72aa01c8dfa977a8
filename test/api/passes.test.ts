/** What passes and templates may hold, how they change, and when they expire. */
import { beforeAll, describe, expect, test } from 'vitest'
import { makeTenant, type Send, useService } from '../support/service.ts'
import {
  firstFault,
  issuePass,
  makeTemplate,
  NO_TEMPLATE,
  someoneWaits,
  speakFor,
  TEMPLATE,
} from './fixtures.ts'

const service = useService({ poolSize: 10 })
let tenantId: string
let send: Send
let templateId: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  templateId = await makeTemplate(send)
})

describe('issuing is refused', () => {
  test.each([
    [{ template_id: NO_TEMPLATE }, 'template_id', 'is not the ID of a template'],
    [{ fields: { pionts: '1' } }, 'fields.pionts', 'is not a field of the template'],
    [{ expires_at: '2026-06-01T12:00:00Z' }, 'expires_at', 'must be in the future'],
    [{ expires_at: '2026-06-01T13:59:59+02:00' }, 'expires_at', 'must be in the future'],
    [{ expires_at: '2027-02-30T00:00:00Z' }, 'expires_at', expect.any(String)],
    [{ holder: { email: 'nobody' } }, 'holder.email', expect.any(String)],
    [{ holder: { phone: '1' } }, 'holder.phone', expect.any(String)],
    [{ fields: { points: 1 } }, 'fields.points', expect.any(String)],
    [{ metadata: { a: 'x'.repeat(501) } }, 'metadata.a', expect.any(String)],
    [{ status: 'active' }, 'status', expect.any(String)],
  ])('POST /v1/passes refuses %o by its field', async (content, field, issue) => {
    const answer = await send('/v1/passes', { body: { template_id: templateId, ...content } })
    expect(firstFault(answer)).toEqual([422, 'validation_failed', { field, issue }])
  })

  test('POST /v1/passes refuses a pass without a template', async () => {
    expect(firstFault(await send('/v1/passes', { body: {} }))).toMatchObject([
      422,
      'validation_failed',
      { field: 'template_id' },
    ])
  })

  test('POST /v1/passes refuses a template that is archived at the same moment', async () => {
    const own = await makeTemplate(send)
    const { issued } = await service.database.control.transaction(async (db) => {
      await db.query({ text: `UPDATE sandbox.pass_templates SET status = 'archived' WHERE id = $1` }, [own])
      const running = send('/v1/passes', { body: { template_id: own } })
      await someoneWaits(service)
      return { issued: running }
    })
    expect(firstFault(await issued)).toEqual([409, 'invalid_state', undefined])
  })

  test('every fault is told at once', async () => {
    const answer = await send('/v1/passes', {
      body: { template_id: templateId, fields: { a: '1', b: '2' }, expires_at: '2020-01-01T00:00:00Z' },
    })
    expect(answer.body.error.details.map(({ field }: { field: string }) => field)).toEqual([
      'fields.a',
      'fields.b',
      'expires_at',
    ])
  })
})

describe('templates are refused', () => {
  // One transparent pixel.
  const PIXEL =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
  test.each([
    [{ fields: [TEMPLATE.fields[0], TEMPLATE.fields[0]] }, 'fields[1].key'],
    [{ brand: { ...TEMPLATE.brand, logo: 'AAAA' } }, 'brand.logo'],
    [{ brand: { ...TEMPLATE.brand, icon: PIXEL } }, 'brand.icon'],
    [{ brand: { ...TEMPLATE.brand, strip: `${PIXEL.slice(0, 40)}B${PIXEL.slice(41)}` } }, 'brand.strip'],
    [{ brand: { ...TEMPLATE.brand, strip: 'AAA' } }, 'brand.strip'],
    [{ brand: { ...TEMPLATE.brand, background_color: 'blue' } }, 'brand.background_color'],
    [{ brand: { background_color: '#000000' } }, 'brand.foreground_color'],
    [{ kind: 'other' }, 'kind'],
    [{ name: '' }, 'name'],
    [{ fields: [{ key: 'Points', label: '', value: '' }] }, 'fields[0].key'],
    [{ relevant_locations: [{ latitude: 91, longitude: 0 }] }, 'relevant_locations[0].latitude'],
  ])('POST /v1/pass_templates refuses %o by its field', async (content, field) => {
    const answer = await send('/v1/pass_templates', { body: { ...TEMPLATE, ...content } })
    expect(firstFault(answer)).toMatchObject([422, 'validation_failed', { field }])
  })

  test('an image that fits is kept', async () => {
    const brand = { ...TEMPLATE.brand, logo: PIXEL }
    const { status, body } = await send('/v1/pass_templates', { body: { ...TEMPLATE, brand } })
    expect([status, body.brand.logo]).toEqual([201, PIXEL])
  })

  test('the kind is fixed', async () => {
    const answer = await send(`/v1/pass_templates/${templateId}`, {
      method: 'PATCH',
      body: { kind: 'coupon' },
    })
    expect(firstFault(answer)).toMatchObject([422, 'validation_failed', { field: 'kind' }])
  })
})

describe('changing', () => {
  const change = (id: string, body: object) => send(`/v1/passes/${id}`, { method: 'PATCH', body })

  test("the template's values show through, then and now", async () => {
    const own = await makeTemplate(send)
    const pass = await issuePass(send, own, { fields: { points: '7' } })
    const fields = [
      { key: 'tier', label: 'Tier', value: 'new' },
      { key: 'seat', label: 'Seat', value: '1A' },
    ]
    await send(`/v1/pass_templates/${own}`, { method: 'PATCH', body: { fields } })
    const shown = await send(`/v1/passes/${pass.id}`)
    expect(Object.entries(shown.body.fields)).toEqual([
      ['tier', 'new'],
      ['seat', '1A'],
    ])
    expect(firstFault(await change(pass.id, { fields: { points: '8' } }))[2]).toMatchObject({
      field: 'fields.points',
    })
    expect((await change(pass.id, { fields: { points: null, seat: '2B' } })).body.fields).toEqual({
      tier: 'new',
      seat: '2B',
    })
  })

  test.each([
    [{ holder: null }, { holder: { email: null, name: null } }],
    [{ holder: {} }, { holder: { email: 'ada@example.com', name: 'Ada' } }],
    [{ holder: { name: 'Noor' } }, { holder: { email: 'ada@example.com', name: 'Noor' } }],
    [{ fields: null }, { fields: { points: '0', tier: 'basic' } }],
    [{ metadata: null }, { metadata: {} }],
    [
      { metadata: { constructor: 'x', toString: 'y' } },
      { metadata: { a: '1', constructor: 'x', toString: 'y' } },
    ],
    [{ expires_at: null }, { expires_at: null }],
    [{}, { holder: { email: 'ada@example.com', name: 'Ada' }, metadata: { a: '1' } }],
  ])('a change of a pass by %o is merged into it', async (body, want) => {
    const pass = await issuePass(send, templateId, {
      holder: { email: 'ada@example.com', name: 'Ada' },
      fields: { points: '9' },
      metadata: { a: '1' },
      expires_at: '2026-12-01T00:00:00Z',
    })
    const changed = await change(pass.id, body)
    expect(changed.body).toMatchObject(want)
    expect((await send(`/v1/passes/${pass.id}`)).body).toEqual(changed.body)
  })

  test('metadata stays within 50 pairs, however it grows', async () => {
    const pairs = (from: number) =>
      Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`k${from + at}`, 'v']))
    const pass = await issuePass(send, templateId, { metadata: pairs(0) })
    expect(firstFault(await change(pass.id, { metadata: pairs(30) }))).toMatchObject([
      422,
      'validation_failed',
      { field: 'metadata' },
    ])
    expect((await change(pass.id, { metadata: pairs(15) })).status).toBe(200)
  })
})

describe('time', () => {
  test('a pass expires when its time comes, wherever it is looked at', async () => {
    const own = await makeTemplate(send)
    const pass = await issuePass(send, own, { expires_at: '2026-06-02T00:00:00Z' })
    await issuePass(send, own)
    const path = `/v1/passes/${pass.id}`
    const seen = async () => [
      (await send(path)).body.status,
      (await send(`/v1/passes/count?template_id=${own}&status=expired`)).body.count,
      (await send(`/v1/passes/count?template_id=${own}&status=issued`)).body.count,
      (await send(`/v1/passes?template_id=${own}&status=expired`)).body.data.length,
    ]
    service.clock.now = Date.parse('2026-06-01T23:59:59.999Z')
    expect(await seen()).toEqual(['issued', 0, 2, 0])
    service.clock.now = Date.parse('2026-06-02T00:00:00.000Z')
    expect(await seen()).toEqual(['expired', 1, 1, 1])
    for (const [method, suffix, body] of [
      ['PATCH', '', { expires_at: null }],
      ['POST', '/revoke', undefined],
    ] as const) {
      expect(firstFault(await send(path + suffix, { method, ...(body && { body }) })).slice(0, 2)).toEqual([
        409,
        'invalid_state',
      ])
    }
    expect((await send(`${path}/archive`, { method: 'POST' })).body).toMatchObject({
      status: 'expired',
      archived_at: '2026-06-02T00:00:00.000Z',
    })
  })
})

/** Templates and passes from their making to their archive, in every version. */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { issuePass, makeTemplate, TEMPLATE, VERSIONS } from './fixtures.ts'

const service = useService()
let secret: string

beforeAll(async () => {
  secret = (await makeKey(service, await makeTenant(service))).secret
})

const api = (version: string): Send => speak(service.urls.sandbox, { secret, version })

describe.each(VERSIONS)('%s', (version) => {
  test('GET /v1/me shows who is calling', async () => {
    const { status, body, headers } = await api(version)('/v1/me')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'me',
      tenant: { name: 'Harbour Coffee', plan: 'enterprise' },
      environment: 'sandbox',
      version,
      key: { kind: 'secret', scope: 'write' },
    })
    expect(headers.get('Service-Version')).toBe(version)
  })

  test('a template is made, read, changed and archived', async () => {
    const send = api(version)
    const made = await send('/v1/pass_templates', { body: TEMPLATE })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      object: 'pass_template',
      status: 'active',
      brand: { background_color: '#1E3A5F', label_color: null, icon: null },
      barcode: { format: 'qr', message: null },
      metadata: {},
      created: '2026-06-01T12:00:00.000Z',
    })
    const path = `/v1/pass_templates/${made.body.id}`
    expect((await send(path)).body).toEqual(made.body)
    const changed = await send(path, {
      method: 'PATCH',
      body: {
        name: 'Tea',
        brand: { label_color: '#000000' },
        barcode: { message: 'TEA' },
        metadata: { a: '1' },
      },
    })
    expect(changed.body).toMatchObject({
      name: 'Tea',
      brand: { background_color: '#1E3A5F', label_color: '#000000' },
      barcode: { format: 'qr', message: 'TEA' },
      fields: TEMPLATE.fields,
      metadata: { a: '1' },
    })
    const back = await send(path, {
      method: 'PATCH',
      body: { brand: { label_color: null }, barcode: null, metadata: null, fields: [] },
    })
    expect(back.body).toMatchObject({
      brand: { label_color: null },
      barcode: { format: 'qr', message: null },
      fields: [],
      metadata: {},
    })
    const archived = await send(`${path}/archive`, { method: 'POST' })
    expect([archived.status, archived.body.status]).toEqual([200, 'archived'])
    const issued = await send('/v1/passes', { body: { template_id: made.body.id } })
    expect([issued.status, issued.body.error.code]).toEqual([409, 'invalid_state'])
    const again = await send(`${path}/archive`, { method: 'POST' })
    expect([again.status, again.body.error.code]).toEqual([409, 'invalid_state'])
  })

  test('relevant_locations exist from 2026-05-19 on', async () => {
    const places = [{ latitude: 37.7763, longitude: -122.4231, relevant_text: 'Near.' }]
    const { status, body } = await api(version)('/v1/pass_templates', {
      body: { ...TEMPLATE, relevant_locations: places },
    })
    if (version === '2026-05-19') {
      expect(status).toBe(201)
      expect(body.relevant_locations).toEqual([{ ...places[0], altitude: null }])
      for (const older of VERSIONS.slice(0, 3)) {
        expect(Object.keys((await api(older)(`/v1/pass_templates/${body.id}`)).body)).not.toContain(
          'relevant_locations',
        )
      }
    } else {
      expect([status, body.error.code]).toEqual([422, 'validation_failed'])
      expect(body.error.details).toMatchObject([{ field: 'relevant_locations' }])
    }
  })

  test('a pass is issued, read, changed, revoked and archived', async () => {
    const send = api(version)
    const templateId = await makeTemplate(send)
    const pass = await issuePass(send, templateId, {
      holder: { email: 'ada@example.com', name: 'Ada Moreau' },
      fields: { points: '120' },
      metadata: { order: '1042' },
    })
    expect(pass).toMatchObject({
      object: 'pass',
      template_id: templateId,
      status: 'issued',
      holder: { email: 'ada@example.com', name: 'Ada Moreau' },
      fields: { points: '120', tier: 'basic' },
      platforms: [],
      expires_at: null,
    })
    expect(pass.download.page_url).toMatch(new RegExp(`^${service.urls.sandbox}/p/[0-9A-Za-z_-]{20,}$`))
    expect(pass.download.apple_url).toBe(`${pass.download.page_url}.pkpass`)
    expect(pass.download.google_url).toMatch(
      /^https:\/\/pay\.google\.com\/gp\/v\/save\/[\w-]+\.[\w-]+\.[\w-]+$/,
    )
    expect(pass.download.google_url.length).toBeLessThanOrEqual(1800)
    const path = `/v1/passes/${pass.id}`
    expect((await send(path)).body).toEqual(pass)
    const changed = await send(path, {
      method: 'PATCH',
      body: {
        holder: { email: null },
        fields: { points: null, tier: 'gold' },
        expires_at: '2026-12-31T23:59:59+01:00',
        metadata: { order: null, batch: '7' },
      },
    })
    expect([changed.status, changed.body]).toMatchObject([
      200,
      {
        holder: { email: null, name: 'Ada Moreau' },
        fields: { points: '0', tier: 'gold' },
        expires_at: '2026-12-31T22:59:59.000Z',
        metadata: { batch: '7' },
      },
    ])
    const early = await send(`${path}/archive`, { method: 'POST' })
    expect([early.status, early.body.error.code]).toEqual([409, 'invalid_state'])
    const revoked = await send(`${path}/revoke`, { method: 'POST', body: {} })
    expect([revoked.status, revoked.body.status, revoked.body.revoked_at]).toEqual([
      200,
      'revoked',
      '2026-06-01T12:00:00.000Z',
    ])
    for (const [method, suffix, body] of [
      ['POST', '/revoke', undefined],
      ['PATCH', '', { metadata: {} }],
    ] as const) {
      const refused = await send(path + suffix, { method, ...(body && { body }) })
      expect([refused.status, refused.body.error]).toMatchObject([
        409,
        { type: 'conflict', code: 'invalid_state' },
      ])
    }
    const archived = await send(`${path}/archive`, { method: 'POST' })
    expect([archived.status, archived.body.archived_at]).toEqual([200, '2026-06-01T12:00:00.000Z'])
    expect((await send(path)).body).toEqual(archived.body)
  })

  test('POST needs an Idempotency-Key from 2026-02-01 on', async () => {
    const { status, body } = await api(version)('/v1/pass_templates', {
      body: TEMPLATE,
      headers: { 'Idempotency-Key': null },
    })
    if (version < '2026-02-01') expect(status).toBe(201)
    else {
      expect([status, body.error]).toMatchObject([
        400,
        { type: 'invalid_parameter', code: 'missing_field', param: 'Idempotency-Key' },
      ])
    }
  })

  test('a wrong request is answered alike for an id that is malformed and one that is unknown', async () => {
    const send = api(version)
    const wrong = [
      { about: 'no key', query: '', key: null, want: version < '2026-02-01' ? 404 : 400 },
      { about: 'a key that is none', query: '', key: 'first', want: 400 },
      { about: 'a parameter that is none', query: '?dry_run=true', key: undefined, want: 400 },
      { about: 'nothing', query: '', key: undefined, want: 404 },
    ]
    for (const id of ['pass_none', `pass_${'0'.repeat(26)}`]) {
      for (const { about, query, key, want } of wrong) {
        const headers = key === undefined ? {} : { 'Idempotency-Key': key }
        const { status } = await send(`/v1/passes/${id}/revoke${query}`, { method: 'POST', headers })
        expect([id, about, status]).toEqual([id, about, want])
      }
    }
  })

  test('deprecated versions say so', async () => {
    const { headers } = await api(version)('/v1/me')
    const shown = ['Deprecation', 'Sunset', 'Link'].map((name) => headers.get(name))
    if (version < '2026-02-01') {
      expect(shown).toEqual([
        '@1769904000',
        'Tue, 02 Feb 2027 00:00:00 GMT',
        // From here to the current version: the next one is deprecated too.
        `<http://127.0.0.1:4000/docs/upgrading/${version}/2026-05-19>; rel="deprecation"; type="text/html"`,
      ])
      const page = new URL(`../../generated/site/upgrading/${version}/2026-05-19.html`, import.meta.url)
      expect(readFileSync(page, 'utf8')).toContain(`From ${version} to`)
    } else expect(shown).toEqual([null, null, null])
  })

  test('archived passes are listed from 2026-05-19 on, and only when asked for', async () => {
    const send = api(version)
    const templateId = await makeTemplate(send)
    const pass = await issuePass(send, templateId)
    await send(`/v1/passes/${pass.id}/revoke`, { method: 'POST' })
    await send(`/v1/passes/${pass.id}/archive`, { method: 'POST' })
    const shown = version === '2026-05-19' ? [pass.id] : []
    const list = (query: string) => send(`/v1/passes?template_id=${templateId}${query}`)
    const ids = async (query: string) => (await list(query)).body.data.map((each: { id: string }) => each.id)
    expect(await ids('')).toEqual([])
    expect(await ids('&include_archived=false')).toEqual([])
    expect(await ids('&include_archived=true')).toEqual(shown)
    const count = await send(`/v1/passes/count?template_id=${templateId}&include_archived=true`)
    expect(count.body).toEqual({ object: 'count', count: shown.length })
  })

  test('batches exist from 2026-02-01 on', async () => {
    const send = api(version)
    const templateId = await makeTemplate(send)
    for (const [name, body] of [
      ['batch', { passes: [{ template_id: templateId }] }],
      ['batch_update', { updates: [{ id: 'pass_00000000000000000000000000' }] }],
      ['batch_revoke', { ids: ['pass_00000000000000000000000000'] }],
    ] as const) {
      const answer = await send(`/v1/passes/${name}`, { body })
      expect([name, answer.status]).toEqual([name, version < '2026-02-01' ? 404 : 200])
    }
  })
})

/** Scanners read passes: what they are told, what is recorded, and who wins of several at once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { codeAt } from '../../runtime/passes/wallets/render/rotation.ts'
import { unzip } from '../passes/render/apple-files.ts'
import {
  type Answer,
  makeKey,
  makeTenant,
  type Send,
  speak,
  startTestService,
  type TestService,
  useService,
} from '../support/service.ts'
import { eventsOf } from './events-of.ts'
import {
  countWaiting,
  firstFault,
  issuePass,
  makeTemplate,
  NO_PASS,
  refusal,
  speakFor,
  VERSIONS,
} from './fixtures.ts'

const service = useService({ poolSize: 10 })
/** Another node on the same database. */
let other: TestService
let tokens: Readonly<Record<'sandbox' | 'live', PassTokens>>
beforeAll(async () => {
  other = await startTestService({ database: { ...service.database, close: async () => {} } })
  tokens = openPassTokens(service.database.pepper)
})
afterAll(async () => {
  await other.stop()
})

const POLL = { interval: 5, timeout: 10_000 }

type Body = Answer['body']

const scan = (send: Send, body: object) => send('/v1/scans', { body })
const statusOf = async (send: Send, id: string) => (await send(`/v1/passes/${id}`)).body.status

/** Events about a pass, oldest first: their types and the results of scans. */
async function told(send: Send, passId: string): Promise<string[]> {
  const events = await eventsOf(send)
  const about = events.filter(({ data }: Body) => (data.scan?.pass_id ?? data.pass?.id) === passId)
  return about.map(({ type, data }: Body) => (data.scan ? `${type} ${data.scan.result}` : type))
}

describe.each(VERSIONS)('%s', (version) => {
  let send: Send
  let tenantId: string
  beforeAll(async () => {
    tenantId = await makeTenant(service, 'enterprise', version)
    send = await speakFor(service, tenantId)
  })

  test('a pass is verified by its code and by its id, and becomes active', async () => {
    const pass = await issuePass(send, await makeTemplate(send))
    service.clock.now += 1000
    const code = tokens.sandbox.scanCode({ space: tenantId, passId: pass.id })
    const first = await scan(send, {
      barcode_message: code,
      mode: 'verify',
      scanner: 'Entrance 2',
      location: { latitude: 37.7763, longitude: -122.4231 },
    })
    const now = new Date(service.clock.now).toISOString()
    expect([first.status, first.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^scan_/),
        object: 'scan',
        pass_id: pass.id,
        mode: 'verify',
        result: 'accepted',
        scanner: 'Entrance 2',
        location: { latitude: 37.7763, longitude: -122.4231 },
        scanned_at: now,
        created: now,
      },
    ])
    expect((await send(`/v1/scans/${first.body.id}`)).body).toEqual(first.body)
    const active = (await send(`/v1/passes/${pass.id}`)).body
    expect(active).toEqual({ ...pass, status: 'active', updated: now })
    service.clock.now += 1000
    const second = await scan(send, { pass_id: pass.id, mode: 'verify' })
    expect(second.body).toMatchObject({ result: 'accepted', scanner: null, location: null })
    expect((await send(`/v1/passes/${pass.id}`)).body).toEqual(active)
    expect(await told(send, pass.id)).toEqual([
      'pass.created',
      'pass.scanned accepted',
      'pass.scanned accepted',
    ])
    const { data } = (await send(`/v1/scans?pass_id=${pass.id}&result=accepted`)).body
    expect(data).toEqual([second.body, first.body])
  })

  test('a coupon is redeemed once', async () => {
    const { id } = await issuePass(send, await makeTemplate(send, { kind: 'coupon' }))
    expect((await scan(send, { pass_id: id, mode: 'redeem' })).body.result).toBe('accepted')
    for (const mode of ['redeem', 'verify']) {
      expect((await scan(send, { pass_id: id, mode })).body.result).toBe('already_redeemed')
    }
    const archived = await send(`/v1/passes/${id}/archive`, { method: 'POST' })
    expect([archived.status, archived.body.status]).toEqual([200, 'redeemed'])
    expect(await told(send, id)).toEqual([
      'pass.created',
      'pass.scanned accepted',
      'pass.redeemed',
      'pass.scanned already_redeemed',
      'pass.scanned already_redeemed',
      'pass.archived',
    ])
  })

  test('a simulated scan is a scan', async () => {
    const { id } = await issuePass(send, await makeTemplate(send, { kind: 'event_ticket' }))
    const verified = await send('/v1/test/passes/simulate_scan', { body: { pass_id: id } })
    expect([verified.status, verified.body]).toMatchObject([201, { mode: 'verify', result: 'accepted' }])
    const body = { pass_id: id, mode: 'redeem', scanner: 'Door', location: { latitude: 0, longitude: 180 } }
    const redeemed = await send('/v1/test/passes/simulate_scan', { body })
    expect(redeemed.body).toMatchObject({ ...body, result: 'accepted' })
    expect(await statusOf(send, id)).toBe('redeemed')
    expect((await send(`/v1/scans?pass_id=${id}`)).body.data).toEqual([redeemed.body, verified.body])
  })
})

describe('what comes of it', () => {
  let send: Send
  let tenantId: string
  const templates = new Map<string, string>()
  beforeAll(async () => {
    tenantId = await makeTenant(service)
    send = await speakFor(service, tenantId)
    for (const kind of ['loyalty', 'gift_card', 'coupon', 'event_ticket', 'boarding_pass', 'generic']) {
      templates.set(kind, await makeTemplate(send, { kind }))
    }
  })

  const act = {
    issued: async () => {},
    installed: (id: string) =>
      send('/v1/test/passes/simulate_install', { body: { pass_id: id, platform: 'apple' } }),
    active: (id: string) => scan(send, { pass_id: id, mode: 'verify' }),
    redeemed: (id: string) => scan(send, { pass_id: id, mode: 'redeem' }),
    revoked: (id: string) => send(`/v1/passes/${id}/revoke`, { method: 'POST' }),
    expired: async () => {
      service.clock.now += 60_000
    },
    archived: async (id: string) => {
      await send(`/v1/passes/${id}/revoke`, { method: 'POST' })
      await send(`/v1/passes/${id}/archive`, { method: 'POST' })
    },
  }

  test.each([
    // kind, before, mode → result, status afterwards
    ['loyalty', 'issued', 'verify', 'accepted', 'active'],
    ['loyalty', 'installed', 'verify', 'accepted', 'active'],
    ['loyalty', 'active', 'verify', 'accepted', 'active'],
    ['loyalty', 'issued', 'redeem', 'not_redeemable', 'issued'],
    ['gift_card', 'installed', 'redeem', 'not_redeemable', 'installed'],
    ['boarding_pass', 'active', 'redeem', 'not_redeemable', 'active'],
    ['generic', 'issued', 'redeem', 'not_redeemable', 'issued'],
    ['coupon', 'issued', 'redeem', 'accepted', 'redeemed'],
    ['coupon', 'installed', 'redeem', 'accepted', 'redeemed'],
    ['event_ticket', 'active', 'redeem', 'accepted', 'redeemed'],
    ['event_ticket', 'issued', 'verify', 'accepted', 'active'],
    ['coupon', 'redeemed', 'redeem', 'already_redeemed', 'redeemed'],
    ['coupon', 'redeemed', 'verify', 'already_redeemed', 'redeemed'],
    ['coupon', 'revoked', 'redeem', 'revoked', 'revoked'],
    ['loyalty', 'revoked', 'redeem', 'revoked', 'revoked'],
    ['loyalty', 'revoked', 'verify', 'revoked', 'revoked'],
    ['coupon', 'expired', 'redeem', 'expired', 'expired'],
    ['generic', 'expired', 'verify', 'expired', 'expired'],
    ['coupon', 'archived', 'verify', 'revoked', 'revoked'],
  ] as const)('%s, %s: %s is %s, and leaves it %s', async (kind, before, mode, result, after) => {
    const expires_at = new Date(service.clock.now + 60_000).toISOString()
    const { id } = await issuePass(send, templates.get(kind)!, before === 'expired' ? { expires_at } : {})
    await act[before](id)
    const already = (await send(`/v1/scans?pass_id=${id}`)).body.data.length
    const { status, body } = await scan(send, { pass_id: id, mode })
    expect([status, body.result, await statusOf(send, id)]).toEqual([201, result, after])
    const { data } = (await send(`/v1/scans?pass_id=${id}`)).body
    expect([data.length, data[0]]).toEqual([already + 1, body])
  })

  test('20 scanners at once redeem a coupon: one wins, all are recorded', async () => {
    const { id } = await issuePass(send, templates.get('coupon')!)
    const code = tokens.sandbox.scanCode({ space: tenantId, passId: id })
    const sendToOther = speak(other.urls.sandbox, { secret: (await makeKey(service, tenantId)).secret })
    // While somebody holds the pass they all come; then they are let loose.
    const scans = await service.database.control.transaction(async (tx) => {
      const text = 'SELECT FROM sandbox.passes WHERE tenant_id = $1 AND id = $2 FOR UPDATE'
      await tx.query({ text }, [tenantId, id])
      const asked = Array.from({ length: 20 }, (_, at) =>
        scan(at % 2 === 0 ? send : sendToOther, {
          ...(at % 3 === 0 ? { pass_id: id } : { barcode_message: code }),
          mode: 'redeem',
          scanner: `Door ${at}`,
        }),
      )
      await expect.poll(() => countWaiting(service.database), POLL).toBeGreaterThan(1)
      return { asked }
    })
    const answers = await Promise.all(scans.asked)
    const results = answers.map(({ status, body }) => `${status} ${body.result}`).sort()
    expect(results).toEqual(['201 accepted', ...Array(19).fill('201 already_redeemed')])
    const { data } = (await send(`/v1/scans?pass_id=${id}&limit=100`)).body
    expect(new Set(data.map((each: Body) => each.scanner)).size).toBe(20)
    const events = await told(send, id)
    expect(events.filter((type) => type === 'pass.redeemed')).toHaveLength(1)
    expect(events.filter((type) => type === 'pass.scanned already_redeemed')).toHaveLength(19)
  })

  test('one of a concurrent redemption and revocation wins', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await issuePass(send, templates.get('event_ticket')!)
      const [redeemed, revoked] = await Promise.all([
        scan(send, { pass_id: id, mode: 'redeem' }),
        send(`/v1/passes/${id}/revoke`, { method: 'POST' }),
      ])
      const status = await statusOf(send, id)
      expect([redeemed.body.result, revoked.status, status]).toEqual(
        status === 'redeemed' ? ['accepted', 409, 'redeemed'] : ['revoked', 200, 'revoked'],
      )
    }
  })

  test('wallets are told that a pass was redeemed, and of nothing that they do not show', async () => {
    const { control } = service.database
    await control.query({ text: 'INSERT INTO sandbox.wallet_heads VALUES ($1, 0)' }, [tenantId])
    const text = 'SELECT subject_id FROM sandbox.wallet_changes WHERE tenant_id = $1'
    const news = async () => (await control.query({ text }, [tenantId])).rows
    const { id } = await issuePass(send, templates.get('coupon')!)
    await act.installed(id)
    await act.active(id)
    expect(await news()).toEqual([])
    const other = await issuePass(send, templates.get('coupon')!)
    await act.redeemed(other.id)
    expect(await news()).toEqual([])
    await act.redeemed(id)
    expect(await news()).toEqual([{ subject_id: id }])
  })

  test('the same key twice is one scan', async () => {
    const { id } = await issuePass(send, templates.get('coupon')!)
    const call = {
      body: { pass_id: id, mode: 'redeem' },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    }
    const answers = await Promise.all([
      send('/v1/scans', call),
      send('/v1/scans', call),
      send('/v1/scans', call),
    ])
    const again = await send('/v1/scans', call)
    expect(again.body.result).toBe('accepted')
    const done = answers.filter(({ status }) => status === 201)
    expect(done.map(({ text }) => text)).toEqual(done.map(() => again.text))
    expect((await send(`/v1/scans?pass_id=${id}`)).body.data).toEqual([again.body])
    const other = await send('/v1/scans', { ...call, body: { pass_id: id, mode: 'verify' } })
    expect(refusal(other)).toEqual([422, 'idempotency_error', 'idempotency_key_reused'])
  })
})

describe('codes', () => {
  let send: Send
  let tenantId: string
  let id: string
  let code: string
  beforeAll(async () => {
    tenantId = await makeTenant(service)
    send = await speakFor(service, tenantId)
    id = (await issuePass(send, await makeTemplate(send))).id
    code = tokens.sandbox.scanCode({ space: tenantId, passId: id })
  })

  const read = async (barcode_message: string) => {
    const { status, body } = await scan(send, { barcode_message, mode: 'verify' })
    return [status, body.result, body.pass_id]
  }

  test('the codes of a pass are what the file of the pass shows to scanners', async () => {
    const { download } = (await send(`/v1/passes/${id}`)).body
    const file = Buffer.from(await (await fetch(download.apple_url)).arrayBuffer())
    const { barcodes } = JSON.parse(unzip(file).get('pass.json')!.toString())
    expect(await read(barcodes[0].message)).toEqual([201, 'accepted', id])
  })

  test('the codes of a pass are read in either case', async () => {
    expect(await read(code)).toEqual([201, 'accepted', id])
    expect(await read(code.toLowerCase())).toEqual([201, 'accepted', id])
  })

  test('a scanned code of no pass is recorded as unknown, and no event is made', async () => {
    const other = await makeTenant(service)
    const sendOther = await speakFor(service, other)
    const theirs = await issuePass(sendOther, await makeTemplate(sendOther))
    const events = async () => (await send('/v1/events?limit=100')).body.data.length
    const before = await events()
    const changed = code.slice(0, -1) + (code.endsWith('0') ? '1' : '0')
    const unknown = [
      'c3f1a7e09b5d4c6e8f20',
      changed,
      ` ${code}`,
      `${code}\n`,
      code.slice(0, 26),
      id,
      '\u202e💈',
      'x'.repeat(256),
      tokens.sandbox.scanCode({ space: tenantId, passId: NO_PASS }),
      tokens.sandbox.scanCode({ space: other, passId: theirs.id }),
      tokens.sandbox.scanCode({ space: tenantId, passId: theirs.id }),
      tokens.sandbox.scanCode({ space: `${tenantId}.1`, passId: id }),
      tokens.live.scanCode({ space: tenantId, passId: id }),
    ]
    for (const each of unknown) expect([each, ...(await read(each))]).toEqual([each, 201, 'unknown', null])
    expect(await events()).toBe(before)
    const { data } = (await send('/v1/scans?result=unknown&limit=100')).body
    expect(data).toHaveLength(unknown.length)
    expect(await statusOf(sendOther, theirs.id)).toBe('issued')
  })
})

describe('is refused', () => {
  let send: Send
  let id: string
  beforeAll(async () => {
    send = await speakFor(service, await makeTenant(service))
    id = (await issuePass(send, await makeTemplate(send))).id
  })

  test.each([
    [{ pass_id: NO_PASS, mode: 'verify' }, 'pass_id'],
    [{ pass_id: 'x', mode: 'verify' }, 'pass_id'],
    [{ mode: 'verify' }, 'pass_id'],
    [{ pass_id: 'ID', barcode_message: 'A', mode: 'verify' }, 'barcode_message'],
    [{ pass_id: null, mode: 'verify' }, 'pass_id'],
    [{ barcode_message: '', mode: 'verify' }, 'barcode_message'],
    [{ barcode_message: 'x'.repeat(257), mode: 'verify' }, 'barcode_message'],
    [{ barcode_message: 'a\0', mode: 'verify' }, 'barcode_message'],
    [{ pass_id: 'ID' }, 'mode'],
    [{ pass_id: 'ID', mode: 'look' }, 'mode'],
    [{ pass_id: 'ID', mode: 'verify', scanner: 'x'.repeat(101) }, 'scanner'],
    [{ pass_id: 'ID', mode: 'verify', scanner: 7 }, 'scanner'],
    [{ pass_id: 'ID', mode: 'verify', location: { latitude: 1 } }, 'location.longitude'],
    [{ pass_id: 'ID', mode: 'verify', location: { latitude: 90.1, longitude: 0 } }, 'location.latitude'],
    [{ pass_id: 'ID', mode: 'verify', location: { latitude: 0, longitude: -181 } }, 'location.longitude'],
    [{ pass_id: 'ID', mode: 'verify', location: { latitude: 0, longitude: 0, floor: 2 } }, 'location.floor'],
    [{ pass_id: 'ID', mode: 'verify', scanned_at: '2026-06-01T12:00:00Z' }, 'scanned_at'],
  ])('POST /v1/scans names the wrong field of %j', async (body, field) => {
    const named = JSON.parse(JSON.stringify(body).replace('"ID"', JSON.stringify(id)))
    expect(firstFault(await scan(send, named))).toMatchObject([422, 'validation_failed', { field }])
  })

  test('nothing of it is recorded', async () => {
    expect((await send('/v1/scans')).body).toEqual({ data: [], has_more: false, next_cursor: null })
  })

  test('a scan that is unknown or another tenant’s is refused', async () => {
    const other = await speakFor(service, await makeTenant(service))
    const pass = await issuePass(other, await makeTemplate(other))
    const theirs = (await scan(other, { pass_id: pass.id, mode: 'verify' })).body.id
    for (const each of [theirs, 'scan_00000000000000000000000000', 'x']) {
      expect(refusal(await send(`/v1/scans/${each}`))).toEqual([404, 'not_found', 'not_found'])
    }
    expect(firstFault(await scan(send, { pass_id: pass.id, mode: 'verify' }))).toMatchObject([
      422,
      'validation_failed',
      { field: 'pass_id', issue: 'is not the ID of a pass' },
    ])
  })

  test('a key that may only read, a publishable one, a simulation in live', async () => {
    const tenantId = await makeTenant(service)
    const by = async (options: object) =>
      speak(service.urls.sandbox, { secret: (await makeKey(service, tenantId, options)).secret })
    const reader = await by({ scope: 'read' })
    const refused = await scan(reader, { pass_id: id, mode: 'verify' })
    expect([refused.status, refused.body.error]).toMatchObject([
      403,
      { code: 'insufficient_scope', required_scope: 'write' },
    ])
    expect((await reader('/v1/scans')).status).toBe(200)
    const publishable = await by({ kind: 'publishable' })
    expect((await publishable('/v1/scans')).body.error.code).toBe('publishable_key_not_allowed')
    const live = await speakFor(service, tenantId, 'live')
    const simulated = await live('/v1/test/passes/simulate_scan', { body: { pass_id: NO_PASS } })
    expect(refusal(simulated)).toEqual([404, 'not_found', 'not_found'])
    const { headers } = await scan(live, { barcode_message: 'A', mode: 'verify' })
    expect(headers.get('X-RateLimit-Resource')).toBe('passes_write')
  })
})

test('the list of scans has filters, orders and pages', async () => {
  const send = await speakFor(service, await makeTenant(service))
  const [coupon, loyalty] = [await makeTemplate(send, { kind: 'coupon' }), await makeTemplate(send)]
  const [one, two] = [(await issuePass(send, coupon)).id, (await issuePass(send, loyalty)).id]
  const made: Body[] = []
  for (const [pass_id, mode] of [
    [one, 'verify'],
    [two, 'redeem'],
    [one, 'redeem'],
    [one, 'redeem'],
    [two, 'verify'],
    [undefined, 'verify'],
  ] as const) {
    made.push((await scan(send, { ...(pass_id ? { pass_id } : { barcode_message: 'A' }), mode })).body)
    service.clock.now += 1000
  }
  const ids = async (query: string) =>
    (await send(`/v1/scans?order=asc&${query}`)).body.data.map((each: Body) =>
      made.findIndex(({ id }) => id === each.id),
    )
  expect(await ids('')).toEqual([0, 1, 2, 3, 4, 5])
  expect(await ids(`pass_id=${one}`)).toEqual([0, 2, 3])
  expect(await ids('result=accepted')).toEqual([0, 2, 4])
  expect(await ids(`pass_id=${two}&result=not_redeemable`)).toEqual([1])
  expect(await ids(`created[gt]=${made[3].created}`)).toEqual([4, 5])
  const pages: string[][] = []
  for (let query = 'limit=2'; ; ) {
    const { data, next_cursor } = (await send(`/v1/scans?pass_id=${one}&${query}`)).body
    pages.push(data.map((each: Body) => made.findIndex(({ id }) => id === each.id)))
    if (next_cursor === null) break
    query = `limit=2&starting_after=${next_cursor}`
  }
  expect(pages).toEqual([[3, 2], [0]])
  expect((await send('/v1/scans?result=lost')).body.error.param).toBe('result')
  const cursor = (await send(`/v1/scans?pass_id=${one}&limit=1`)).body.next_cursor
  const moved = await send(`/v1/scans?pass_id=${two}&starting_after=${cursor}`)
  expect(refusal(moved)).toEqual([400, 'invalid_parameter', 'invalid_cursor'])
})

describe('a rotating barcode', () => {
  const rotating_barcode = { period: 30, digits: 6, fallback: 'no_code' as const }
  let send: Send
  let tenantId: string
  beforeAll(async () => {
    tenantId = await makeTenant(service)
    send = await speakFor(service, tenantId)
  })

  const make = async (rotation: object, content: object = {}) => {
    const template = await makeTemplate(send, { kind: 'coupon', rotating_barcode: rotation, ...content })
    const pass = await issuePass(send, template)
    const place = { space: tenantId, passId: pass.id as string }
    const parts = tokens.sandbox.rotatingParts(place)
    const at = (periods: number) =>
      codeAt({ ...rotating_barcode, ...parts }, service.clock.now + 30_000 * periods)
    return { pass, template, at, fixed: tokens.sandbox.scanCode(place) }
  }
  const read = async (barcode_message: string, mode = 'verify', by = send) =>
    (await scan(by, { barcode_message, mode })).body.result

  test('counts in its period and in the ones next to it, on every node, and is redeemed once', async () => {
    const { pass, at } = await make(rotating_barcode)
    const results = await Promise.all([-2, -1, 0, 1, 2].map((periods) => read(at(periods))))
    const outdated = 'outdated_code'
    expect(results).toEqual([outdated, 'accepted', 'accepted', 'accepted', outdated])
    const code = at(0)
    service.clock.now += 60_000
    other.clock.now = service.clock.now
    expect([await read(code, 'redeem'), await statusOf(send, pass.id)]).toEqual([outdated, 'active'])
    const { secret } = await makeKey(service, tenantId)
    const twice = [send, speak(other.urls.sandbox, { secret })].map((by) => read(at(0), 'redeem', by))
    expect((await Promise.all(twice)).toSorted()).toEqual(['accepted', 'already_redeemed'])
    expect(await told(send, pass.id)).toContain(`pass.scanned ${outdated}`)
    const past = { headers: { 'Service-Version': '2026-02-01' } }
    const shown = (await send(`/v1/scans?pass_id=${pass.id}&result=${outdated}&limit=1`)).body.data[0]
    expect((await send(`/v1/scans/${shown.id}`, past)).body).toEqual({ ...shown, result: 'unknown' })
  })

  test('leaves the fixed code only where a wallet shows it, or a phone sends it to readers', async () => {
    const file = async ({ download }: { download: { apple_url: string } }) => {
      const bytes = Buffer.from(await (await fetch(download.apple_url)).arrayBuffer())
      return JSON.parse(unzip(bytes).get('pass.json')!.toString())
    }
    const without = await make(rotating_barcode)
    expect([await read(without.fixed), (await file(without.pass)).barcodes]).toEqual([
      'outdated_code',
      undefined,
    ])
    const shown = await make({ ...rotating_barcode, fallback: 'fixed_code' })
    expect((await file(shown.pass)).barcodes[0].message).toBe(shown.fixed)
    expect([await read(shown.fixed), await read(shown.at(0))]).toEqual(['accepted', 'accepted'])
    const smart_tap = { redemption_issuers: ['3388000000022904000'] }
    expect(await read((await make(rotating_barcode, { smart_tap })).fixed)).toBe('accepted')
    // A code of the time before the template changed.
    await send(`/v1/pass_templates/${shown.template}`, { method: 'PATCH', body: { rotating_barcode: null } })
    expect([await read(shown.fixed), await read(shown.at(0))]).toEqual(['accepted', 'outdated_code'])
  })

  test('is shown by the page, which loads the next one without a script', async () => {
    const { pass } = await make(rotating_barcode)
    service.clock.now += 30_000 - (service.clock.now % 30_000) + 12_400
    const visit = async () => {
      const { headers } = await fetch(pass.download.page_url)
      return ['refresh', 'cache-control', 'etag'].map((name) => headers.get(name))
    }
    expect(await visit()).toEqual(['18', 'no-store', null])
    await send(`/v1/passes/${pass.id}/revoke`, { method: 'POST' })
    expect((await visit())[0]).toBeNull()
  })

  test('needs a code of each pass in a format that Google Wallet rotates, and older versions keep it unseen', async () => {
    const path = '/v1/pass_templates'
    const barcode = { format: 'aztec', message: 'SAME' }
    const refused = await send(path, {
      body: {
        name: 'x',
        kind: 'coupon',
        brand: { background_color: '#000000', foreground_color: '#ffffff' },
        barcode,
        rotating_barcode,
      },
    })
    expect(refused.body.error.details.map(({ field }: { field: string }) => field)).toEqual([
      'barcode.format',
      'barcode.message',
    ])
    const id = await makeTemplate(send, { rotating_barcode })
    const past = { headers: { 'Service-Version': '2026-02-01' } }
    const renamed = await send(`${path}/${id}`, { ...past, method: 'PATCH', body: { name: 'Tea' } })
    expect(Object.keys(renamed.body)).not.toContain('rotating_barcode')
    const { body } = await send(`${path}/${id}`)
    expect([body.rotating_barcode, body.warnings[0].field]).toEqual([rotating_barcode, 'rotating_barcode'])
  })
})

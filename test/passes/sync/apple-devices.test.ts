/** Devices with passes: they register, are told of changes, ask for what is new, and leave. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { passMessageWorker } from '../../../runtime/passes/pass-messages/job.ts'
import { numberChange } from '../../../runtime/passes/passes/registration-queries.ts'
import { until } from '../../support/programs.ts'
import { strictLog } from '../../support/strict-log.ts'
import { unzip } from '../render/apple-files.ts'
import { openWalletStage, type Tenant, TOPIC, type WalletStage } from './apple-stage.ts'

let stage: WalletStage
let tenant: Tenant
beforeAll(async () => {
  stage = await openWalletStage()
  stage.work()
})
beforeEach(async () => {
  tenant = await stage.tenant()
})
afterAll(() => stage.close())

const NEWS = { fields: { points: '7' } }
const patch = async (passId: string, body: object = NEWS) =>
  expect((await tenant.send(`/v1/passes/${passId}`, { method: 'PATCH', body })).status).toBe(200)
const pushesTo = (token: string) => stage.push.pushes.filter((push) => push.token === token).length
const pushed = (token: string, count: number) =>
  until(`push ${count}`, async () => pushesTo(token) >= count && (await stage.isQuiet()))

test('a device registers, is told, asks what changed, fetches it, finds it unchanged, and leaves', async () => {
  const passId = await tenant.issue()
  const phone = stage.phone()
  expect(await phone.add(tenant.id, passId)).toBe(201)
  expect(await phone.add(tenant.id, passId)).toBe(200)
  expect((await tenant.send(`/v1/passes/${passId}`)).body).toMatchObject({
    status: 'installed',
    platforms: ['apple'],
  })
  const before = phone.kept.get(passId)!.etag
  await patch(passId)
  await pushed(phone.pushToken, 1)
  expect(await phone.refresh()).toEqual([passId])
  expect(phone.kept.get(passId)!.etag).not.toBe(before)
  expect(phone.statuses.slice(-2)).toEqual([200, 200])
  expect(await phone.refresh()).toEqual([])
  expect(phone.statuses.at(-1)).toBe(204)
  await phone.add(tenant.id, passId)
  expect(phone.statuses.slice(-2)).toEqual([304, 200])
  expect(await phone.remove(passId)).toBe(200)
  expect((await tenant.send(`/v1/passes/${passId}`)).body).toMatchObject({
    status: 'installed',
    platforms: [],
  })
  await patch(passId, { fields: { points: '8' } })
  for (const type of ['pass.installed', 'pass.uninstalled']) {
    const events = (await tenant.send(`/v1/events?type=${type}`)).body.data
    expect(events).toMatchObject([{ type, data: { pass: { id: passId, platform: 'apple' } } }])
  }
  expect(pushesTo(phone.pushToken)).toBe(1)
  expect(await stage.rows('SELECT * FROM apple_registrations WHERE device_id = $1', [phone.id])).toEqual([])
  expect(await locators(phone.id)).toEqual([])
})

const locators = async (deviceId: string) =>
  (
    await stage.service.database.control.query<{ space: string }>(
      { text: 'SELECT space FROM control.apple_devices WHERE device_id = $1' },
      [deviceId],
    )
  ).rows.map(({ space }) => space)

test('a phone shows the change message of a field: the file that it fetches has it with the new value', async () => {
  const message = { key: 'points', label: 'Points', value: '0', change_message: 'You have %@ points now.' }
  const path = `/v1/pass_templates/${tenant.templateId}`
  const fields = [message, { key: 'tier', label: 'Tier', value: 'basic' }]
  expect((await tenant.send(path, { method: 'PATCH', body: { fields } })).body.fields).toEqual(fields)
  // Callers of older versions neither see the message nor remove it.
  const headers = { 'Service-Version': '2026-02-01' }
  const { change_message: _, ...older } = message
  const answer = await tenant.send(path, { method: 'PATCH', headers, body: { fields: [older, fields[1]] } })
  expect(answer.body.fields).toEqual([older, fields[1]])
  const refused = await tenant.send(path, { method: 'PATCH', headers, body: { fields: [message] } })
  expect(refused.status).toBe(422)
  const passId = await tenant.issue()
  const phone = stage.phone()
  await phone.add(tenant.id, passId)
  await patch(passId)
  await pushed(phone.pushToken, 1)
  expect(await phone.refresh()).toEqual([passId])
  const made = JSON.parse(unzip(phone.kept.get(passId)!.file).get('pass.json')!.toString())
  expect(made.storeCard.primaryFields).toEqual([
    { key: 'points', label: 'Points', value: '7', changeMessage: 'You have %@ points now.' },
  ])
  expect(made.storeCard.secondaryFields).toEqual([fields[1]])
  const silent = { ...message, change_message: null }
  expect((await tenant.send(path, { method: 'PATCH', body: { fields: [silent] } })).body.fields).toEqual([
    older,
  ])
  const double = { ...message, change_message: '%@ of %@' }
  const { status, body } = await tenant.send(path, { method: 'PATCH', body: { fields: [double] } })
  expect([status, body.error.details]).toEqual([
    422,
    [{ field: 'fields[0].change_message', issue: 'must have %@ exactly once' }],
  ])
})

test('a phone shows a message to the holder until it ends: the file has it on its back', async () => {
  const passId = await tenant.issue()
  const phone = stage.phone()
  await phone.add(tenant.id, passId)
  const worker = passMessageWorker({ ...stage.service, log: strictLog, wakeUpChannel: { publish: () => {} } })
  const message = { header: 'Doors', body: 'Open at 18:30.', translations: { de: { body: 'Ab 18:30 Uhr.' } } }
  const ends_at = new Date(stage.service.clock.now + 60_000).toISOString()
  const path = `/v1/passes/${passId}/messages`
  const { status, body } = await tenant.send(path, { body: { ...message, ends_at } })
  expect([status, body.status]).toEqual([201, 'queued'])
  await worker.runOnce()
  await pushed(phone.pushToken, 1)
  expect(await phone.refresh()).toEqual([passId])
  const readBack = () => {
    const files = unzip(phone.kept.get(passId)!.file)
    const { backFields } = JSON.parse(files.get('pass.json')!.toString()).storeCard
    return { backFields, german: files.get('de.lproj/pass.strings')?.toString() }
  }
  expect(readBack()).toEqual({
    backFields: [
      {
        key: 'newest-message',
        label: 'Doors',
        value: 'Open at 18:30.',
        changeMessage: '%@',
        dataDetectorTypes: [],
      },
    ],
    german: '"Open at 18:30." = "Ab 18:30 Uhr.";\n',
  })
  expect((await tenant.send(`/v1/pass_messages/${body.id}`)).body).toMatchObject({
    status: 'sent',
    ...message,
  })
  stage.service.clock.now += 60_000
  await worker.runOnce()
  await pushed(phone.pushToken, 2)
  expect(await phone.refresh()).toEqual([passId])
  expect(readBack()).toEqual({ backFields: [], german: undefined })
})

test('a device that registers after a change is told at once; of a pass as it was issued it is not', async () => {
  const [changed, fresh] = [await tenant.issue(), await tenant.issue()]
  const [late, early] = [stage.phone(), stage.phone()]
  await patch(changed)
  expect(await late.add(tenant.id, changed)).toBe(201)
  expect(await early.add(tenant.id, fresh)).toBe(201)
  await pushed(late.pushToken, 1)
  expect(await late.refresh()).toEqual([changed])
  expect(pushesTo(early.pushToken)).toBe(0)
})

test('a change of the template is told to every device of its passes, once', async () => {
  const other = await tenant.issue()
  const phones = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const phone = stage.phone()
      for (let count = 0; count < 3; count += 1) await phone.add(tenant.id, await tenant.issue())
      return phone
    }),
  )
  const body = { name: 'Tea loyalty' }
  expect(
    (await tenant.send(`/v1/pass_templates/${tenant.templateId}`, { method: 'PATCH', body })).status,
  ).toBe(200)
  for (const phone of phones) await pushed(phone.pushToken, 1)
  for (const phone of phones) {
    expect(pushesTo(phone.pushToken)).toBe(1)
    expect((await phone.refresh()).toSorted()).toEqual([...phone.kept.keys()].toSorted())
  }
  expect(await stage.rows('SELECT * FROM apple_registrations WHERE pass_id = $1', [other])).toEqual([])
})

test('one push is sent for a hundred changes, and the last state fetched', async () => {
  const passId = await tenant.issue()
  const phone = stage.phone()
  const place = { space: tenant.id, passId }
  await phone.add(tenant.id, passId)
  await holdCounter(async () => {
    for (let count = 0; count < 100; count += 50) {
      stage.service.clock.monotonic += 60_000
      const changes = Array.from({ length: 50 }, (_, at) => ({ fields: { points: `${count + at}` } }))
      await Promise.all(changes.map((body) => patch(passId, body)))
    }
  })
  await pushed(phone.pushToken, 1)
  expect(pushesTo(phone.pushToken)).toBe(1)
  await phone.refresh()
  const token = stage.tokens.write('apple', place)
  const current = await phone.ask('GET', `/passes/${TOPIC}/${passId}`, token)
  await current.arrayBuffer()
  expect(phone.kept.get(passId)!.etag).toBe(current.headers.get('etag'))
}, 60_000)

/** Nobody numbers changes of the tenant meanwhile: somebody has, and does not commit. */
async function holdCounter<T>(work: () => Promise<T>): Promise<T> {
  return stage.service.database.sandbox.transaction(async (db) => {
    await numberChange(db, tenant.id)
    return work()
  })
}

test('no change is missed that is numbered early and committed late', async () => {
  const [first, second] = [await tenant.issue(), await tenant.issue()]
  const phone = stage.phone()
  await phone.add(tenant.id, first)
  await phone.add(tenant.id, second)
  await phone.refresh()
  const stamp = {
    text: 'UPDATE apple_registrations SET changed = $3 WHERE tenant_id = $1 AND pass_id = $2',
  }
  await stage.service.database.sandbox.transaction(async (db) => {
    await db.query(stamp, [tenant.id, first, await numberChange(db, tenant.id)])
    await patch(second)
    // A second number would be seen before the first one, and its tag lead past it.
    expect(await phone.refresh()).toEqual([])
  })
  await pushed(phone.pushToken, 1)
  expect((await phone.refresh()).toSorted()).toEqual([first, second].toSorted())
  expect(await phone.refresh()).toEqual([])
})

describe('push tokens', () => {
  test('push tokens that Apple calls unregistered end the registrations, and only those of before', async () => {
    const passId = await tenant.issue()
    const [gone, back] = [stage.phone(), stage.phone()]
    await gone.add(tenant.id, passId)
    await back.add(tenant.id, passId)
    stage.push.unregister(gone.pushToken, Date.now() + 1000)
    stage.push.unregister(back.pushToken, Date.now() - 3_600_000)
    await patch(passId)
    await until(
      'both to be refused',
      () => stage.push.refused.filter((each) => each === 'Unregistered').length >= 2,
    )
    await until('the end', stage.isQuiet)
    const left = await stage.rows('SELECT device_id FROM apple_registrations WHERE pass_id = $1', [passId])
    expect(left).toEqual([{ device_id: back.id }])
    expect(await locators(gone.id)).toEqual([])
    expect((await tenant.send(`/v1/passes/${passId}`)).body.platforms).toEqual(['apple'])
  })

  test('push tokens of the last device uninstall the pass', async () => {
    const passId = await tenant.issue()
    const phone = stage.phone()
    await phone.add(tenant.id, passId)
    stage.push.script([{ status: 400, reason: 'BadDeviceToken' }], phone.pushToken)
    await patch(passId)
    await until('no platform', async () => {
      const { platforms } = (await tenant.send(`/v1/passes/${passId}`)).body
      return platforms.length === 0
    })
    const [event] = (await tenant.send('/v1/events?type=pass.uninstalled&limit=1')).body.data
    expect(event.data.pass).toMatchObject({ id: passId, platform: 'apple' })
  })

  test('push tokens that are registered anew are told again what the old one may not have been', async () => {
    const passId = await tenant.issue()
    const phone = stage.phone()
    await phone.add(tenant.id, passId)
    await patch(passId)
    await pushed(phone.pushToken, 1)
    const pushToken = 'cd'.repeat(32)
    const token = stage.tokens.write('apple', { space: tenant.id, passId })
    const path = `/devices/${phone.id}/registrations/${TOPIC}/${passId}`
    expect((await phone.ask('POST', path, token, { pushToken })).status).toBe(200)
    await pushed(pushToken, 1)
    expect(pushesTo(phone.pushToken)).toBe(1)
  })

  test('push tokens are tried again where Apple is busy, fails, hangs or tears the stream', async () => {
    const passId = await tenant.issue()
    const phone = stage.phone()
    await phone.add(tenant.id, passId)
    stage.push.script(
      [
        { status: 429, reason: 'TooManyRequests' },
        { status: 503, reason: 'ServiceUnavailable' },
        { status: 403, reason: 'InvalidProviderToken' },
        'silence',
        'reset',
      ],
      phone.pushToken,
    )
    await patch(passId)
    await pushed(phone.pushToken, 1)
    expect(await phone.refresh()).toEqual([passId])
  })
})

describe('is refused', () => {
  const path = (phone: string, passId: string) => `/devices/${phone}/registrations/${TOPIC}/${passId}`

  test('a registration is refused without the token of the pass', async () => {
    const [passId, other] = [await tenant.issue(), await tenant.issue()]
    const stranger = await stage.tenant()
    const phone = stage.phone()
    const body = { pushToken: phone.pushToken }
    const wrong = [
      undefined,
      'x',
      stage.tokens.write('apple', { space: tenant.id, passId: other }),
      stage.tokens.write('page', { space: tenant.id, passId }),
    ]
    for (const token of wrong) {
      expect((await phone.ask('POST', path(phone.id, passId), token, body)).status).toBe(401)
      expect((await phone.ask('DELETE', path(phone.id, passId), token)).status).toBe(401)
      expect((await phone.ask('GET', `/passes/${TOPIC}/${passId}`, token)).status).toBe(401)
    }
    const good = stage.tokens.write('apple', { space: tenant.id, passId })
    expect((await phone.ask('GET', `/passes/pass.other/${passId}`, good)).status).toBe(401)
    // A pass of one tenant in the name of another: nobody has written such a token, but what if.
    const crossed = stage.tokens.write('apple', { space: stranger.id, passId })
    expect((await phone.ask('POST', path(phone.id, passId), crossed, body)).status).toBe(404)
    expect(await locators(phone.id)).toEqual([])
  })

  test('a body that is not a registration is refused', async () => {
    const passId = await tenant.issue()
    const token = stage.tokens.write('apple', { space: tenant.id, passId })
    const phone = stage.phone()
    const post = async (body: unknown, device = phone.id) =>
      (await phone.ask('POST', path(device, passId), token, body)).status
    expect(await post({})).toBe(400)
    expect(await post({ pushToken: 7 })).toBe(400)
    expect(await post({ pushToken: 'zz'.repeat(32) })).toBe(400)
    expect(await post([])).toBe(400)
    expect(await post({ pushToken: phone.pushToken, more: 'x'.repeat(5000) })).toBe(413)
    expect(await post({ pushToken: phone.pushToken }, 'a%20b')).toBe(400)
    expect((await phone.ask('PUT', path(phone.id, passId), token, {})).status).toBe(405)
    expect((await phone.ask('GET', '/nothing')).status).toBe(404)
  })
})

test('a pass is on a hundred devices at most; the one beyond is told so, and those that are there stay', async () => {
  const passId = await tenant.issue()
  const phones = Array.from({ length: 4 }, stage.phone)
  for (const phone of phones.slice(0, 2)) expect(await phone.add(tenant.id, passId)).toBe(201)
  await stage.rows(
    `INSERT INTO apple_registrations (tenant_id, device_id, pass_id, template_id, push_token, changed, registered_at)
     SELECT tenant_id, 'device-' || n, pass_id, template_id, push_token, changed, registered_at
       FROM apple_registrations r, generate_series(1, 97) n WHERE pass_id = $1 AND device_id = $2`,
    [passId, phones[0]!.id],
  )
  // Two at once: only one is left.
  const [last, beyond] = phones.slice(2)
  const statuses = await Promise.all([last!, beyond!].map((phone) => phone.add(tenant.id, passId)))
  expect(statuses.toSorted()).toEqual([201, 409])
  expect(await phones[1]!.add(tenant.id, passId)).toBe(200)
  const left = statuses[0] === 409 ? last! : beyond!
  expect(await locators(left.id)).toEqual([])
  expect(await phones[1]!.remove(passId)).toBe(200)
  expect(await left.add(tenant.id, passId)).toBe(201)
})

test('a device asks for new passes with any tag', async () => {
  const [one, two] = [stage.phone(), stage.phone()]
  const passId = await tenant.issue()
  await one.add(tenant.id, passId)
  await two.add(tenant.id, passId)
  await patch(passId)
  await pushed(two.pushToken, 1)
  await one.refresh()
  for (const tag of [undefined, '', 'x', 'AAAA', one.tag]) {
    two.tag = tag
    expect([tag, await two.refresh()]).toEqual([tag, [passId]])
  }
  expect((await one.ask('GET', `/devices/nobody/registrations/${TOPIC}`)).status).toBe(204)
  expect((await one.ask('GET', `/devices/${one.id}/registrations/pass.other`)).status).toBe(204)
})

test('a device with passes of several tenants asks once for all', async () => {
  const other = await stage.tenant()
  const phone = stage.phone()
  const [own, foreign] = [await tenant.issue(), await other.issue()]
  await phone.add(tenant.id, own)
  await phone.add(other.id, foreign)
  expect((await phone.refresh()).toSorted()).toEqual([own, foreign].toSorted())
  await patch(own)
  await pushed(phone.pushToken, 1)
  expect(await phone.refresh()).toEqual([own])
  await other.send(`/v1/passes/${foreign}`, { method: 'PATCH', body: NEWS })
  await pushed(phone.pushToken, 2)
  expect(await phone.refresh()).toEqual([foreign])
  expect(await phone.refresh()).toEqual([])
})

test('revoked passes are told, and may be registered still', async () => {
  const passId = await tenant.issue()
  const [phone, late] = [stage.phone(), stage.phone()]
  await phone.add(tenant.id, passId)
  expect((await tenant.send(`/v1/passes/${passId}/revoke`, { method: 'POST' })).status).toBe(200)
  await pushed(phone.pushToken, 1)
  expect(await phone.refresh()).toEqual([passId])
  expect(await late.add(tenant.id, passId)).toBe(201)
  await pushed(late.pushToken, 1)
})

test('the log of a wallet is accepted', async () => {
  const phone = stage.phone()
  expect((await phone.ask('POST', '/log', undefined, { logs: ['a', 'b'] })).status).toBe(200)
  expect((await phone.ask('POST', '/log', undefined, { logs: ['x'.repeat(100_000)] })).status).toBe(413)
})

test('a tenant of whom thousands of devices are told holds up nobody else', async () => {
  const DEVICES = 3000
  const storm = await stage.tenant()
  await stage.rows('INSERT INTO wallet_heads (tenant_id, changed) VALUES ($1, 0)', [storm.id])
  await stage.rows(
    `INSERT INTO apple_registrations (tenant_id, device_id, pass_id, template_id, push_token, changed, registered_at)
     SELECT $1, 'storm-' || n, 'pass_' || lpad(n::text, 26, '0'), $2, lpad(to_hex(n), 64, '0'), 0, '2026-01-01'
       FROM generate_series(1, $3::integer) AS n`,
    [storm.id, storm.templateId, DEVICES],
  )
  const passId = await tenant.issue()
  const phone = stage.phone()
  await phone.add(tenant.id, passId)
  const began = stage.push.pushes.length
  const sent = () => stage.push.pushes.length - began
  const body = { name: 'Storm' }
  const release = stage.hold(storm.id, 200)
  await storm.send(`/v1/pass_templates/${storm.templateId}`, { method: 'PATCH', body })
  await until('the storm', () => sent() === 200)
  await patch(passId)
  await until('the push of the other tenant', () => pushesTo(phone.pushToken) === 1)
  expect(sent()).toBe(201)
  release()
  await until('the end of the storm', async () => sent() > DEVICES && (await stage.isQuiet()))
  expect(sent()).toBe(DEVICES + 1)
}, 60_000)

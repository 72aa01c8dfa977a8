/** Cardholders against sanctions lists: at creation, at changes, when a list changes; and what becomes of alerts. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { cardholderScreeningWorker } from '../../runtime/cards/cardholders/screening-job.ts'
import { listSetAside, retrySetAside } from '../../runtime/operator/set-aside.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { firstFault, refusal, speakFor } from './fixtures.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-sanctions-'))

/** Entries of the list: a number, a name and, if it is known, a date of birth. */
type Listed = readonly (readonly [id: number, name: string, born?: string])[]

const LIST: Listed = [
  [1, 'VOLKOV, Dmitri', '14 Mar 1961'],
  [2, 'AL-RASHIDI, Mohammed'],
  [3, 'VOLKOFF, Dmitry Ivanovich'],
]

let written = 0

function writeList(entries: Listed): void {
  const lines = entries.map(
    ([id, name, born]) =>
      `${id},"${name}",individual,"T",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"${born ? `DOB ${born}.` : '-0-'}"`,
  )
  written += 1
  // Each list is another one, though its entries are the same.
  lines.push(
    `${90_000 + written},"NOBODY ${'X'.repeat(written)}",-0- ,"T",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- `,
  )
  writeFileSync(join(folder, 'sdn.csv'), `${lines.join('\r\n')}\r\n\x1a`)
}

let tenantId: string
let send: Send

const service = useService(async () => {
  writeList(LIST)
  return { env: { SVC_SANCTIONS_LIST: folder, SVC_LICENSED_STATES: 'CA,NY' } }
})
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(async () => {
  await useList(LIST)
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
})

/** Takes up another list, as a running process does, and holds nobody against it yet. */
async function useList(entries: Listed): Promise<void> {
  writeList(entries)
  const before = service.sanctions.list().version
  await service.sanctions.reload()
  expect(service.sanctions.list().version).not.toBe(before)
}

const parts = () => ({
  database: service.database,
  clock: service.clock,
  sanctions: service.sanctions,
  log: strictLog,
  wakeUpChannel: { publish: () => {} },
})

const create = async (content: object, through = send) =>
  (await through('/v1/cardholders', { body: { name: 'Ada Moreau', ...content } })).body
const read = async (id: string, through = send) => (await through(`/v1/cardholders/${id}`)).body
const patch = async (id: string, body: object) =>
  (await send(`/v1/cardholders/${id}`, { method: 'PATCH', body })).body
const alertsOn = async (
  id: string,
  through = send,
): Promise<{ id: string; kind: string; list: string; status: string }[]> =>
  (await through(`/v1/sanctions_alerts?cardholder_id=${id}&order=asc`)).body.data
const resolve = (id: string, resolution: string, through = send) =>
  through(`/v1/sanctions_alerts/${id}/resolve`, { body: { resolution, note: 'Looked at.' } })
const eventTypes = async (through = send): Promise<string[]> =>
  (await through('/v1/events?order=asc&limit=100')).body.data.map(({ type }: { type: string }) => type)

test('a cardholder that cannot be screened stays behind, and the others are screened', async () => {
  const [poison, other] = [await create({ name: 'Nora Quill' }), await create({ name: 'Peter Volkovski' })]
  await useList([...LIST, [77, 'VOLKOVSKI, Peter']])
  const list = service.sanctions.list()
  const match: typeof list.match = (subject) => {
    if (subject.name === 'Nora Quill') throw new TypeError('a broken row')
    return list.match(subject)
  }
  const log = pino({ level: 'silent' })
  await cardholderScreeningWorker({
    ...parts(),
    log,
    sanctions: { list: () => ({ ...list, match }) },
  }).runOnce()
  const { set_aside } = await listSetAside(service.operator, { work: 'cardholder_screening' })
  expect(set_aside).toMatchObject([{ subject_id: poison.id, reason: 'a broken row' }])
  expect((await read(other.id)).sanctions.status).toBe('potential_match')
  expect((await read(poison.id)).sanctions.list_version).not.toBe(list.version)
  await retrySetAside(service.operator, { id: poison.id })
  await cardholderScreeningWorker(parts()).runOnce()
  expect((await read(poison.id)).sanctions).toMatchObject({ status: 'clear', list_version: list.version })
  expect(await listSetAside(service.operator, {})).toEqual({ set_aside: [] })
})

const MATCHED = {
  sanctions: { status: 'potential_match' },
  requirements: { disabled_reason: 'sanctions_alert_open' },
}

describe('in the request', () => {
  test('a cardholder who is on no list is active, and shows the version of the list', async () => {
    const made = await create({})
    const list_version = service.sanctions.list().version
    const last_screened_at = new Date(service.clock.now).toISOString()
    expect(made).toMatchObject({
      status: 'active',
      sanctions: { status: 'clear', last_screened_at, list_version },
    })
    expect(await alertsOn(made.id)).toEqual([])
  })

  test('a cardholder who is on a list is pending with an open alert, which is no event', async () => {
    const made = await create({ name: 'Дмитрий Волков', date_of_birth: '1961-03-14' })
    expect(made).toMatchObject({ ...MATCHED, status: 'pending' })
    const alerts = await alertsOn(made.id)
    expect(alerts[0]).toMatchObject({
      object: 'sanctions_alert',
      cardholder_id: made.id,
      kind: 'new_match',
      list: 'OFAC SDN 1',
      score: expect.any(Number),
      matched_fields: ['name', 'date_of_birth'],
      status: 'open',
      note: null,
      resolved_at: null,
    })
    expect((await send(`/v1/sanctions_alerts/${alerts[0]!.id}`)).body).toEqual(alerts[0])
    expect(await eventTypes()).toEqual(['cardholder.created'])
    const card = await send('/v1/cards', { body: { cardholder_id: made.id, type: 'virtual' } })
    expect(refusal(card)).toEqual([409, 'conflict', 'invalid_state'])
    const switched = await send(`/v1/cardholders/${made.id}`, { method: 'PATCH', body: { status: 'active' } })
    expect(refusal(switched)).toEqual([409, 'conflict', 'invalid_state'])
  })

  test('a cardholder of the same name, born on another day or said to be a company, is reviewed all the same', async () => {
    const younger = await create({ name: 'Dmitri Volkov', date_of_birth: '1999-01-01' })
    expect(younger).toMatchObject({ status: 'pending', sanctions: { status: 'potential_match' } })
    const company = await create({ type: 'company', name: 'Dmitri Volkov', date_of_birth: undefined })
    expect(company).toMatchObject({ status: 'pending', sanctions: { status: 'potential_match' } })
  })

  test('a cardholder without a date of birth is told that one would help', async () => {
    const made = await create({ name: 'Muhammad al Rashidi' })
    expect(made.requirements).toEqual({
      disabled_reason: 'sanctions_alert_open',
      past_due: ['date_of_birth'],
    })
  })

  test('a change of identity is screened, another change is not', async () => {
    const { id } = await create({})
    expect(await patch(id, { email: 'ada@example.com' })).toMatchObject({ sanctions: { status: 'clear' } })
    expect(await patch(id, { name: 'Mohammed Al-Rashidi' })).toMatchObject({ ...MATCHED, status: 'active' })
    expect(await eventTypes()).toEqual([
      'cardholder.created',
      'cardholder.updated',
      'cardholder.sanctions.alert',
      'cardholder.updated',
    ])
  })
})

describe('an alert', () => {
  test('a sanctions alert that is false sets the cardholder free with the last one, and is not raised again', async () => {
    const made = await create({ name: 'Dmitri Volkov' })
    const [first, second, ...none] = await alertsOn(made.id)
    expect(none).toEqual([])
    const { body } = await resolve(first!.id, 'false_positive')
    expect(body).toMatchObject({
      status: 'false_positive',
      note: 'Looked at.',
      resolved_at: expect.any(String),
    })
    expect(await read(made.id)).toMatchObject({ ...MATCHED, status: 'pending' })
    await resolve(second!.id, 'false_positive')
    expect(await read(made.id)).toMatchObject({ status: 'active', sanctions: { status: 'clear' } })
    expect(await eventTypes()).toEqual([
      'cardholder.created',
      'cardholder.sanctions.resolved',
      'cardholder.sanctions.resolved',
    ])
    const again = await send(`/v1/cardholders/${made.id}/screen`, { method: 'POST' })
    expect([again.status, again.body.sanctions.status]).toEqual([200, 'clear'])
    expect(await alertsOn(made.id)).toHaveLength(2)
  })

  test('a sanctions alert that is confirmed blocks the cardholder and cancels its cards, for good', async () => {
    const made = await create({})
    const card = (await send('/v1/cards', { body: { cardholder_id: made.id, type: 'virtual' } })).body
    await patch(made.id, { name: 'Mohammed Al-Rashidi' })
    const [alert] = await alertsOn(made.id)
    expect((await resolve(alert!.id, 'confirmed')).body.status).toBe('confirmed')
    expect(await read(made.id)).toMatchObject({
      status: 'blocked',
      sanctions: { status: 'confirmed_match' },
      requirements: { disabled_reason: 'sanctions_match_confirmed' },
    })
    expect((await send(`/v1/cards/${card.id}`)).body.status).toBe('canceled')
    const again = await resolve(alert!.id, 'false_positive')
    expect(refusal(again)).toEqual([409, 'conflict', 'invalid_state'])
    for (const answer of [
      await send(`/v1/cardholders/${made.id}`, { method: 'PATCH', body: { email: null } }),
      await send(`/v1/cardholders/${made.id}/screen`, { method: 'POST' }),
      await send('/v1/test/cardholders/simulate_sanctions_match', { body: { cardholder_id: made.id } }),
    ]) {
      expect(refusal(answer)).toEqual([409, 'conflict', 'invalid_state'])
    }
  })

  test('a sanctions alert is resolved once by twenty at once', async () => {
    const made = await create({ name: 'Mohammed Al-Rashidi' })
    const [alert] = await alertsOn(made.id)
    const answers = await Promise.all(Array.from({ length: 20 }, () => resolve(alert!.id, 'false_positive')))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)])
  })

  test('a sanctions alert is simulated, also with a score, and survives a screening', async () => {
    const { id } = await create({})
    const path = '/v1/test/cardholders/simulate_sanctions_match'
    const { status, body } = await send(path, { body: { cardholder_id: id, score: 0.99 } })
    expect([status, body]).toEqual([201, expect.objectContaining({ kind: 'new_match', score: 0.99 })])
    expect(await read(id)).toMatchObject({ ...MATCHED, status: 'active' })
    await send(`/v1/cardholders/${id}/screen`, { method: 'POST' })
    expect(await alertsOn(id)).toEqual([body])
    expect(await eventTypes()).toEqual(['cardholder.created', 'cardholder.sanctions.alert'])
    const nobody = await send(path, { body: { cardholder_id: 'chd_00000000000000000000000000' } })
    expect(firstFault(nobody)).toMatchObject([422, 'validation_failed', { field: 'cardholder_id' }])
    const wrong = await send(path, { body: { cardholder_id: id, score: 1.1 } })
    expect(firstFault(wrong)).toMatchObject([422, 'validation_failed', { field: 'score' }])
  })

  test.each([
    [{ resolution: 'maybe', note: 'x' }, 'resolution'],
    [{ resolution: 'confirmed' }, 'note'],
    [{ resolution: 'confirmed', note: 'x'.repeat(10_240) }, 'note'],
  ])('resolved by %j is refused by its field', async (body, field) => {
    const [alert] = await alertsOn((await create({ name: 'Mohammed Al-Rashidi' })).id)
    const answer = await send(`/v1/sanctions_alerts/${alert!.id}/resolve`, { body })
    expect(firstFault(answer)).toEqual([422, 'validation_failed', expect.objectContaining({ field })])
  })

  test('a sanctions alert is told of from 2026-05-19 on alone', async () => {
    const old = await speakFor(service, await makeTenant(service, 'enterprise', '2026-02-01'))
    const { id } = await create({}, old)
    const path = '/v1/test/cardholders/simulate_sanctions_match'
    await resolve((await old(path, { body: { cardholder_id: id } })).body.id, 'false_positive', old)
    expect(await eventTypes(old)).toEqual(['cardholder.created'])
    expect((await alertsOn(id, old))[0]!.status).toBe('false_positive')
  })
})

describe('another list', () => {
  test('a new list finds those who were clear, tells of them, and leaves the others', async () => {
    const [one, other] = [await create({ name: 'Ivan Petrov' }), await create({})]
    const off = await create({ name: 'Ivan Petrov' })
    await patch(off.id, { status: 'inactive' })
    await useList([...LIST, [4, 'PETROV, Ivan']])
    await cardholderScreeningWorker(parts()).runOnce()
    expect(await read(one.id)).toMatchObject({ ...MATCHED, status: 'active' })
    expect((await alertsOn(one.id)).map(({ kind, list }) => [kind, list])).toEqual([
      ['new_match', 'OFAC SDN 4'],
    ])
    const { version } = service.sanctions.list()
    expect(await read(other.id)).toEqual({
      ...other,
      sanctions: { ...other.sanctions, list_version: version },
    })
    expect((await read(off.id)).sanctions.status).toBe('clear')
    expect((await eventTypes()).filter((type) => type === 'cardholder.sanctions.alert')).toHaveLength(1)
    expect(await patch(off.id, { status: 'active' })).toMatchObject({ ...MATCHED, status: 'active' })
    const text = 'SELECT actor_type FROM sandbox.audit_log WHERE tenant_id = $1 AND action = $2'
    const values = [tenantId, 'sanctions_alert.raised']
    expect((await service.database.control.query({ text }, values)).rows).toEqual([{ actor_type: 'system' }])
  })

  test('a new list says of an open alert that its entry has changed, or is gone', async () => {
    const { id } = await create({ name: 'Mohammed Al-Rashidi' })
    await useList([[2, 'AL-RASHIDI, Mohammed', '02 Jul 1970']])
    await cardholderScreeningWorker(parts()).runOnce()
    expect((await alertsOn(id))[0]).toMatchObject({ kind: 'updated_match', status: 'open' })
    await useList([[1, 'SOMEBODY, Else']])
    await cardholderScreeningWorker(parts()).runOnce()
    expect((await alertsOn(id))[0]).toMatchObject({ kind: 'cleared', status: 'open' })
    expect((await read(id)).status).toBe('pending')
  })

  test('raises again what was dismissed when the entry has changed, and only then', async () => {
    const { id } = await create({ name: 'Mohammed Al-Rashidi' })
    await resolve((await alertsOn(id))[0]!.id, 'false_positive')
    await useList(LIST)
    await cardholderScreeningWorker(parts()).runOnce()
    expect(await alertsOn(id)).toHaveLength(1)
    await useList([[2, 'AL-RASHIDI, Mohammed', '02 Jul 1970']])
    await cardholderScreeningWorker(parts()).runOnce()
    expect((await alertsOn(id)).map(({ kind, status }) => [kind, status])).toEqual([
      ['new_match', 'false_positive'],
      ['updated_match', 'open'],
    ])
  })

  test('a new list is held against each cardholder once, on two nodes at once', async () => {
    const names = Array.from({ length: 30 }, (_, index) =>
      index % 3 === 0 ? 'Ivan Petrov' : `Ada Moreau ${index}`,
    )
    await Promise.all(names.map((name) => create({ name })))
    await useList([[4, 'PETROV, Ivan']])
    await Promise.all([
      cardholderScreeningWorker({ ...parts(), batch: 2 }).runOnce(),
      cardholderScreeningWorker({ ...parts(), batch: 3 }).runOnce(),
    ])
    await cardholderScreeningWorker(parts()).runOnce()
    const { version } = service.sanctions.list()
    const { data } = (await send('/v1/cardholders?limit=100')).body
    expect(data.map((each: { sanctions: { list_version: string } }) => each.sanctions.list_version)).toEqual(
      Array(30).fill(version),
    )
    expect((await send('/v1/sanctions_alerts?limit=100')).body.data).toHaveLength(10)
    expect((await eventTypes()).filter((type) => type === 'cardholder.sanctions.alert')).toHaveLength(10)
  })

  test('a list that came into use earlier screens no cardholder again', async () => {
    const made = await create({})
    const before = service.sanctions.list()
    await useList([[4, 'MOREAU, Ada']])
    await cardholderScreeningWorker({ ...parts(), sanctions: { list: () => before } }).runOnce()
    expect(await read(made.id)).toEqual(made)
    await cardholderScreeningWorker(parts()).runOnce()
    expect(await read(made.id)).toMatchObject(MATCHED)
  })
})

test('a live cardholder from a state that is not served is refused', async () => {
  await verifyTenant(service.operator, tenantId)
  service.forget()
  const live = await speakFor(service, tenantId, 'live')
  const address = { line1: '1 Main Street', city: 'Somewhere', postal_code: '10001', country: 'US' }
  const body = (state: string) => ({ name: 'Ada Moreau', billing_address: { ...address, state } })
  expect(refusal(await live('/v1/cardholders', { body: body('TX') }))).toEqual([
    403,
    'permission_error',
    'state_not_supported',
  ])
  const made = await live('/v1/cardholders', { body: body('NY') })
  expect(made.status).toBe(201)
  const moved = { method: 'PATCH', body: { billing_address: body('TX').billing_address } }
  expect((await live(`/v1/cardholders/${made.body.id}`, moved)).status).toBe(403)
  expect((await send('/v1/cardholders', { body: body('TX') })).status).toBe(201)
})

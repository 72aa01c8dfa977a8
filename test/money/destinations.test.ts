/** Destinations: which addresses are taken, the hold, the default, and who is refused. */
import { getAddress } from 'viem/utils'
import { beforeEach, describe, expect, test } from 'vitest'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { activationWorker } from '../../runtime/money/destinations/activation-job.ts'
import { destinationScreeningWorker } from '../../runtime/money/destinations/screening-job.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { CARD_VERSIONS, eventsOf, make, patch } from '../cards/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'

const service = useService({ keepsTime: true })
let tenantId: string
let send: Send
beforeEach(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
})

const HOUR = 3_600_000
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const on = (address: string, chain = USDC_CHAINS.sandbox.id) => `${chain}:${address}`
const DESTINATION = { type: 'usdc_address', address: on(ADDRESS), holder_name: 'Harbour Coffee LLC' }

const add = (content: object = {}) => make(send, '/v1/payout_destinations', { ...DESTINATION, ...content })
const get = async (id: string) => (await send(`/v1/payout_destinations/${id}`)).body
const activate = () =>
  activationWorker({ ...service, log: strictLog, wakeUpChannel: { publish: () => {} } }).runOnce()
const defaults = async () =>
  (await send('/v1/payout_destinations?order=asc')).body.data.map(
    (each: { default: boolean }) => each.default,
  )

describe.each(CARD_VERSIONS)('%s', (version) => {
  test('a payout destination is held for 24 hours, then active, and both are told once', async () => {
    tenantId = await makeTenant(service, 'enterprise', version)
    send = await speakFor(service, tenantId)
    const made = await add({ metadata: { a: '1' } })
    const created = new Date(service.clock.now).toISOString()
    expect(made).toEqual({
      id: expect.stringMatching(/^pod_/),
      object: 'payout_destination',
      type: 'usdc_address',
      address: on(ADDRESS),
      bank_account: null,
      holder_name: 'Harbour Coffee LLC',
      default: true,
      status: 'inactive',
      active_at: new Date(service.clock.now + 24 * HOUR).toISOString(),
      metadata: { a: '1' },
      created,
      updated: created,
    })
    expect(await get(made.id)).toEqual(made)
    service.clock.now += 24 * HOUR - 1
    await activate()
    expect((await get(made.id)).status).toBe('inactive')
    service.clock.now += 1
    await Promise.all([activate(), activate(), activate()])
    expect(await get(made.id)).toMatchObject({ status: 'active', active_at: made.active_at })
    expect(await eventsOf(send)).toEqual(['payout_destination.created', 'payout_destination.activated'])
    const { data } = (await send('/v1/events')).body
    expect(data.flatMap(checkEvent)).toEqual([])
  })
})

test('a settlement clock that is ahead ends the hold earlier, of those added later too', async () => {
  const { id } = await add()
  const text = 'INSERT INTO sandbox.settlement_clocks (tenant_id, offset_ms) VALUES ($1, $2)'
  await service.database.control.query({ text }, [tenantId, 25 * HOUR])
  const later = await add()
  expect(later.active_at).toBe(new Date(service.clock.now + 49 * HOUR).toISOString())
  await activate()
  expect([(await get(id)).status, (await get(later.id)).status]).toEqual(['active', 'inactive'])
  service.clock.now += 24 * HOUR
  await activate()
  expect((await get(later.id)).status).toBe('active')
})

describe('an address', () => {
  const refused = async (address: string) => {
    const [status, code, fault] = firstFault(
      await send('/v1/payout_destinations', { body: { ...DESTINATION, address } }),
    )
    expect([status, code]).toEqual([422, 'validation_failed'])
    return fault as { field: string; issue: string }
  }
  test.each([
    ['of another chain', on(ADDRESS, 'eip155:1'), 'is on a different chain'],
    ['with zeros before the number of its chain', on(ADDRESS, 'eip155:031337'), 'is on a different chain'],
    ['of nobody', on(`0x${'0'.repeat(40)}`), 'is the zero address'],
    ['with a letter in the wrong case', on(ADDRESS.replace('E7', 'e7')), 'has a wrong EIP-55 checksum'],
    [
      'without a checksum',
      on('0xde709f2102306220921060314715629080e2fb77'.replace('de', 'DE')),
      'has a wrong EIP-55 checksum',
    ],
    ['all small letters', on(ADDRESS.toLowerCase()), 'has a wrong EIP-55 checksum'],
    ['of the contract', on(USDC_CHAINS.sandbox.contract), 'is the USDC contract itself'],
    ['no CAIP-10', ADDRESS, 'must'],
    ['of 39 digits', on(ADDRESS.slice(0, -1)), 'must'],
  ])('an address of a destination is refused by its field: %s', async (_, address, issue) => {
    expect(await refused(address)).toEqual({ field: 'address', issue: expect.stringContaining(issue) })
    expect((await send('/v1/payout_destinations')).body.data).toEqual([])
  })

  // EIP-55, "Test Cases".
  test.each([
    '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x27b1fdb04752bbc536007a920d24acb045561c26',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ])('the address %s is accepted as a destination', async (address) => {
    expect(getAddress(address)).toBe(address)
    expect((await add({ address: on(address) })).address).toBe(on(address))
  })
})

describe('the default', () => {
  test('the default destination is the first, until another is made it', async () => {
    const first = await add()
    const second = await add()
    expect([first.default, second.default, await defaults()]).toEqual([true, false, [true, false]])
    expect((await patch(send, `/v1/payout_destinations/${second.id}`, { default: true })).body.default).toBe(
      true,
    )
    expect(await defaults()).toEqual([false, true])
    expect((await add({ default: true })).default).toBe(true)
    expect(await defaults()).toEqual([false, false, true])
    await patch(send, `/v1/payout_destinations/${second.id}`, { default: false })
    expect(await defaults()).toEqual([false, false, true])
  })

  test('the default destination can be none, and is the next one then', async () => {
    const { id } = await add({ default: false })
    expect(await defaults()).toEqual([false])
    await patch(send, `/v1/payout_destinations/${id}`, { default: true })
    await patch(send, `/v1/payout_destinations/${id}`, { default: false })
    expect(await defaults()).toEqual([false])
    expect((await add()).default).toBe(true)
  })

  test('the default destination is one, however many are made it at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => add()))
    expect(all.filter((each) => each.default)).toHaveLength(1)
    await Promise.all(all.map(({ id }) => patch(send, `/v1/payout_destinations/${id}`, { default: true })))
    expect((await defaults()).filter(Boolean)).toHaveLength(1)
  })
})

test('a disabled destination stays disabled: no default, no activation, no second time', async () => {
  const { id } = await add()
  const disable = () => send(`/v1/payout_destinations/${id}/disable`, { method: 'POST' })
  const { body } = await disable()
  expect(body).toMatchObject({ status: 'disabled', default: false })
  expect(refusal(await disable())).toEqual([409, 'conflict', 'invalid_state'])
  const again = await patch(send, `/v1/payout_destinations/${id}`, { default: true })
  expect(refusal(again)).toEqual([409, 'conflict', 'invalid_state'])
  expect((await patch(send, `/v1/payout_destinations/${id}`, { metadata: { a: '1' } })).status).toBe(200)
  service.clock.now += 48 * HOUR
  await activate()
  expect((await get(id)).status).toBe('disabled')
  expect(await eventsOf(send)).toEqual(['payout_destination.created', 'payout_destination.disabled'])
})

test('a holder on the sanctions list is denied, at once or at the end of the hold', async () => {
  const made = await add({ holder_name: 'Dmitri Volkov' })
  expect(made).toMatchObject({ status: 'denied', default: false, active_at: null })
  expect(await eventsOf(send)).toEqual(['payout_destination.created', 'payout_destination.denied'])
  const { id } = await add()
  service.clock.now += 24 * HOUR
  const list = { match: () => [{}] } as never
  await activationWorker({
    ...service,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
    sanctions: { list: () => list },
  }).runOnce()
  expect(await get(id)).toMatchObject({ status: 'denied', default: false, active_at: null })
  const { data } = (await send('/v1/events?type=payout_destination.denied')).body
  expect([data.length, data.flatMap(checkEvent)]).toEqual([2, []])
})

/** Of the test list. */
const LISTED_ADDRESS = '0x5a9E0F1C2b3d4e5F60718293A4b5c6d7e8f90112'

test('a listed address is denied, at once or at the end of the hold', async () => {
  const made = await add({ address: on(LISTED_ADDRESS) })
  expect(made).toMatchObject({ status: 'denied', default: false, active_at: null })
  expect(await eventsOf(send)).toEqual(['payout_destination.created', 'payout_destination.denied'])
  const { id } = await add()
  service.clock.now += 24 * HOUR
  const later = {
    ...service.sanctions.list(),
    findWallet: (account: string) => account === on(ADDRESS) && {},
  }
  await activationWorker({
    ...service,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
    sanctions: { list: () => later as never },
  }).runOnce()
  expect(await get(id)).toMatchObject({ status: 'denied', default: false, active_at: null })
})

test('an address that comes on the list later is denied', async () => {
  const parts = { ...service, log: strictLog, wakeUpChannel: { publish: () => {} } }
  const { id } = await add()
  service.clock.now += 24 * HOUR
  await activate()
  await destinationScreeningWorker(parts).runOnce()
  const number = service.sanctions.list().number + 1
  const text = `INSERT INTO control.sanctions_lists (number, version, since) VALUES ($1, 'wallets', now())`
  await service.database.control.query({ text }, [number])
  const later = { ...service.sanctions.list(), number, findWallet: () => ({}) }
  await destinationScreeningWorker({ ...parts, sanctions: { list: () => later as never } }).runOnce()
  expect(await get(id)).toMatchObject({ status: 'denied', default: false, active_at: null })
  await service.database.control.query({ text: 'DELETE FROM control.sanctions_lists WHERE number = $1' }, [
    number,
  ])
})

test('a holder who comes on the list later is denied, once however many look', async () => {
  const parts = { ...service, log: strictLog, wakeUpChannel: { publish: () => {} } }
  const [listed, other] = [await add(), await add({ holder_name: 'Ada Moreau' })]
  service.clock.now += 24 * HOUR
  await activate()
  await destinationScreeningWorker(parts).runOnce()
  expect((await get(listed.id)).status).toBe('active')
  const number = service.sanctions.list().number + 1
  const text = `INSERT INTO control.sanctions_lists (number, version, since) VALUES ($1, 'later', now())`
  const match = ({ name }: { name: string }) => (name === listed.holder_name ? [{}] : [])
  const later = { list: () => ({ ...service.sanctions.list(), number, match }) as never }
  await service.database.control.query({ text }, [number])
  await destinationScreeningWorker(parts).runOnce() // of a node that has the list of before
  expect((await get(listed.id)).status).toBe('active')
  await Promise.all([1, 2].map(() => destinationScreeningWorker({ ...parts, sanctions: later }).runOnce()))
  expect(await get(listed.id)).toMatchObject({ status: 'denied', default: false, active_at: null })
  expect(await get(other.id)).toMatchObject({ status: 'active' })
  const { data } = (await send('/v1/events?type=payout_destination.denied')).body
  expect([data.length, data.flatMap(checkEvent)]).toEqual([1, []])
  await service.database.control.query({ text: 'DELETE FROM control.sanctions_lists WHERE number = $1' }, [
    number,
  ])
})

test('GET /v1/payout_destinations filters its list', async () => {
  const first = await add()
  await add()
  await send(`/v1/payout_destinations/${first.id}/disable`, { method: 'POST' })
  const idsOf = async (query: string) =>
    (await send(`/v1/payout_destinations?${query}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await idsOf('status=disabled')).toEqual([first.id])
  expect(await idsOf('status=disabled&type=usdc_address')).toEqual([first.id])
  expect(await idsOf('type=bank_account')).toEqual([])
  expect(await idsOf('type=usdc_address')).toHaveLength(2)
})

test('a text that hides what it says is no name', async () => {
  const answer = await send('/v1/payout_destinations', {
    body: { ...DESTINATION, holder_name: 'Harbour\u202e' },
  })
  expect(firstFault(answer)[2]).toMatchObject({ field: 'holder_name' })
})

describe('a bank account', () => {
  const ACCOUNT = {
    holder_name: 'Harbour Coffee LLC',
    account_number: '000123456789',
    routing_number: '110000000',
    country: 'US',
  }
  const tokenize = (by: Send) => make(by, '/v1/tokens', { type: 'bank_account', bank_account: ACCOUNT })

  test('a bank account is for live only', async () => {
    const { id } = await tokenize(send)
    const body = { type: 'bank_account', token_id: id, holder_name: 'Harbour Coffee LLC' }
    const answer = await send('/v1/payout_destinations', { body })
    expect(refusal(answer)).toEqual([403, 'permission_error', 'live_only'])
  })

  test('a bank account comes by a token, once, and its number stays sealed', async () => {
    const live = await speakFor(service, tenantId, 'live')
    const body = { type: 'bank_account', token_id: '', holder_name: 'Harbour Coffee LLC' }
    expect(
      (await live('/v1/payout_destinations', { body: { ...DESTINATION, address: on(ADDRESS) } })).body.error
        .code,
    ).toBe('business_verification_required')
    await verifyTenant(service.operator, tenantId)
    service.forget()
    body.token_id = (await tokenize(live)).id
    const made = await make(live, '/v1/payout_destinations', body)
    expect(made).toMatchObject({
      type: 'bank_account',
      address: null,
      bank_account: { last4: '6789', routing_number: '110000000', country: 'US' },
    })
    const [status, code, fault] = firstFault(await live('/v1/payout_destinations', { body }))
    expect([status, code, fault]).toEqual([
      422,
      'validation_failed',
      { field: 'token_id', issue: 'was already used' },
    ])
    const { rows } = await service.database.control.query<{ text: string }>({
      text: `SELECT concat((SELECT json_agg(d) FROM live.payout_destinations d), (SELECT json_agg(e) FROM live.events e),
                           (SELECT json_agg(a) FROM live.audit_log a), (SELECT json_agg(i) FROM live.idempotency_answers i)) AS text`,
    })
    expect(rows[0]!.text).toContain('6789')
    expect(rows[0]!.text).not.toContain(ACCOUNT.account_number)
    expect(rows[0]!.text).not.toContain(Buffer.from(ACCOUNT.account_number).toString('hex'))
  })
})

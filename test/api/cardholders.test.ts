/** Cardholders over HTTP: created, read, listed and changed, in every version that has them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { firstFault, refusal, speakFor } from './fixtures.ts'

const SINCE = ['2025-11-01', '2026-02-01', '2026-05-19'] as const

const service = useService()
let tenantId: string
let send: Send

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
})

const ADDRESS = {
  line1: '500 Harbor Street',
  line2: 'Suite 2',
  city: 'Oakland',
  state: 'CA',
  postal_code: '94607',
  country: 'US',
}

const ADA = {
  type: 'individual',
  name: 'Ada Moreau',
  email: 'ada@example.com',
  phone_number: '+14155550123',
  date_of_birth: '1990-04-12',
  billing_address: ADDRESS,
  metadata: { team: 'red' },
}

async function create(content: object = {}, through = send) {
  const { status, body } = await through('/v1/cardholders', { body: { ...ADA, ...content } })
  expect(status).toBe(201)
  return body
}

const change = (id: string, body: object, through = send) =>
  through(`/v1/cardholders/${id}`, { method: 'PATCH', body })

test.each(SINCE)('a cardholder in %s is active at once, and reads as it was answered', async (version) => {
  const { secret } = await makeKey(service, tenantId, {})
  const through = speak(service.urls.sandbox, { secret, version })
  const made = await create({}, through)
  expect(made).toMatchObject({
    ...ADA,
    object: 'cardholder',
    status: 'active',
    requirements: { disabled_reason: null, past_due: [] },
    sanctions: { status: 'clear' },
  })
  expect((await through(`/v1/cardholders/${made.id}`)).body).toEqual(made)
  expect((await through('/v1/cardholders?limit=1')).body.data).toEqual([made])
})

test('a name is enough; what is absent is null', async () => {
  const { status, body } = await send('/v1/cardholders', { body: { name: 'Κωνσταντίνος' } })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    type: 'individual',
    email: null,
    phone_number: null,
    date_of_birth: null,
    billing_address: null,
    metadata: {},
  })
})

test('the version before has no cardholders', async () => {
  const { secret } = await makeKey(service, tenantId, {})
  const old = speak(service.urls.sandbox, { secret, version: '2025-06-01' })
  expect((await old('/v1/cardholders')).status).toBe(404)
  expect((await old('/v1/cardholders', { body: { name: 'Ada' } })).status).toBe(404)
})

describe('bad input is refused by its field', () => {
  test.each<[string, object, string]>([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 10 kB', { name: 'a'.repeat(10_240) }, 'name'],
    ['a name with NUL', { name: 'Ada\u0000Moreau' }, 'name'],
    ['half a character', { name: 'Ada \ud800' }, 'name'],
    ['a name that is turned round', { name: 'Ada \u202emoreau' }, 'name'],
    ['a name of several lines', { name: 'Ada\nMoreau' }, 'name'],
    ['a name without a letter', { name: ' \u200b-' }, 'name'],
    ['a number as name', { name: 5 }, 'name'],
    ['an unknown type', { type: 'robot' }, 'type'],
    ['no e-mail address', { email: 'ada' }, 'email'],
    ['a telephone number without its country', { phone_number: '0415 555' }, 'phone_number'],
    ['born tomorrow', { date_of_birth: '2026-06-02' }, 'date_of_birth'],
    ['born on 30 February', { date_of_birth: '1990-02-30' }, 'date_of_birth'],
    ['born in another century', { date_of_birth: '1899-12-31' }, 'date_of_birth'],
    ['born at an instant', { date_of_birth: '1990-04-12T00:00:00Z' }, 'date_of_birth'],
    ['a company that was born', { type: 'company' }, 'date_of_birth'],
    ['a country in words', { billing_address: { ...ADDRESS, country: 'USA' } }, 'billing_address.country'],
    [
      'a country that there is not',
      { billing_address: { ...ADDRESS, country: 'ZZ' } },
      'billing_address.country',
    ],
    ['a country of the past', { billing_address: { ...ADDRESS, country: 'SU' } }, 'billing_address.country'],
    ['a state that there is not', { billing_address: { ...ADDRESS, state: 'ZZ' } }, 'billing_address.state'],
    ['a state in words', { billing_address: { ...ADDRESS, state: 'California' } }, 'billing_address.state'],
    ['no state', { billing_address: { ...ADDRESS, state: null } }, 'billing_address.state'],
    ['half an address', { billing_address: { country: 'US' } }, 'billing_address.line1'],
    ['a street of blanks', { billing_address: { ...ADDRESS, line1: ' ' } }, 'billing_address.line1'],
    ['an unknown member', { nickname: 'Ada' }, 'nickname'],
    [
      'an unknown member of the address',
      { billing_address: { ...ADDRESS, zip: '1' } },
      'billing_address.zip',
    ],
  ])('POST /v1/cardholders names the field of %s', async (_about, content, field) => {
    const fault = [422, 'validation_failed', expect.objectContaining({ field })]
    const body = JSON.parse(JSON.stringify({ ...ADA, ...content }))
    expect(firstFault(await send('/v1/cardholders', { body }))).toEqual(fault)
    if (field === 'type' || !Object.values(content).every((value) => value !== undefined)) return
    const { id } = await create({
      ...('type' in content ? { type: 'company', date_of_birth: undefined } : {}),
    })
    const patched = 'type' in content ? { date_of_birth: ADA.date_of_birth } : content
    expect(firstFault(await change(id, patched))).toEqual(fault)
  })

  test('a name in another script is accepted as a name', async () => {
    for (const name of [
      'محمد العلي',
      'Владимир Ленин',
      'ゆき',
      "D'Arcy O\u2019Neill-Søren",
      'نیک\u200cنام',
      '7-Eleven',
    ]) {
      expect((await create({ name })).name).toBe(name)
    }
  })
})

test('a change of a cardholder is merged, null removes, and an address is replaced whole', async () => {
  const made = await create()
  const billing_address = { line1: 'Rue 1', city: 'Paris', postal_code: '75001', country: 'FR' }
  const { status, body } = await change(made.id, {
    email: null,
    billing_address,
    metadata: { team: null, a: 'b' },
  })
  expect([status, body]).toEqual([
    200,
    {
      ...made,
      email: null,
      billing_address: { ...billing_address, line2: null, state: null },
      metadata: { a: 'b' },
      updated: body.updated,
    },
  ])
  expect((await send(`/v1/cardholders/${made.id}`)).body).toEqual(body)
})

test('a cardholder is switched off and on', async () => {
  const { id } = await create()
  const off = await change(id, { status: 'inactive' })
  expect(off.body).toMatchObject({ status: 'inactive', requirements: { disabled_reason: 'switched_off' } })
  expect((await change(id, { status: 'active' })).body).toMatchObject({ status: 'active' })
  expect(refusal(await change(id, { status: 'blocked' }))).toEqual([
    422,
    'invalid_request',
    'validation_failed',
  ])
})

test('lists are filtered by status and type', async () => {
  const through = await speakFor(service, await makeTenant(service))
  const active = await create({}, through)
  const company = await create({ type: 'company', date_of_birth: undefined }, through)
  const { body: inactive } = await change((await create({}, through)).id, { status: 'inactive' }, through)
  const listed = async (filter: string) =>
    (await through(`/v1/cardholders?${filter}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await listed('')).toEqual([inactive.id, company.id, active.id])
  expect(await listed('status=active')).toEqual([company.id, active.id])
  expect(await listed('type=individual&order=asc')).toEqual([active.id, inactive.id])
  expect(await listed('type=company&status=inactive')).toEqual([])
})

test('each change is told of, with what it was before, and audited', async () => {
  const through = await speakFor(service, await makeTenant(service))
  const made = await create({}, through)
  const { body: changed } = await change(made.id, { name: 'Ada M. Moreau' }, through)
  const { data } = (await through('/v1/events')).body
  expect(
    data.map((each: Record<string, unknown>) => [each.type, each.data, each.previous_attributes]),
  ).toEqual([
    ['cardholder.updated', { cardholder: changed }, expect.objectContaining({ name: ADA.name })],
    ['cardholder.created', { cardholder: made }, undefined],
  ])
})

test('a live cardholder needs a verified business', async () => {
  const business = await makeTenant(service)
  const live = await speakFor(service, business, 'live')
  const answer = await live('/v1/cardholders', { body: ADA })
  expect(refusal(answer)).toEqual([403, 'permission_error', 'business_verification_required'])
  await verifyTenant(service.operator, business)
  service.forget()
  expect((await live('/v1/cardholders', { body: ADA })).status).toBe(201)
})

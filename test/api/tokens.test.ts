/** Tokens of people and bank accounts: made once, used once, sealed meanwhile. */
import { beforeAll, describe, expect, test } from 'vitest'
import { sweep } from '../../runtime/process/cleanup-job.ts'
import { makeKey, makeTenant, type Send, START, speak, useService } from '../support/service.ts'
import { firstFault, refusal, speakFor } from './fixtures.ts'

const SINCE = ['2025-11-01', '2026-02-01', '2026-05-19'] as const
const MINUTE = 60_000

const service = useService()
let tenantId: string
let send: Send

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
})

const PERSON = {
  name: 'Ada Moreau',
  date_of_birth: '1990-04-12',
  address: { line1: 'Rue 1', city: 'Paris', postal_code: '75001', country: 'FR' },
}
const ACCOUNT = {
  holder_name: 'Harbour Coffee LLC',
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}
const OF_PERSON = { type: 'person', person: PERSON }
const OF_ACCOUNT = { type: 'bank_account', bank_account: ACCOUNT }

async function makeToken(body: object = OF_PERSON, through = send): Promise<string> {
  const answer = await through('/v1/tokens', { body })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return answer.body.id
}

const hold = (token_id: string, content: object = {}) =>
  send('/v1/cardholders', { body: { token_id, ...content } })

describe.each(SINCE)('in %s', (version) => {
  test.each([OF_PERSON, OF_ACCOUNT])('$type: the answer tells nothing of what it holds', async (body) => {
    const { secret } = await makeKey(service, tenantId, {})
    const answer = await speak(service.urls.sandbox, { secret, version })('/v1/tokens', { body })
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: answer.body.id,
        object: 'token',
        type: body.type,
        expires_at: new Date(START + 30 * MINUTE).toISOString(),
        used_at: null,
        created: new Date(START).toISOString(),
      },
    ])
  })
})

test('a browser makes them with a publishable key, and nothing else', async () => {
  const { secret } = await makeKey(service, tenantId, { kind: 'publishable' })
  const page = speak(service.urls.sandbox, { secret })
  const answer = await page('/v1/tokens', { body: OF_PERSON, headers: { Origin: 'https://shop.example' } })
  expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([201, '*'])
  const asked = await fetch(`${service.urls.sandbox}/v1/tokens`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' },
  })
  expect([asked.status, asked.headers.get('Access-Control-Allow-Methods')]).toEqual([204, 'POST'])
  const refused = await page('/v1/cardholders', { body: { token_id: answer.body.id } })
  expect(refusal(refused)).toEqual([403, 'permission_error', 'publishable_key_not_allowed'])
  expect((await hold(answer.body.id)).status).toBe(201)
})

test('the content of a token becomes the cardholder, and is forgotten', async () => {
  const id = await makeToken()
  const { status, body } = await hold(id, { email: 'ada@example.com' })
  expect([status, body]).toEqual([
    201,
    expect.objectContaining({
      name: PERSON.name,
      date_of_birth: PERSON.date_of_birth,
      billing_address: { ...PERSON.address, line2: null, state: null },
      email: 'ada@example.com',
    }),
  ])
  expect((await stored(id)).details).toBeNull()
})

test('a change takes one too', async () => {
  const { id } = (await send('/v1/cardholders', { body: { name: 'Ada' } })).body
  const changed = await send(`/v1/cardholders/${id}`, {
    method: 'PATCH',
    body: { token_id: await makeToken(), phone_number: '+14155550123' },
  })
  expect([changed.status, changed.body]).toEqual([
    200,
    expect.objectContaining({
      name: PERSON.name,
      date_of_birth: PERSON.date_of_birth,
      phone_number: '+14155550123',
    }),
  ])
})

async function stored(id: string) {
  const text = 'SELECT t::text AS row, details FROM sandbox.tokens t WHERE tenant_id = $1 AND id = $2'
  const { rows } = await service.database.control.query<{ row: string; details: Buffer | null }>({ text }, [
    tenantId,
    id,
  ])
  return rows[0]!
}

test('nothing of it is legible at rest, or opens in another row', async () => {
  const [one, other] = [await makeToken(OF_ACCOUNT), await makeToken()]
  const row = await stored(one)
  const bytes = row.details!.toString('latin1')
  for (const text of [ACCOUNT.account_number, ACCOUNT.holder_name]) {
    expect(row.row).not.toContain(text)
    expect(bytes).not.toContain(text)
  }
  const text = 'SELECT body::text AS body, head FROM sandbox.idempotency_answers WHERE tenant_id = $1'
  const { rows } = await service.database.control.query({ text }, [tenantId])
  expect(JSON.stringify(rows)).not.toContain(ACCOUNT.account_number)
  const swap = 'UPDATE sandbox.tokens SET details = $3 WHERE tenant_id = $1 AND id = $2'
  await service.database.control.query({ text: swap }, [
    tenantId,
    other,
    (await stored(await makeToken())).details,
  ])
  expect((await hold(other)).status).toBe(500)
})

describe('one that cannot be used is refused', () => {
  const fault = (issue: string) => [
    422,
    'validation_failed',
    { field: 'token_id', issue: expect.stringContaining(issue) },
  ]

  test('a token that has been used is refused the second time', async () => {
    const id = await makeToken()
    expect((await hold(id)).status).toBe(201)
    expect(firstFault(await hold(id))).toEqual(fault('was already used'))
  })

  test('a token that twenty requests use at once is given to one', async () => {
    const id = await makeToken()
    const answers = await Promise.all(Array.from({ length: 20 }, () => hold(id)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  test('a token is not used up by a request that fails', async () => {
    const id = await makeToken()
    expect((await hold(id, { phone_number: '1' })).status).toBe(422)
    expect(firstFault(await hold(id, { name: 'Ada' }))).toEqual([
      422,
      'validation_failed',
      expect.objectContaining({ field: 'name' }),
    ])
    expect((await hold(id)).status).toBe(201)
  })

  test('a token is refused after half an hour', async () => {
    const [early, late] = [await makeToken(), await makeToken()]
    service.clock.now += 30 * MINUTE - 1
    expect((await hold(early)).status).toBe(201)
    service.clock.now += 1
    expect(firstFault(await hold(late))).toEqual(fault('expired'))
    await sweep(service.database, service.clock)
    expect(firstFault(await hold(late))).toEqual(fault('does not identify an existing token'))
  })

  test('a token is refused of a bank account, for a company, of nobody, of another tenant', async () => {
    expect(firstFault(await hold(await makeToken(OF_ACCOUNT)))).toEqual(fault('for a bank account'))
    expect(firstFault(await hold(await makeToken(), { type: 'company' }))).toEqual(fault('individuals only'))
    expect(firstFault(await hold('tok_00000000000000000000000000'))).toEqual(
      fault('does not identify an existing token'),
    )
    const others = await makeToken(OF_PERSON, await speakFor(service, await makeTenant(service)))
    expect(firstFault(await hold(others))).toEqual(fault('does not identify an existing token'))
  })
})

test.each<[string, object, string]>([
  ['an empty name', { ...OF_PERSON, person: { ...PERSON, name: '' } }, 'person.name'],
  ['a name of 10 kB', { ...OF_PERSON, person: { ...PERSON, name: 'a'.repeat(10_240) } }, 'person.name'],
  ['a name that is turned round', { ...OF_PERSON, person: { ...PERSON, name: 'a\u202eb' } }, 'person.name'],
  [
    'born tomorrow',
    { ...OF_PERSON, person: { ...PERSON, date_of_birth: '2026-06-02' } },
    'person.date_of_birth',
  ],
  [
    'a country that there is not',
    { ...OF_PERSON, person: { ...PERSON, address: { ...PERSON.address, country: 'ZZ' } } },
    'person.address.country',
  ],
  [
    'an American address without a state',
    { ...OF_PERSON, person: { ...PERSON, address: { ...PERSON.address, country: 'US' } } },
    'person.address.state',
  ],
  ['an unknown member', { ...OF_PERSON, person: { ...PERSON, email: 'a@b.de' } }, 'person.email'],
  [
    'a short account number',
    { ...OF_ACCOUNT, bank_account: { ...ACCOUNT, account_number: '1' } },
    'bank_account.account_number',
  ],
  [
    'eight digits of routing',
    { ...OF_ACCOUNT, bank_account: { ...ACCOUNT, routing_number: '11000000' } },
    'bank_account.routing_number',
  ],
  [
    'a wrong check digit',
    { ...OF_ACCOUNT, bank_account: { ...ACCOUNT, routing_number: '110000001' } },
    'bank_account.routing_number',
  ],
  [
    'no routing at all',
    { ...OF_ACCOUNT, bank_account: { ...ACCOUNT, routing_number: '000000000' } },
    'bank_account.routing_number',
  ],
  ['the other kind', { type: 'person', bank_account: ACCOUNT }, 'person'],
])('POST /v1/tokens refuses %s by its field', async (_about, body, field) => {
  expect(firstFault(await send('/v1/tokens', { body }))).toEqual([
    422,
    'validation_failed',
    expect.objectContaining({ field }),
  ])
})

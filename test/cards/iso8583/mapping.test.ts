/** ISO 8583 messages become messages of the network document, and decisions become answers. */
import { describe, expect, test } from 'vitest'
import { answerWith, writeAnswer } from '../../../runtime/cards/iso8583/answers.ts'
import { decodeMessage } from '../../../runtime/cards/iso8583/codec/decode.ts'
import { encodeMessage } from '../../../runtime/cards/iso8583/codec/encode.ts'
import { type IsoMessage, type IsoValue, valueAt } from '../../../runtime/cards/iso8583/codec/message.ts'
import { closestInstant } from '../../../runtime/cards/iso8583/identity.ts'
import { IsoRefusal } from '../../../runtime/cards/iso8583/refusal.ts'
import { readRequest } from '../../../runtime/cards/iso8583/requests.ts'
import {
  CARD,
  DIALECT_NAMES,
  dialectOf,
  NOW,
  parts,
  purchase,
  recordingNetwork,
  TRANSACTION_IDS,
} from './samples.ts'

type Name = (typeof DIALECT_NAMES)[number]
type Changes = Readonly<Record<number, IsoValue | undefined>>

/** Sends a message over the codec, and returns what the network got and the answer. */
async function exchange(name: Name, message: IsoMessage, answer: object = {}, now = NOW) {
  const dialect = dialectOf(name)
  const received = decodeMessage(dialect, encodeMessage(dialect, message))
  const network = recordingNetwork(answer)
  const request = readRequest(dialect, received, now)
  if (!request) throw new Error('no request')
  const answered = writeAnswer(
    received,
    request,
    await network.exchange('live', request.kind, request.message, 0),
  )
  return { ...network.calls[0]!, answer: decodeMessage(dialect, encodeMessage(dialect, answered)) }
}

const ask = async (name: Name, changes: Changes = {}, mti = '0100', now = NOW) => {
  const { kind, message } = await exchange(name, purchase(name, changes, mti), {}, now)
  return { asked: kind, ...message }
}

function refusalOf(name: Name, changes: Changes, mti = '0100'): IsoRefusal {
  try {
    readRequest(dialectOf(name), purchase(name, changes, mti), NOW)
  } catch (error) {
    if (error instanceof IsoRefusal) return error
    throw error
  }
  throw new Error('the message is accepted')
}

describe.each(DIALECT_NAMES)('%s', (name) => {
  const transaction_id = TRANSACTION_IDS[name]
  const identity = { message_id: '0100-20260601120000-000123-400000', sent_at: '2026-06-01T12:00:00.000Z' }
  const merchant = {
    ...{ name: 'Corner Bistro', category_code: '5812', network_id: 'MERCHANT0000001' },
    ...{ city: 'Portland', country: 'US' },
  }
  /** Signs of an increment in the dialect. */
  const increment: Changes =
    name === 'bcd'
      ? { 63: parts({ 3: '3900' }) }
      : {
          48: new Map([
            ['first', 'R'],
            ['63', `${transaction_id}  `],
          ]),
          61: parts({
            attendance: '0',
            reserved: '0',
            location: '0',
            cardholder: '0',
            card: '0',
            capture: '0',
            status: '4',
          }),
        }

  test('a purchase', async () => {
    expect(await ask(name)).toEqual({
      ...identity,
      ...{ asked: 'authorize', transaction_id, card_number: CARD, amount: 1250, currency: 'usd', merchant },
      ...{ entry_method: 'chip', partial_approval: false },
    })
  })

  test('a purchase in yen, which the network converted to dollars', async () => {
    const changes = { 4: '000000001500', 49: '392', 6: '000000001017', 51: '840' }
    expect(await ask(name, changes)).toMatchObject({
      ...{ amount: 1017, currency: 'usd', merchant_amount: { amount: 1500, currency: 'jpy' } },
    })
    expect(await ask(name, { 4: '000000001500', 49: '392' })).toMatchObject({ amount: 1500, currency: 'jpy' })
  })

  test('an account verification, a balance inquiry and an increment', async () => {
    expect(await ask(name, { 4: '000000000000' })).toMatchObject({ asked: 'authorize', amount: 0 })
    expect(await ask(name, { 3: '310000', 4: undefined })).toEqual({
      ...identity,
      ...{ asked: 'inquireBalance', card_number: CARD },
    })
    expect(await ask(name, increment)).toEqual({
      ...identity,
      ...{ asked: 'increment', transaction_id, card_number: CARD, amount: 1250 },
    })
  })

  test('a repetition has the identifier of the original', async () => {
    expect((await ask(name, {}, '0101')).message_id).toBe(identity.message_id)
    const reversal = { 11: '000124' }
    expect((await ask(name, reversal, '0401')).message_id).toBe(
      (await ask(name, reversal, '0400')).message_id,
    )
    expect((await ask(name, reversal, '0421')).message_id).toBe('0420-20260601120000-000124-400000')
  })

  const original = parts({
    ...{ mti: '0100', stan: '000123', sent: '0601120000', acquirer: '00000400000', forwarder: '00000000000' },
  })

  test('an advice names the message on which the network decided', async () => {
    const advice = { 7: '0601121500', 11: '000777', 39: '00', 90: original }
    expect(await ask(name, advice, '0120')).toEqual({
      ...identity,
      ...{
        asked: 'advise',
        kind: 'authorization',
        message_id: '0120-20260601121500-000777-400000',
        advised_message_id: identity.message_id,
      },
      ...{ transaction_id, card_number: CARD, approved: true, amount: 1250, currency: 'usd', merchant },
      entry_method: 'chip',
    })
  })

  test('the advice of an increment, and one that repeats the fields of the request', async () => {
    expect(await ask(name, { ...increment, 39: '51' }, '0120')).toMatchObject({
      ...{ kind: 'increment', approved: false, amount: 1250, advised_message_id: identity.message_id },
    })
  })

  test('a reversal of all, and of a part', async () => {
    expect(await ask(name, {}, '0400')).toEqual({
      ...{ asked: 'reverse', message_id: '0400-20260601120000-000123-400000', sent_at: identity.sent_at },
      ...{ transaction_id, card_number: CARD },
    })
    const rest =
      name === 'ascii'
        ? { billing: '0'.repeat(12), reserved: '0'.repeat(6) }
        : { 3: '0'.repeat(9), 4: '0'.repeat(9) }
    const replaced = (amount: string) => parts({ 1: amount, 2: '0'.repeat(12), ...rest })
    expect(await ask(name, { 95: replaced('000000001000') }, '0420')).toMatchObject({
      asked: 'reverse',
      amount: 250,
    })
    expect(await ask(name, { 95: replaced('000000000000') }, '0420')).not.toHaveProperty('amount')
    // 1,500 yen were billed as 10.17 dollars; 500 yen remain, which are 3.39 dollars.
    const converted = {
      4: '000000001500',
      49: '392',
      6: '000000001017',
      51: '840',
      95: replaced('000000000500'),
    }
    expect(await ask(name, converted, '0400')).toMatchObject({ amount: 678 })
    expect(refusalOf(name, { 95: replaced('000000001250') }, '0400').responseCode).toBe('30')
  })

  test('a clearing and a refund', async () => {
    expect(await ask(name, {}, '0220')).toEqual({
      ...{ asked: 'clear', message_id: '0220-20260601120000-000123-400000', sent_at: identity.sent_at },
      ...{ transaction_id, card_number: CARD, amount: 1250, currency: 'usd', merchant, entry_method: 'chip' },
    })
    expect(await ask(name, { 3: '200000' }, '0220')).toMatchObject({
      asked: 'refund',
      transaction_id,
      amount: 1250,
    })
  })

  test('without a private identifier, the acquirer and the retrieval reference number identify the card use', async () => {
    expect(await ask(name, { 62: undefined, 63: undefined })).toMatchObject({
      transaction_id: '400000-615212000123',
    })
  })

  test.each([
    [{ 45: `B${CARD}^DOE/J^2912` }],
    [{ 35: `${CARD}=29121010000012345678` }],
    [{ 55: parts({ '5A': CARD }) }],
    [{ 55: parts({ '57': `${CARD}D29121010000012345678F` }) }],
  ])('the card number is also found in a track or the chip data', async (changes) => {
    expect(await ask(name, { 2: undefined, ...changes })).toMatchObject({ card_number: CARD })
  })

  test.each([
    ['051', '00', 'chip'],
    ['071', '00', 'contactless'],
    ['901', '00', 'swipe'],
    ['011', '00', 'keyed_in'],
    ['011', '59', 'online'],
    ['810', '00', 'online'],
    ['000', '00', undefined],
  ])('entry mode %s with condition %s is %s', async (mode, condition, method) => {
    expect({ entry_method: undefined, ...(await ask(name, { 22: mode, 25: condition })) }).toMatchObject({
      entry_method: method,
    })
  })

  test.each([
    [{ 7: '0230120000' }, 'field 7 is not a transmission time'],
    [{ 7: undefined }, 'field 7 is not a transmission time'],
    [{ 11: undefined }, 'field 11 is missing'],
    [{ 2: undefined }, 'the message has no card number'],
    [{ 2: '4000' }, 'the message is not valid: card_number'],
    [{ 4: undefined }, 'field 4 is not an amount'],
    [{ 18: undefined }, 'field 18 is missing'],
    [{ 32: undefined }, 'field 32 is missing'],
    [{ 49: '000' }, 'field 49 is not a currency number of ISO 4217'],
  ])('a message that lacks what the service needs is refused with 30: %j', (changes, issue) => {
    expect(refusalOf(name, changes)).toMatchObject({ responseCode: '30', message: issue })
  })

  test('messages that are not supported are refused with 12', () => {
    expect(refusalOf(name, { 3: '200000' }).responseCode).toBe('12')
    expect(refusalOf(name, {}, '0200').responseCode).toBe('12')
    expect(refusalOf(name, { 70: '161' }, '0800').responseCode).toBe('12')
  })

  const codeOf = async (answer: object, changes: Changes = {}, mti = '0100') =>
    valueAt((await exchange(name, purchase(name, changes, mti), answer)).answer, '39')

  test.each([
    [{ decision: 'approved' }, '00'],
    [{ decision: 'declined', decline_reason: 'insufficient_funds' }, '51'],
    [{ decision: 'declined', decline_reason: 'unknown_card' }, '14'],
    [{ decision: 'declined', decline_reason: 'spending_limit_exceeded' }, '61'],
    [{ decision: 'declined', decline_reason: 'incorrect_pin' }, '55'],
    [{ decision: 'declined', decline_reason: 'a_new_reason' }, '05'],
    [{ decision: 'declined', decline_reason: 'constructor' }, '05'],
    [{ decision: 'unavailable' }, '91'],
  ])('%j is answered with %s', async (answer, code) => {
    expect(await codeOf(answer)).toBe(code)
  })

  test('an approved verification, and acknowledgements', async () => {
    expect(await codeOf({}, { 4: '000000000000' })).toBe('85')
    for (const outcome of ['applied', 'waiting', 'exception'])
      expect(await codeOf({ outcome }, {}, '0420')).toBe('00')
    expect(await codeOf({ outcome: 'unavailable' }, {}, '0220')).toBe('91')
  })

  test('an approval repeats the fields by which the network finds its request', async () => {
    const { answer } = await exchange(name, purchase(name), { approval_code: 'A1B2C3', amount: 1250 })
    expect(answer.mti).toBe('0110')
    expect(Object.fromEntries(answer.fields)).toMatchObject({
      ...{
        2: CARD,
        4: '000000001250',
        7: '0601120000',
        11: '000123',
        37: '615212000123',
        38: 'A1B2C3',
        39: '00',
      },
    })
    expect(answer.fields.has(18)).toBe(false)
  })

  test('a partial approval has the approved amount in both currencies', async () => {
    const same = await exchange(name, purchase(name), { amount: 1000 })
    expect([39, 4].map((number) => same.answer.fields.get(number))).toEqual(['10', '000000001000'])
    const changes = { 4: '000000001500', 49: '392', 6: '000000001017', 51: '840' }
    const converted = await exchange(name, purchase(name, changes), { amount: 678 })
    expect([39, 6, 4].map((number) => converted.answer.fields.get(number))).toEqual([
      '10',
      '000000000678',
      '000000001000',
    ])
  })

  test('a balance inquiry is answered with what the card can spend', async () => {
    const inquiry = purchase(name, { 3: '312000', 4: undefined })
    const { answer } = await exchange(name, inquiry, { available: 43_210 })
    expect(answer.fields.get(54)).toEqual(parts({ 1: '2002840C000000043210' }))
    expect(answer.fields.get(39)).toBe('00')
  })

  test('a repetition is answered as the original is', () => {
    expect(answerWith(purchase(name, {}, '0421'), '00').mti).toBe('0430')
  })
})

test('results of verifications and the wallet, where the BCD dialect has them', async () => {
  const results = parts({
    ...{ source: '5', address: 'Z', reserved_3: ' ', reserved_4: ' ', cvv: '2', diversion: '  ', level: ' ' },
    ...{ chip: ' ', reserved_9: ' ', cvv2: 'N', original_response: '  ', check: ' ', cavv: '2' },
  })
  const changes = {
    44: results,
    55: parts({ '9F34': '410301' }),
    60: parts({
      terminal: '0',
      capability: '5',
      chip_condition: '0',
      special: '0',
      group: '00',
      chip: '0',
      reliability: '0',
      commerce: '00',
      identification: '0',
      partial: '1',
    }),
    123: parts({ '68.03': Buffer.from('40010030273').toString('hex').toUpperCase() }),
  }
  expect(await ask('bcd', changes)).toMatchObject({
    checks: {
      address_line: 'mismatch',
      postal_code: 'match',
      cvc: 'mismatch',
      authentication: 'match',
      pin: 'mismatch',
    },
    wallet: 'apple_pay',
    partial_approval: true,
  })
  const clearing = { 62: parts({ 2: '586152432000123', 11: '01', 12: '02' }) }
  expect(await ask('bcd', clearing, '0220')).toMatchObject({ final: false })
})

test('results of verifications and the wallet, where the ASCII dialect has them', async () => {
  const changes = {
    48: new Map([['first', 'R'], ...Object.entries({ 26: '216', 45: '4', 80: 'PV', 83: 'Y', 87: 'M' })]),
    61: parts({
      attendance: '0',
      reserved: '0',
      location: '0',
      cardholder: '0',
      card: '0',
      capture: '0',
      status: '0',
      security: '0',
      partial: '1',
      level: '0',
      input: '0',
      lifecycle: '00',
      country: '276',
    }),
    43: parts({
      name: 'Corner Bistro'.padEnd(22),
      space: ' ',
      city: ' '.repeat(13),
      gap: ' ',
      country: '   ',
    }),
  }
  expect(await ask('ascii', changes)).toMatchObject({
    checks: {
      address_line: 'match',
      postal_code: 'match',
      cvc: 'match',
      authentication: 'mismatch',
      pin: 'match',
    },
    wallet: 'google_pay',
    partial_approval: true,
    merchant: { name: 'Corner Bistro', country: 'DE' },
  })
})

test('a reversal in the ASCII dialect states what remains of the billed amount', async () => {
  const remaining = (billing: string) =>
    parts({ 1: '000000000500', 2: '0'.repeat(12), billing, reserved: '000000' })
  const converted = { 4: '000000001500', 49: '392', 6: '000000001017', 51: '840' }
  expect(await ask('ascii', { ...converted, 95: remaining('000000000340') }, '0400')).toMatchObject({
    amount: 677,
  })
  expect(refusalOf('ascii', { ...converted, 95: remaining('00000000034X') }, '0400')).toMatchObject({
    message: 'field 95.billing is not an amount',
  })
})

describe('the year of a transmission time', () => {
  test.each([
    ['1231235959', '2027-01-01T00:00:02Z', '2026-12-31T23:59:59Z'],
    ['0101000001', '2026-12-31T23:59:58Z', '2027-01-01T00:00:01Z'],
    ['0601120000', '2026-06-01T12:00:00Z', '2026-06-01T12:00:00Z'],
    ['0229120000', '2028-03-01T00:00:00Z', '2028-02-29T12:00:00Z'],
    ['0229120000', '2027-03-01T00:00:00Z', '2028-02-29T12:00:00Z'],
    ['0229120000', '2026-03-01T00:00:00Z', undefined],
    ['1301000000', '2026-06-01T12:00:00Z', undefined],
    ['0601240000', '2026-06-01T12:00:00Z', undefined],
  ])('%s at %s is %s', (time, now, instant) => {
    expect(closestInstant(time, Date.parse(now))).toBe(
      instant === undefined ? undefined : Date.parse(instant),
    )
  })
})

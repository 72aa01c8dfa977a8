/** The option `types`, end to end: bigint and Date in handlers and in clients of both versions, with all digits of integers. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { printDecoders } from '../../generators/emit/decoders/decoders.ts'
import { printDocumentTypes } from '../../generators/emit/types/types.ts'
import { buildApi } from '../../generators/ir/build.ts'
import {
  encode,
  parseExact,
  stringifyExact,
  toInstant,
  toPlainDate,
} from '../../generators/runtime/values.ts'
import { createVersionedApi } from '../../generators/server/api.ts'
import { toNodeListener } from '../../generators/server/node.ts'
import type { Handlers } from '../golden/types/want/canonical/handlers.ts'
import type { Transfer } from '../golden/types/want/canonical/types.ts'
import * as old from '../golden/types/want/client/src/2030-01-01/index.ts'
import * as newest from '../golden/types/want/client/src/2030-06-01/index.ts'
import { versions } from '../golden/types/want/versions.ts'
import { listening } from './listening.ts'

/** Above what a number can hold. */
const BIG = 2n ** 53n + 1n
const AT = new Date('2030-02-03T04:05:06.789Z')

let stored: Transfer
let asked: unknown

async function* changes(number: bigint) {
  yield { ...stored, number }
}

const handlers: Handlers<undefined> = {
  async listTransfers(_context, { query }) {
    asked = query
    return { status: 200, body: [stored] }
  },
  async createTransfer(_context, { body }) {
    stored = body
    return { status: 201, body: { ...body, number: body.number + 1n } }
  },
  watchTransfer: async (_context, { path }) => ({ status: 200, body: changes(path.number) }),
}

const api = createVersionedApi({ versions, handlers, context: () => undefined })
const base = listening(toNodeListener(api))
const options = () => ({ baseUrl: base(), maxRetries: 0 })
const oldClient = () => old.createClient({ ...options(), headers: { 'Api-Version': '2030-01-01' } })
const newClient = () => newest.createClient(options())

const rest = {
  number: BIG,
  cleared: null,
  steps: { checked: AT },
  target: { kind: 'account', account: 7n },
  count: 3,
} as const

test('bigints and Dates reach the handler and come back, in both versions', async () => {
  const made = await oldClient().createTransfer({ body: { ...rest, at: AT, fees: [0n, null, BIG] } })
  expect(stored).toEqual({ ...rest, sent_at: AT, costs: [0n, null, BIG] })
  expect(made).toEqual({ ...rest, number: BIG + 1n, at: AT, fees: [0n, null, BIG] })
  const target = { kind: 'pot', opened: AT } as const
  await newClient().createTransfer({ body: { ...rest, target, sent_at: AT, cleared: AT } })
  expect(await newClient().listTransfers()).toEqual([{ ...rest, target, sent_at: AT, cleared: AT }])
})

test('changes convert JSON values, whatever types handlers have', async () => {
  const booked = '2030-02-03'
  const made = await oldClient().createTransfer({ body: { ...rest, at: AT, booked } })
  expect([stored.booked, made.booked]).toEqual([new Date('2030-02-03T00:00:00Z'), booked])
})

test('parameters have types too, with all digits', async () => {
  await oldClient().listTransfers({ query: { since: AT, amounts: [1n, BIG] } })
  expect(asked).toEqual({ since: AT, amounts: [1n, BIG] })
  for await (const { number, at } of oldClient().watchTransfer({ path: { number: BIG } }))
    expect([number, at]).toEqual([BIG, AT])
})

test('on the wire there is JSON, and the document decides what is refused', async () => {
  const headers = { 'api-version': '2030-01-01', 'content-type': 'application/json' }
  const send = (body: string) => fetch(`${base()}/transfers`, { method: 'POST', headers, body })
  const answer = await send(
    `{"number":9007199254740993,"at":"2030-02-03T04:05:06Z","cleared":null,"steps":{},"count":1}`,
  )
  expect(await answer.text()).toBe(
    `{"number":9007199254740994,"cleared":null,"steps":{},"count":1,"at":"2030-02-03T04:05:06.000Z"}`,
  )
  const refused = ['"number":"9007199254740993"', '"number":1.5', '"number":1,"count":9007199254740993']
  for (const number of refused)
    expect((await send(`{${number},"at":"2030-02-03T04:05:06Z","cleared":null,"steps":{}}`)).status).toBe(422)
})

describe('values', () => {
  afterEach(() => vi.unstubAllGlobals())

  test.each([
    ['{"a":9007199254740993}', { a: 9007199254740993n }],
    ['[-12345678901234567890,1234567890123456,0.5]', [-12345678901234567890n, 1234567890123456, 0.5]],
    [
      '{"12345678901234567890":"\\"12345678901234567890"}',
      { '12345678901234567890': '"12345678901234567890' },
    ],
    ['1e400', Number.POSITIVE_INFINITY],
    ['12345678901234567890e2', Number('12345678901234567890e2')],
  ])('%s keeps its digits', (text, value) => {
    expect(parseExact(text)).toEqual(value)
    if (!text.includes('e')) expect(stringifyExact(value)).toBe(text)
  })

  test.each(['01234567890123456789', '{"a":12345678901234567890', '-'])('%s is not JSON', (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError)
  })

  test('Temporal is used where the platform has it, and asked for where it has not', () => {
    expect(() => toInstant('2030-02-03T04:05:06Z')).toThrow('This platform has no Temporal: load a polyfill')
    const typeOf = (name: string) => ({ from: (text: string) => ({ name, toJSON: () => text }) })
    vi.stubGlobal('Temporal', { Instant: typeOf('Instant'), PlainDate: typeOf('PlainDate') })
    const day = toPlainDate('2030-02-03')
    expect([day, encode({ day })]).toMatchObject([{ name: 'PlainDate' }, { day: '2030-02-03' }])
    expect(toInstant('2030-02-03T04:05:06Z')).toMatchObject({ name: 'Instant' })
  })

  test('a location whose values stay JSON values is reported', () => {
    const time = { type: 'string', format: 'date-time' }
    const unclear = { type: 'object', properties: { a: { oneOf: [time, { type: 'string' }] } } }
    const schemas = { Pair: { type: 'array', prefixItems: [time, time] }, Unclear: unclear }
    const document = {
      openapi: '3.1.0',
      info: { title: 'Days', version: '1' },
      paths: {},
      components: { schemas },
    }
    const report = createReport()
    const api = buildApi(parseText('days.json', JSON.stringify(document, null, 1), report)!, report)
    printDecoders({ ...api, types: { 'date-time': 'Date' } }, 'up', api.schemas, 'values', report)
    const found = report.diagnostics.filter(({ code }) => code === 'type-not-mapped')
    expect(found.map(({ place }) => place?.pointer)).toEqual([
      '/components/schemas/Pair/prefixItems/0',
      '/components/schemas/Pair/prefixItems/1',
      '/components/schemas/Unclear/properties/a',
    ])
  })

  test('Temporal types are printed, and enumerations of dates stay text', async () => {
    const schemas = {
      Day: { type: 'string', format: 'date' },
      Time: { type: ['string', 'null'], format: 'date-time' },
      Holiday: { type: 'string', format: 'date', enum: ['2030-01-01'] },
    }
    const text = await printDocumentTypes(
      { openapi: '3.1.0', info: { title: 'Days', version: '1' }, paths: {}, components: { schemas } },
      { date: 'Temporal.PlainDate', 'date-time': 'Temporal.Instant' },
    )
    expect(text).toContain('export type Day = Temporal.PlainDate;')
    expect(text).toContain('export type Time = Temporal.Instant | null;')
    expect(text).toContain('export type Holiday = "2030-01-01";')
  })
})

/** Card numbers are nowhere but sealed, whatever is done with the cards. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { createCardKeys } from '../../runtime/cards/card-keys/card-keys.ts'
import { listingWorker } from '../../runtime/cards/card-keys/listing.ts'
import { makeSecrets } from '../../runtime/cards/card-keys/make-secrets.ts'
import { payloadWorker } from '../../runtime/cards/provisioning/stand-in-job.ts'
import { INSUFFICIENT_PRIVILEGE } from '../../runtime/database/errors.ts'
import { rotateCardKey } from '../../runtime/operator/card-keys.ts'
import { createLog } from '../../runtime/platform/log.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { CARD_VERSIONS, make, makeCard, SHIPPING } from './fixtures.ts'
import { openTestNetwork } from './network/open-network.ts'
import { type FindNumber, findNumbers, readableColumns, searchDatabase } from './number-search.ts'

const logged: string[] = []
const log = createLog({ logLevel: 'trace' }, { write: (line: string) => void logged.push(line) })
const service = useService({ log, logsRequests: true, countsUse: true, watched: true, guarded: false })

const MERCHANT = { name: 'Blue Bottle', category_code: '5814', city: 'Oakland', country: 'US' }
const GOOGLE = { wallet: 'google_pay', client_device_id: 'dev-1', client_wallet_account_id: 'wal-1' }

/** Numbers of all cards that were issued. */
const numbers: string[] = []
let find: FindNumber

/** Uses cards in every way that has to do with their numbers. */
beforeAll(async () => {
  const tenantId = await makeTenant(service)
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret })
  const see = async (id: string, through: Send = send) => {
    const { number } = (await through(`/v1/cards/${id}/details`)).body
    numbers.push(number)
    return number as string
  }
  await send('/v1/test/funding', { body: { amount: 100_000 } })
  const card = await makeCard(send)
  for (const version of CARD_VERSIONS) await see(card.id, speak(service.urls.sandbox, { secret, version }))
  await make(send, `/v1/cards/${card.id}/provisioning_payloads`, GOOGLE)
  const wakeUpChannel = { publish: () => {} }
  await payloadWorker({ ...service, log: strictLog, wakeUpChannel }).runOnce()
  const use = { card_id: card.id, amount: 1000, merchant: MERCHANT }
  const { id } = await make(send, '/v1/test/cards/simulate_authorization', use)
  for (const what of ['clearing', 'refund'])
    await send(`/v1/test/cards/simulate_${what}`, { body: { card_transaction_id: id, amount: 500 } })
  const order = { body: { reason: 'lost' }, headers: { 'Idempotency-Key': crypto.randomUUID() } }
  const replaced = await send(`/v1/cards/${card.id}/replace`, order)
  expect([replaced.status, (await send(`/v1/cards/${card.id}/replace`, order)).text]).toEqual([
    201,
    replaced.text,
  ])
  const number = await see(replaced.body.id)
  expect((await makeCard(send, { type: 'physical', shipping: SHIPPING })).status).toBe('inactive')

  await sendMessages(number)

  // What a client may send by mistake.
  for (const path of [`/v1/cards/${number}`, `/v1/cards?cursor=${number}`, `/v1/cards/${number}/details`])
    await send(path)
  const spaced = number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')
  for (const wrong of [number, Number(number), spaced])
    await send('/v1/cards', { body: { cardholder_id: wrong, type: 'x' } })
  await send(`/v1/cards/${replaced.body.id}/freeze`, {
    method: 'POST',
    headers: { 'Idempotency-Key': number },
  })

  const { control, cards: room } = service.database
  await rotateCardKey(service.operator, room, strictLog)
  await control.query({ text: `UPDATE sandbox.card_numbers SET listed = NULL` })
  const keys = createCardKeys(room!, service.clock)
  await listingWorker({ control, room: room!, keys, clock: service.clock, log }).runOnce()
  log.warn({ err: new Error(`failed for ${number}`), url: `https://example.com/?card=${spaced}` }, number)
  await service.flush()
  find = findNumbers([...new Set(numbers)], service.database.pepper)
})

/** Messages of the card network: that take effect, that wait for others, that never can, and that are declined. */
async function sendMessages(number: string): Promise<void> {
  const network = openTestNetwork(service)
  const unknown = makeSecrets().number
  numbers.push(unknown)
  const sent_at = new Date(service.clock.now).toISOString()
  const about = (card_number: string, transaction_id: string) => ({
    message_id: crypto.randomUUID(),
    transaction_id,
    sent_at,
    card_number,
  })
  const paid = { amount: 700, currency: 'usd', merchant: MERCHANT }
  const outcomes = [
    await network('authorize', { ...about(number, 'n1'), ...paid }),
    await network('clear', { ...about(number, 'n1'), ...paid }),
    await network('refund', { ...about(number, 'n1'), ...paid }),
    await network('reverse', { ...about(number, 'n2'), amount: 100 }),
    await network('authorize', { ...about(unknown, 'n3'), ...paid }),
    await network('clear', { ...about(unknown, 'n4'), ...paid }),
  ]
  expect(outcomes.map((each) => ('decision' in each ? each.decision : each.outcome))).toEqual([
    'approved',
    'applied',
    'applied',
    'waiting',
    'declined',
    'exception',
  ])
}

test.each<[string, (number: string) => string | Buffer]>([
  ['plain', (number) => number],
  ['in JSON', (number) => JSON.stringify({ card: { number } })],
  ['in groups', (number) => number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')],
  ['as bytes', (number) => Buffer.from(number)],
  ['in hexadecimal', (number) => Buffer.from(number).toString('hex')],
  ['in base64', (number) => Buffer.from(number).toString('base64')],
  ['compressed', (number) => gzipSync(number)],
  ['as SHA-256 in hexadecimal', (number) => createHash('sha256').update(number).digest('hex')],
  ['as SHA-256 in base64', (number) => createHash('sha256').update(number).digest('base64')],
  ['as bytes of SHA-256', (number) => createHash('sha256').update(number).digest()],
])('the search finds a number %s', (_, write) => {
  expect(find(write(numbers[0]!))).toContain(numbers[0]!.slice(-4))
})

test('no column of any table has a number or a digest that can be tried out', async () => {
  const { found, values } = await searchDatabase(service.database.control, find)
  expect(found).toEqual([])
  expect(values).toBeGreaterThan(500)
})

test('a dump by the role of an environment has no sealed number either', async () => {
  const { sandbox } = service.database
  const columns = (await readableColumns(sandbox)).map(({ table }) => table)
  expect([columns.includes('sandbox.cards'), columns.includes('sandbox.card_numbers')]).toEqual([true, false])
  expect((await searchDatabase(sandbox, find)).found).toEqual([])
  await expect(sandbox.query({ text: 'TABLE sandbox.card_numbers' })).rejects.toMatchObject({
    code: INSUFFICIENT_PRIVILEGE,
  })
})

test('the process log has no number', () => {
  expect(logged.length).toBeGreaterThan(10)
  expect(logged.filter((line) => find(line) !== undefined)).toEqual([])
})

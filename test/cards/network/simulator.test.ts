/** The network simulator against a door that answers as a table says: what it sends, and in which order. */
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as validators from '../../../generated/network/validators.js'
import { openDoor } from '../../../runtime/cards/network-simulator/door.ts'
import { planScenario } from '../../../runtime/cards/network-simulator/plan.ts'
import { PLAYS } from '../../../runtime/cards/network-simulator/plays.ts'
import { type Happening, runScenario } from '../../../runtime/cards/network-simulator/run-scenario.ts'
import { drawScenario } from '../../../runtime/cards/network-simulator/scenario.ts'
import { readScenario } from '../../../runtime/cards/network-simulator/scenario-file.ts'
import { findSignatureFault } from '../../../runtime/cards/processor/signature.ts'
import { signBody } from '../../../runtime/events/outbound/signing.ts'
import { writeCertificate } from '../../../runtime/passes/wallets/render/apple/certificate.ts'

const SIGNING_KEY = 'netsec_test'
const CARD = '4000001234567899'
const START = Date.parse('2026-12-01T12:00:00.000Z')

/** A message as the door got it. */
interface Taken {
  readonly path: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the path
  readonly body: any
}

/** Answers one transmission; undefined cuts the connection. */
type Answering = (taken: Taken, before: readonly Taken[]) => object | undefined

let answering: Answering
let taken: Taken[] = []
let faults: string[] = []
let answerKey = SIGNING_KEY
let origin: string

function makePair(commonName: string) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const subject = { CN: commonName, O: 'Test' }
  const life = { from: Date.now() - 86_400_000, to: Date.now() + 86_400_000 }
  const server = { dns: 'localhost', ipv4: [127, 0, 0, 1] } as const
  const issuer = { subject, key: privateKey }
  const cert = writeCertificate({ ...life, subject, publicKey, issuer, isAuthority: false, server })
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}
const [own, client] = [makePair('localhost'), makePair('processor')]

const SCHEMAS: Readonly<Record<string, (value: unknown) => boolean>> = {
  '/v1/authorizations': validators.AuthorizationMessage,
  '/v1/increments': validators.IncrementMessage,
  '/v1/advices': validators.AdviceMessage,
  '/v1/reversals': validators.ReversalMessage,
  '/v1/clearings': validators.ClearingMessage,
  '/v1/refunds': validators.RefundMessage,
  '/v1/chargebacks': validators.ChargebackMessage,
  '/v1/tokens': validators.TokenMessage,
}

/** Checks the certificate, the signature and the schema of what it is sent. */
const server = createServer({ ...own, requestCert: true, ca: client.cert }, async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const path = request.url ?? ''
  const fault = findSignatureFault(
    String(request.headers['network-signature']),
    bytes,
    [SIGNING_KEY],
    Date.now(),
  )
  const message = { path, body: JSON.parse(bytes.toString()) }
  if (fault !== undefined || !SCHEMAS[path]?.(message.body)) faults.push(`${path} ${fault ?? bytes}`)
  const answer = answering(message, taken)
  taken.push(message)
  if (answer === undefined) return request.socket.destroy()
  const body = JSON.stringify({ message_id: message.body.message_id, ...answer })
  response.setHeader('Network-Signature', signBody([answerKey], body, Math.floor(Date.now() / 1000)))
  response.end(body)
})
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const accept: Answering = ({ path }) =>
  ['/v1/authorizations', '/v1/increments'].includes(path) ? { decision: 'approved' } : { outcome: 'applied' }

/** Plays a scenario; gives what was sent, as words. */
async function play(scenario: object, answers: Answering = accept) {
  faults = []
  answering = answers
  taken = []
  const happenings: Happening[] = []
  const link = openDoor({ url: origin, ...client, ca: own.cert, signingKey: SIGNING_KEY, answerMs: 2000 })
  const plan = planScenario(readScenario(JSON.stringify(scenario), 'test.json'), [CARD], START)
  const report = (happening: Happening) => void happenings.push(happening)
  const tally = await runScenario(plan, link, { patienceMs: 2000, report })
  link.close()
  expect(faults).toEqual([])
  const words = taken.map(({ path, body: { amount, final, approved, status, stage } }) =>
    [path.slice(4), amount, approved, final, status, stage].filter((each) => each !== undefined).join(' '),
  )
  return { words, tally, happenings }
}

const shop = { play: 'online_shop', amount: 5000, clearings: [2000, 3000], refunds: [2000] }

test('each play sends what its merchant or terminal does', async () => {
  const { words } = await play({
    uses: [
      { play: 'restaurant', amount: 4000, clearings: [4800] },
      { play: 'fuel_pump', amount: 17_500, completion: 5310 },
      { play: 'hotel', amount: 30_000, increments: [12_000], clearings: [20_000, 22_000] },
      { ...shop, chargeback: ['under_review', 'won'] },
      { play: 'verification' },
      { play: 'reversal', amount: 900, reversals: [400], clearings: [500] },
      { play: 'wallet', amount: 700, token: ['requested', 'active', 'deleted'] },
    ]
      .map((use) => ({ uses: [use] }))
      .flatMap(({ uses }) => uses),
  })
  expect(words.toSorted()).toEqual(
    [
      ...['authorizations 4000', 'clearings 4800 true'],
      ...['authorizations 17500', 'advices 5310 true', 'clearings 5310 true'],
      ...['authorizations 30000', 'increments 12000', 'clearings 20000 false', 'clearings 22000 true'],
      ...['authorizations 5000', 'clearings 2000 false', 'clearings 3000 true', 'refunds 2000'],
      ...['chargebacks under_review', 'chargebacks won', 'authorizations 0'],
      ...['authorizations 900', 'reversals 400', 'clearings 500 true'],
      ...['tokens requested', 'tokens active', 'authorizations 700', 'clearings 700 true', 'tokens deleted'],
    ].toSorted(),
  )
})

test('a merchant collects no more than was approved, and nothing after a decline', async () => {
  const uses = [shop]
  const half = await play({ uses }, (message) =>
    message.path === '/v1/authorizations' ? { decision: 'approved', amount: 2600 } : accept(message, []),
  )
  expect(half.words).toEqual(['authorizations 5000', 'clearings 2600 true', 'refunds 2000'])
  const none = await play({ uses }, (message) =>
    message.path === '/v1/authorizations' ? { decision: 'declined' } : accept(message, []),
  )
  expect(none.words).toEqual(['authorizations 5000'])
  expect(none.tally).toMatchObject({ sent: 1, approved: 0, declined: 1 })
})

test('without an answer, the network decides and sends advices until they are acknowledged', async () => {
  const refuse: Answering = (message, before) => {
    if (message.path === '/v1/authorizations')
      return before.length === 0 ? { decision: 'unavailable' } : undefined
    const seen = before.filter(({ body }) => body.message_id === message.body.message_id).length
    return seen < 1 ? { outcome: 'unavailable' } : { outcome: 'applied' }
  }
  const { words, tally } = await play({ uses: [shop, { play: 'atm', amount: 2000 }] }, refuse)
  expect(words.filter((each) => each.startsWith('advices'))).toEqual([
    'advices 5000 true',
    'advices 5000 true',
    'advices 2000 false',
    'advices 2000 false',
  ])
  expect(tally).toMatchObject({ approved: 1, declined: 1, stand_in: 2, unacknowledged: 0 })
  // Each message was repeated with its identifier.
  expect(new Set(taken.map(({ body }) => body.message_id)).size).toBeLessThan(taken.length)
})

test('an answer without a valid signature counts as none', async () => {
  answerKey = 'netsec_other'
  const { tally, happenings } = await play({ uses: [{ play: 'verification' }] }, (message, before) => {
    if (before.length > 0) answerKey = SIGNING_KEY
    return accept(message, before)
  })
  expect(tally).toMatchObject({ approved: 1, stand_in: 1 })
  expect(happenings[0]?.outcome).toBe('no answer: status 200 without a valid signature')
})

test('lost answers are repeated or reversed, and a contradiction is reported', async () => {
  const lost = await play({ uses: [shop], disturbances: { lost_answer: 1 } })
  expect(lost.words.slice(0, 2)).toEqual(['authorizations 5000', 'authorizations 5000'])
  const given = await play({ uses: [shop], disturbances: { given_up: 1 } })
  expect(given.words).toEqual(['authorizations 5000', 'reversals 5000'])
  let count = 0
  const fickle: Answering = () => ({ decision: count++ === 0 ? 'approved' : 'declined' })
  const { tally } = await play({ uses: [{ play: 'verification' }], disturbances: { duplicate: 1 } }, fickle)
  expect(tally.contradicted).toBe(1)
  const busy: Answering = () => ({ decision: count++ % 2 === 0 ? 'approved' : 'unavailable' })
  const twice = await play({ uses: [{ play: 'verification' }], disturbances: { duplicate: 1 } }, busy)
  expect(twice.tally).toMatchObject({ contradicted: 0, approved: 1, stand_in: 0 })
})

test('a seed draws all plays, and always the same messages', () => {
  const scenario = drawScenario(7, 200, 3)
  expect(new Set(scenario.uses.map(({ play }) => play))).toEqual(new Set(Object.keys(PLAYS)))
  expect(planScenario(drawScenario(7, 200, 3), [CARD], START)).toEqual(planScenario(scenario, [CARD], START))
  expect(planScenario(drawScenario(8, 200, 3), [CARD], START)).not.toEqual(
    planScenario(scenario, [CARD], START),
  )
})

test('a wrong scenario file is refused with what, where and what was expected', () => {
  const wrong = {
    seed: -1,
    pace: 2,
    disturbances: { late: 2 },
    uses: [{ play: 'bank' }, { amount: 1.5, merchant: { name: '' }, clearings: [0] }],
  }
  expect(() => readScenario(JSON.stringify(wrong), 'a.json')).toThrowErrorMatchingInlineSnapshot(`
    [Error: a.json: seed: is -1: expected a whole number from 0 to 9007199254740991
    a.json: pace: is unknown: expected one of seed, disturbances, uses
    a.json: disturbances.late: is 2: expected a number from 0 to 1
    a.json: uses[0].play: is "bank": expected one of restaurant, fuel_pump, hotel, online_shop, airline, atm, subscription, verification, refund, partial_approval, reversal, forced_post, wallet, chargeback
    a.json: uses[1].play: is missing: expected one of restaurant, fuel_pump, hotel, online_shop, airline, atm, subscription, verification, refund, partial_approval, reversal, forced_post, wallet, chargeback
    a.json: uses[1].amount: is 1.5: expected a whole number from 0 to 1000000000000000
    a.json: uses[1].clearings: is [0]: expected a list of at most 100, each a whole number from 1 to 1000000000000000
    a.json: uses[1].merchant.category_code: is missing: expected four digits (ISO 18245)
    a.json: uses[1].merchant.name: is "": expected a text of 1 to 100 characters]
  `)
  expect(() => readScenario('{', 'a.json')).toThrow(/^a\.json: is not JSON: /)
  expect(() => readScenario('[]', 'a.json')).toThrow('a.json: the file: expected an object with "uses"')
})

/** How answers of Google Wallet are read, and how tokens are had. */
import { createPublicKey } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createOutbound } from '../../../runtime/events/outbound/outbound.ts'
import {
  type GoogleFault,
  type GoogleStandIn,
  startGoogleStandIn,
} from '../../../runtime/passes/wallets/fakes/google-wallet.ts'
import { classOf } from '../../../runtime/passes/wallets/render/google/class.ts'
import { createAccessTokens } from '../../../runtime/passes/wallets/sync/google/access-tokens.ts'
import { createGoogleClient, type SyncOutcome } from '../../../runtime/passes/wallets/sync/google/client.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { ISSUER, makePass, templateOf } from '../render/google-states.ts'
import { makeSigner } from './google-stage.ts'

let google: GoogleStandIn
const signer = makeSigner()
const outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']) })
const pauses: number[] = []
const pace = { turn: async () => {}, slowDown: (ms: number) => void pauses.push(ms), succeeded: () => {} }

beforeAll(async () => {
  const accounts = new Map([[signer.email, createPublicKey(signer.key)]])
  google = await startGoogleStandIn({ issuerId: ISSUER.issuerId, accounts })
})
beforeEach(() => {
  google.forget()
  google.fault = () => undefined
  pauses.length = 0
})
afterAll(async () => {
  outbound.close()
  await google.close()
})

let now = Date.now()

function open(key = signer.key) {
  const tokens = createAccessTokens({
    signer: { ...signer, key },
    tokenUrl: google.urls.token,
    outbound,
    now: () => now,
  })
  return createGoogleClient({ walletUrl: google.urls.wallet, tokens, outbound, pace })
}

const resource = classOf(templateOf(makePass('loyalty')), ISSUER)
const asked = () =>
  google.requests.map(({ method, path, status }) => `${method} ${path.split('/')[3] ?? path} ${status}`)

test('an insertion that finds the resource changes it, a change that does not find it inserts it', async () => {
  const client = open()
  expect(await client.put('loyaltyClass', resource, 'patch')).toEqual({ outcome: 'done' })
  expect(await client.put('loyaltyClass', resource, 'insert')).toEqual({ outcome: 'done' })
  expect(asked().slice(-4)).toEqual([
    'PATCH loyaltyClass 404',
    'POST loyaltyClass 200',
    'POST loyaltyClass 409',
    'PATCH loyaltyClass 200',
  ])
})

test.each<[string, GoogleFault, Partial<SyncOutcome>, readonly number[]]>([
  ['too many requests', { status: 429, retryAfter: '7' }, { outcome: 'later', retryAfterMs: 7000 }, [7000]],
  ['too many requests, whenever', { status: 429 }, { outcome: 'later', retryAfterMs: 0 }, [0]],
  ['503', { status: 503, retryAfter: '3' }, { outcome: 'later', retryAfterMs: 3000 }, []],
  ['500', { status: 500 }, { outcome: 'later' }, []],
  ['400', { status: 400 }, { outcome: 'refused', status: 400 }, []],
  ['403', { status: 403 }, { outcome: 'refused', status: 403 }, []],
])('the Google client reads an answer: %s', async (_, fault, sent, paused) => {
  google.fault = (__, path) => (path === '/token' ? undefined : fault)
  expect(await open().put('loyaltyClass', resource, 'insert')).toMatchObject(sent)
  expect(pauses).toEqual(paused)
})

test('many requests ask for one token, which is used until shortly before its end', async () => {
  const client = open()
  const before = google.requests.filter(({ path }) => path === '/token').length
  const exchanges = () => google.requests.filter(({ path }) => path === '/token').length - before
  const sent = await Promise.all(
    Array.from({ length: 20 }, () => client.put('loyaltyClass', resource, 'insert')),
  )
  expect(sent.every(({ outcome }) => outcome === 'done')).toBe(true)
  expect(exchanges()).toBe(1)
  now += 3_500_000
  await client.put('loyaltyClass', resource, 'patch')
  expect(exchanges()).toBe(1)
  now += 60_000
  // Asked for, though Google takes an hour's difference of clocks for a forgery.
  expect(await client.put('loyaltyClass', resource, 'patch')).toMatchObject({ outcome: 'later' })
  expect(exchanges()).toBe(2)
  now = Date.now()
})

test('no token, nothing is sent: it is tried another time', async () => {
  const sent = await open(makeSigner().key).put('loyaltyClass', resource, 'insert')
  expect(sent).toMatchObject({
    outcome: 'later',
    message: expect.stringContaining('answered 400 (invalid_grant)'),
  })
})

test('a stand-in that remembers few objects forgets the oldest one, and the client inserts it again', async () => {
  const accounts = new Map([[signer.email, createPublicKey(signer.key)]])
  const small = await startGoogleStandIn({ issuerId: ISSUER.issuerId, accounts, remembered: 2 })
  const tokens = createAccessTokens({ signer, tokenUrl: small.urls.token, outbound, now: () => now })
  const client = createGoogleClient({ walletUrl: small.urls.wallet, tokens, outbound, pace })
  const ids = ['a', 'b', 'c'].map((name) => `${ISSUER.issuerId}.${name}`)
  const kept = () => ids.filter((id) => small.resource(`loyaltyClass/${id}`) !== undefined)
  for (const id of ids) await client.put('loyaltyClass', { ...resource, id }, 'insert')
  expect(kept()).toEqual(ids.slice(1))
  expect(small.requests).toHaveLength(2)
  expect(await client.put('loyaltyClass', { ...resource, id: ids[0]! }, 'patch')).toEqual({ outcome: 'done' })
  expect(kept()).toEqual([ids[0], ids[2]])
  await small.close()
})

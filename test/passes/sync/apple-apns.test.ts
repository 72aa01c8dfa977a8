/** Pushes to devices, over a server that refuses what Apple's refuses. */
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type ApplePush,
  type ApplePushOptions,
  type Scripted,
  startApplePush,
} from '../../../runtime/passes/wallets/fakes/apple-push.ts'
import { type Apns, type ApnsOptions, createApns } from '../../../runtime/passes/wallets/sync/apple/apns.ts'
import { createProviderTokens } from '../../../runtime/passes/wallets/sync/apple/provider-token.ts'
import { makeAuthority } from './authority.ts'

const TOPIC = 'pass.com.example.coffee'
const TOKEN = 'ab'.repeat(32)
const MINUTE = 60_000
const START = Date.parse('2026-06-01T12:00:00.000Z')

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const PROVIDER = { keyId: 'KEY1234567', teamId: 'TEAM123456', key: privateKey }

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Pair {
  readonly server: ApplePush
  readonly apns: Apns
  readonly clock: { now: number }
}

async function pair(options: Partial<ApplePushOptions & ApnsOptions> = {}): Promise<Pair> {
  const clock = { now: START }
  const keys = { [PROVIDER.keyId]: { teamId: PROVIDER.teamId, key: publicKey } }
  const server = await startApplePush({ topics: [TOPIC], keys, now: () => clock.now, ...options })
  closing.push(() => server.close())
  const apns = speakTo(server.url, { now: () => clock.now, ...options })
  return { server, apns, clock }
}

function speakTo(url: string, options: Partial<ApnsOptions> = {}): Apns {
  const auth = { provider: PROVIDER }
  const apns = createApns({ topic: TOPIC, auth, now: () => START, timeoutMs: 500, ...options, url })
  closing.push(() => apns.close())
  return apns
}

test('a push is an empty payload for the pass type, on one connection that is kept', async () => {
  const { server, apns } = await pair()
  for (let count = 0; count < 3; count += 1) expect(await apns.push(TOKEN)).toEqual({ kind: 'sent' })
  expect(server.pushes).toEqual(Array.from({ length: 3 }, () => ({ token: TOKEN, topic: TOPIC })))
  expect(server.connections).toBe(1)
})

test('a certificate proves who sends, and only for its own topic', async () => {
  const authority = makeAuthority()
  const { cert, key } = authority.issue('localhost')
  const own = authority.issue('Pass Type ID', { uid: TOPIC })
  const tls = { cert, key, ca: authority.cert }
  const auth = { tls: { cert: own.cert, key: own.key } }
  const { server, apns } = await pair({ tls, ca: authority.cert, auth })
  expect(await apns.push(TOKEN)).toEqual({ kind: 'sent' })
  const other = speakTo(server.url, { ca: authority.cert, auth, topic: 'pass.com.example.other' })
  expect(await other.push(TOKEN)).toEqual({ kind: 'stopped', reason: 'BadTopic' })
  const stranger = makeAuthority().issue('Pass Type ID', { uid: TOPIC })
  const unknown = speakTo(server.url, {
    ca: authority.cert,
    auth: { tls: { cert: stranger.cert, key: stranger.key } },
  })
  expect(await unknown.push(TOKEN)).toEqual({ kind: 'stopped', reason: 'MissingProviderToken' })
})

test('a server that nobody vouches for is not spoken to', async () => {
  const { cert, key } = makeAuthority().issue('localhost')
  const { apns, server } = await pair({ tls: { cert, key } })
  expect(await apns.push(TOKEN)).toMatchObject({ kind: 'stopped' })
  expect(server.pushes).toEqual([])
})

const STATUSES: readonly (readonly [Exclude<Scripted, string>, object])[] = [
  [{ status: 400, reason: 'BadDeviceToken' }, { kind: 'gone' }],
  [
    { status: 400, reason: 'BadTopic' },
    { kind: 'stopped', reason: 'BadTopic' },
  ],
  [
    { status: 400, reason: 'DeviceTokenNotForTopic' },
    { kind: 'stopped', reason: 'DeviceTokenNotForTopic' },
  ],
  [
    { status: 400, reason: 'IdleTimeout' },
    { kind: 'failed', reason: 'IdleTimeout' },
  ],
  [
    { status: 403, reason: 'InvalidProviderToken' },
    { kind: 'stopped', reason: 'InvalidProviderToken' },
  ],
  [
    { status: 403, reason: 'SomethingNew' },
    { kind: 'stopped', reason: 'SomethingNew' },
  ],
  [
    { status: 404, reason: 'BadPath' },
    { kind: 'failed', reason: 'BadPath' },
  ],
  [
    { status: 405, reason: 'MethodNotAllowed' },
    { kind: 'failed', reason: 'MethodNotAllowed' },
  ],
  [
    { status: 410, reason: 'Unregistered', timestamp: START },
    { kind: 'gone', since: START },
  ],
  [
    { status: 410, reason: 'ExpiredToken', timestamp: START },
    { kind: 'gone', since: START },
  ],
  [
    { status: 413, reason: 'PayloadTooLarge' },
    { kind: 'failed', reason: 'PayloadTooLarge' },
  ],
  [
    { status: 429, reason: 'TooManyRequests' },
    { kind: 'failed', reason: 'TooManyRequests' },
  ],
  [
    { status: 429, reason: 'TooManyProviderTokenUpdates' },
    { kind: 'stopped', reason: 'TooManyProviderTokenUpdates' },
  ],
  [
    { status: 500, reason: 'InternalServerError' },
    { kind: 'failed', reason: 'InternalServerError' },
  ],
  [
    { status: 503, reason: 'ServiceUnavailable' },
    { kind: 'failed', reason: 'ServiceUnavailable' },
  ],
  [
    { status: 503, reason: 'Shutdown' },
    { kind: 'stopped', reason: 'Shutdown' },
  ],
]

test.each(STATUSES)('a push is judged by Apple’s answer: %o', async (answer, pushed) => {
  const { server, apns } = await pair()
  server.script([answer])
  expect(await apns.push(TOKEN)).toEqual(pushed)
  expect(await apns.push(TOKEN)).toEqual({ kind: 'sent' })
})

describe('provider tokens', () => {
  test('provider tokens are the same for fifty minutes', async () => {
    const clock = { now: START }
    const tokens = createProviderTokens(PROVIDER, () => clock.now)
    const first = tokens.current()
    clock.now += 50 * MINUTE - 1
    expect(tokens.current()).toBe(first)
    clock.now += 1
    expect(tokens.current()).not.toBe(first)
  })

  test('provider tokens are made anew when Apple calls one expired, but not within twenty minutes', async () => {
    const clock = { now: START }
    const { apns, server } = await pair({ now: () => clock.now })
    expect(await apns.push(TOKEN)).toEqual({ kind: 'sent' })
    clock.now += 30 * MINUTE
    server.script([{ status: 403, reason: 'ExpiredProviderToken' }])
    expect(await apns.push(TOKEN)).toEqual({ kind: 'sent' })
    server.script([{ status: 403, reason: 'ExpiredProviderToken' }])
    expect(await apns.push(TOKEN)).toEqual({ kind: 'stopped', reason: 'ExpiredProviderToken' })
  })

  test('provider tokens of a clock an hour slow are expired', async () => {
    const { server } = await pair()
    const slow = speakTo(server.url, { now: () => START - 61 * MINUTE })
    expect(await slow.push(TOKEN)).toEqual({ kind: 'stopped', reason: 'ExpiredProviderToken' })
  })

  test('provider tokens of another key, or of another team, are none', async () => {
    const { server } = await pair()
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    for (const provider of [
      { ...PROVIDER, key: other },
      { ...PROVIDER, teamId: 'TEAM654321' },
      { ...PROVIDER, keyId: 'KEY7654321' },
    ]) {
      const apns = speakTo(server.url, { auth: { provider } })
      expect(await apns.push(TOKEN)).toEqual({ kind: 'stopped', reason: 'InvalidProviderToken' })
    }
  })
})

describe('connections', () => {
  test('connections to Apple that are going away end what is under way; what follows gets another', async () => {
    const { server, apns } = await pair()
    const other = 'ee'.repeat(32)
    server.script(['silence'], other)
    const unanswered = apns.push(other) // the connection lives for it
    const pushed = Array.from({ length: 50 }, () => apns.push(TOKEN))
    await pushed[0]
    server.goAway()
    for (const each of await Promise.all(pushed)) expect(each).toEqual({ kind: 'sent' })
    expect(await apns.push(TOKEN)).toEqual({ kind: 'sent' })
    expect(server.connections).toBe(2)
    expect(await unanswered).toMatchObject({ kind: 'failed' })
  })

  test('connections to Apple that are torn fail what is under way; what follows gets another', async () => {
    const { server, apns } = await pair()
    server.script(['silence'])
    const pushed = apns.push(TOKEN)
    await apns.push(TOKEN)
    server.disconnect()
    expect(await pushed).toMatchObject({ kind: 'failed' })
    expect(await apns.push(TOKEN)).toEqual({ kind: 'sent' })
  })

  test('connections to Apple that say nothing are given up', async () => {
    const { server, apns } = await pair()
    server.script(['silence', 'reset'])
    expect(await apns.push(TOKEN)).toEqual({ kind: 'failed', reason: 'no answer in 500 ms' })
    expect(await apns.push(TOKEN)).toMatchObject({ kind: 'failed' })
    expect(await apns.push(TOKEN)).toEqual({ kind: 'sent' })
    expect(server.connections).toBe(2)
  })

  test('carry as many pushes at once as the server takes', async () => {
    const { server, apns } = await pair({ streams: 3 })
    await Promise.all(Array.from({ length: 100 }, () => apns.push(TOKEN)))
    expect(server.pushes.length).toBe(100)
    expect(server.connections).toBe(1)
  })

  test('connections that Apple does not accept, or answer, stop everything', async () => {
    expect(await speakTo('http://127.0.0.1:9').push(TOKEN)).toMatchObject({ kind: 'stopped' })
    const sockets: Socket[] = []
    const mute = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
    await once(mute, 'listening')
    closing.push(() => {
      for (const socket of sockets) socket.destroy()
      mute.close()
    })
    const { port } = mute.address() as { port: number }
    expect(await speakTo(`http://127.0.0.1:${port}`).push(TOKEN)).toMatchObject({ kind: 'stopped' })
  })
})

describe('the stand-in refuses', () => {
  const good = () => {
    const tokens = createProviderTokens(PROVIDER, () => START)
    return {
      ':method': 'POST',
      ':path': `/3/device/${TOKEN}`,
      'apns-topic': TOPIC,
      authorization: `bearer ${tokens.current()}`,
    }
  }
  const CASES: readonly (readonly [string, object, string, number, string])[] = [
    ['another method', { ':method': 'PUT' }, '{}', 405, 'MethodNotAllowed'],
    ['another path', { ':path': '/4/device/x' }, '{}', 404, 'BadPath'],
    ['no device', { ':path': '/3/device/' }, '{}', 400, 'MissingDeviceToken'],
    ['what is no device', { ':path': '/3/device/xyz' }, '{}', 400, 'BadDeviceToken'],
    ['no topic', { 'apns-topic': undefined }, '{}', 400, 'MissingTopic'],
    ['another topic', { 'apns-topic': 'pass.x' }, '{}', 400, 'TopicDisallowed'],
    ['no token', { authorization: undefined }, '{}', 403, 'MissingProviderToken'],
    ['what is no token', { authorization: 'bearer x.y.z' }, '{}', 403, 'InvalidProviderToken'],
    ['nothing', {}, '', 400, 'PayloadEmpty'],
    ['what is no object', {}, '[]', 400, 'PayloadEmpty'],
    ['more than 4 KiB', {}, `{"a":"${'x'.repeat(4096)}"}`, 413, 'PayloadTooLarge'],
    ['an unknown priority', { 'apns-priority': '7' }, '{}', 400, 'BadPriority'],
    ['an expiration that is none', { 'apns-expiration': 'soon' }, '{}', 400, 'BadExpirationDate'],
    ['an id that is none', { 'apns-id': '1' }, '{}', 400, 'BadMessageId'],
  ]
  test.each(CASES)('the APNs server of the tests refuses %s', async (_, headers, body, status, reason) => {
    const { server } = await pair()
    const session = connect(server.url)
    closing.push(() => session.destroy())
    const given = Object.entries({ ...good(), ...headers }).filter(([, value]) => value !== undefined)
    const stream = session.request(Object.fromEntries(given))
    stream.setEncoding('utf8')
    let text = ''
    stream.on('data', (chunk) => {
      text += chunk
    })
    stream.end(body)
    const [response] = await once(stream, 'response')
    await once(stream, 'end')
    expect([response[':status'], JSON.parse(text).reason]).toEqual([status, reason])
  })
})

/** What name servers, redirects, kept connections and proxies can do between a verdict and a connection: nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
} from '../../../runtime/events/outbound/outbound.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { type NameServer, openNameServer } from '../../support/dns.ts'
import { endPrograms, startProgram } from '../../support/programs.ts'
import { closeSinks, openSink, type Sink } from './sinks.ts'

/** Loopback addresses that stand for public ones; all others, such as 127.0.0.1, stay closed. */
const HERE = '127.0.0.2'
const THERE = '127.0.0.3'
const INSIDE = '127.0.0.1'

let names: NameServer
let outbound: Outbound

function open(options: Partial<OutboundOptions> = {}): Outbound {
  const allow = parseNetworks([HERE, THERE])
  return createOutbound({ allowPlainHttp: true, allow, dnsServers: [names.address], ...options })
}

beforeEach(async () => {
  names = await openNameServer()
  outbound = open()
})

afterEach(async () => {
  outbound.close()
  await endPrograms()
  await closeSinks()
  await names.close()
})

const post = (url: string, way = outbound) => way.post({ url, headers: {}, body: '{}' })

/** The same port at both addresses. */
async function openPair(): Promise<{ readonly here: Sink; readonly there: Sink; readonly url: string }> {
  const here = await openSink({ host: HERE })
  const there = await openSink({ host: THERE, port: here.port })
  return { here, there, url: `http://hooks.example.com:${here.port}/` }
}

describe('rebinding', () => {
  test('a name that is rebound between registration and dial is refused', async () => {
    const inside = await openSink({ host: INSIDE })
    const url = `http://hooks.example.com:${inside.port}/`
    names.tell('hooks.example.com', { a: [HERE] })
    expect(await outbound.check(url)).toBeUndefined()
    names.tell('hooks.example.com', { a: [INSIDE] })
    expect(await post(url)).toMatchObject({ kind: 'blocked' })
    expect(inside.connections).toHaveLength(0)
  })

  test('a name that is rebound between attempts is refused, though a connection to the old address is kept', async () => {
    const { here, url } = await openPair()
    names.tell('hooks.example.com', { a: [HERE] })
    expect(await post(url)).toMatchObject({ status: 200 })
    names.tell('hooks.example.com', { a: [INSIDE] })
    expect(await post(url)).toMatchObject({ kind: 'blocked' })
    names.tell('hooks.example.com', { a: [HERE, INSIDE] })
    expect(await post(url)).toMatchObject({ kind: 'blocked' })
    expect(here.requests).toHaveLength(1)
  })

  test('a connection to the old address is not used again after a name moves to another one', async () => {
    const { here, there, url } = await openPair()
    for (const address of [HERE, HERE, THERE, HERE]) {
      names.tell('hooks.example.com', { a: [address] })
      expect(await post(url)).toMatchObject({ status: 200 })
    }
    expect([here.requests.length, there.requests.length]).toEqual([3, 1])
    expect(here.connections, 'requests to one address share a connection').toHaveLength(1)
  })

  test('two names at one address do not share a connection', async () => {
    const { here, url } = await openPair()
    names.tell('hooks.example.com', { a: [HERE] })
    names.tell('other.example.com', { a: [HERE] })
    await post(url)
    await post(url.replace('hooks', 'other'))
    expect(here.connections).toHaveLength(2)
    expect(here.requests.map(({ headers }) => headers.host)).toEqual([
      `hooks.example.com:${here.port}`,
      `other.example.com:${here.port}`,
    ])
  })

  test('a redirect to a private address is an answer, and nothing more', async () => {
    const inside = await openSink({ host: INSIDE })
    const location = `http://127.0.0.1:${inside.port}/`
    for (const status of [301, 302, 303, 307, 308]) {
      const sink = await openSink({
        host: HERE,
        answer: (_request, response) => response.writeHead(status, { Location: location }).end('moved'),
      })
      expect(await post(`http://${HERE}:${sink.port}/`)).toMatchObject({ status, body: 'moved' })
    }
    expect(inside.connections).toHaveLength(0)
  })
})

describe('name servers', () => {
  test('concurrent lookups of one name share one question; later ones ask again', async () => {
    const { here, url } = await openPair()
    names.tell('hooks.example.com', { a: [HERE] })
    await Promise.all(Array.from({ length: 40 }, () => post(url)))
    expect(here.requests).toHaveLength(40)
    expect([names.questions('hooks.example.com'), names.questions('hooks.example.com', 'AAAA')]).toEqual([
      1, 1,
    ])
    await post(url)
    expect(names.questions('hooks.example.com')).toBe(2)
  })

  test('a lookup of one address family that fails leaves the other', async () => {
    const { url } = await openPair()
    for (const records of [{ a: [HERE] }, { a: [HERE], fail: 'AAAA' }] as const) {
      names.tell('hooks.example.com', records)
      expect(await post(url)).toMatchObject({ status: 200 })
    }
  })

  test('a name without addresses is accepted at registration, and fails at dial with the reason', async () => {
    names.tell('empty.example.com', {})
    names.tell('broken.example.com', { a: [HERE], fail: 'A' })
    const reasons = {
      'missing.example.com': 'the host name does not exist',
      'empty.example.com': 'the host name has no address',
      'broken.example.com': 'the host name could not be resolved',
    }
    for (const [name, error] of Object.entries(reasons)) {
      expect(await outbound.check(`http://${name}/`)).toBeUndefined()
      expect(await post(`http://${name}/`)).toMatchObject({ kind: 'dns', error })
    }
  })

  test('name servers that hang: registered after 1.5 s, given up at dial, never past the deadline', async () => {
    names.tell('slow.example.com', { hang: 'all' })
    const url = 'http://slow.example.com/'
    const hasty = open({ deadlineMs: 300 })
    const ended: string[] = []
    const note = <T>(name: string, promise: Promise<T>) => promise.finally(() => ended.push(name))
    const [fault, late, given] = await Promise.all([
      note('checked', outbound.check(url)),
      note('late', post(url, hasty)),
      note('given up', post(url)),
    ])
    hasty.close()
    expect(ended).toEqual(['late', 'checked', 'given up'])
    expect(fault).toBeUndefined()
    expect(late).toMatchObject({ kind: 'timeout', error: 'the host name was not resolved in time' })
    expect(given).toMatchObject({ kind: 'dns', error: 'the name servers did not respond in time' })
  })

  test('a family that hangs delays the other and does not stop it', async () => {
    const { url } = await openPair()
    names.tell('hooks.example.com', { a: [HERE], hang: 'AAAA' })
    expect(await post(url)).toMatchObject({ status: 200 })
  })

  test('an address that takes no connection leaves the next one', async () => {
    const there = await openSink({ host: THERE })
    names.tell('hooks.example.com', { a: [HERE, THERE] })
    expect(await post(`http://hooks.example.com:${there.port}/`)).toMatchObject({ status: 200 })
    expect(there.requests).toHaveLength(1)
  })
})

test('localhost is 127.0.0.1, whatever name servers say, and is sent as it was written', async () => {
  const sink = await openSink()
  names.tell('localhost', { a: [HERE] })
  const local = open({ allow: parseNetworks(['127.0.0.0/8']) })
  expect(await local.check(`http://localhost:${sink.port}/`)).toBeUndefined()
  expect(await post(`http://localhost:${sink.port}/x?y=1`, local)).toMatchObject({ status: 200 })
  local.close()
  expect(sink.requests[0]).toMatchObject({ url: '/x?y=1', headers: { host: `localhost:${sink.port}` } })
  expect(names.questions('localhost')).toBe(0)
})

test('variables that name a proxy have no effect', async () => {
  const proxy = await openSink({ host: HERE })
  const sink = await openSink()
  const script = `
    const { createOutbound } = await import('./runtime/events/outbound/outbound.ts')
    const { parseNetworks } = await import('./runtime/platform/networks.ts')
    const outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.1']) })
    const post = (url) => outbound.post({ url, headers: {}, body: '{}' })
    console.log(JSON.stringify(await post('http://127.0.0.1:${sink.port}/')))
    outbound.close()`
  const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const env = Object.fromEntries(variables.map((name) => [name, `http://${HERE}:${proxy.port}`]))
  const words = ['--input-type=module', '--eval', script]
  const program = startProgram(process.execPath, words, { ...env, NODE_USE_ENV_PROXY: '1', NO_PROXY: '' })
  expect(await program.ready()).toMatchObject({ status: 200 })
  await program.ended
  expect([sink.requests.length, proxy.connections.length]).toEqual([1, 0])
})

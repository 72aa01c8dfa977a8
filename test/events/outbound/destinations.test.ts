/** What may be reached and what not, each at both moments: when it is registered, and when it is dialled. */
import net, { connect } from 'node:net'
import tls from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { checkUrl } from '../../../runtime/events/outbound/destination.ts'
import { createOutbound, type Outbound } from '../../../runtime/events/outbound/outbound.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { type NameServer, openNameServer } from '../../support/dns.ts'
import { ADDRESSES, URLS, type Want } from './destinations.table.ts'
import { closeSinks, openSink } from './sinks.ts'

/** Addresses that were dialled. Each connection ends at a sink of the test: nothing leaves the machine. */
const dialled: unknown[] = []

let names: NameServer
let outbound: Outbound

beforeAll(async () => {
  const sink = await openSink({
    answer: (_request, response) => response.writeHead(200, { Connection: 'close' }).end('ok'),
  })
  const reroute = (options: unknown) => {
    dialled.push((options as { host: string }).host)
    return connect(sink.port, '127.0.0.1')
  }
  vi.spyOn(net, 'createConnection').mockImplementation(reroute)
  vi.spyOn(tls, 'connect').mockImplementation((options: unknown) => {
    const socket = reroute(options)
    socket.once('connect', () => setImmediate(() => socket.emit('secureConnect')))
    return socket as tls.TLSSocket
  })
  names = await openNameServer()
  for (const name of ['example.com', 'xn--bcher-kva.example.com', 'my_hooks.example.com']) {
    names.tell(name, { a: ['93.184.215.14'], aaaa: ['2606:2800:21f::1'] })
  }
  outbound = createOutbound({ allowPlainHttp: true, dnsServers: [names.address] })
})

afterAll(async () => {
  outbound.close()
  vi.restoreAllMocks()
  await closeSinks()
  await names.close()
})

beforeEach(() => {
  dialled.length = 0
})

const message = { headers: { 'Content-Type': 'application/json' }, body: '{}' }

/** Both moments. `want` is part of the reason, undefined for what is allowed. */
async function expectBoth(url: string, want: Want): Promise<void> {
  const fault = await outbound.check(url)
  expect(dialled, 'a registration dials nothing').toEqual([])
  const outcome = await outbound.post({ url, ...message })
  if (want === undefined) {
    expect(fault).toBeUndefined()
    expect(outcome).toMatchObject({ status: 200, body: 'ok' })
    expect(dialled).toHaveLength(1)
    return
  }
  expect(fault).toContain(want)
  expect(fault).toMatch(/^must /)
  expect(outcome).toMatchObject({ kind: 'blocked', error: expect.stringContaining(want) })
  expect(dialled).toEqual([])
}

describe('URLs', () => {
  test.each(URLS)('a webhook URL is allowed or refused: %j', async (url, want) => {
    await expectBoth(url, want)
  })
})

describe('addresses in URLs', () => {
  test.each(ADDRESSES)('an address in a webhook URL is allowed or refused: %s', async (address, want) => {
    const host = address.includes(':') ? `[${address}]` : address
    await expectBoth(`http://${host}:8080/hooks`, want)
    if (want === undefined) expect(dialled).toEqual([address])
  })
})

describe('addresses that names resolve to', () => {
  test.each(ADDRESSES)('a name is allowed or refused by its only address: %s', async (address, want) => {
    const family = address.includes(':') ? 'aaaa' : 'a'
    const name = `${address.replaceAll(/[.:]/g, '-')}-x.example.com`.replace(/^-+/, 'x')
    names.tell(name, { [family]: [address] })
    await expectBoth(`http://${name}:8080/hooks`, want && 'must name a host on the public internet')
    if (want === undefined) expect(dialled).toEqual([address])
  })

  const PUBLIC = '93.184.215.14'
  const several = [
    ['two addresses, the second private', { a: [PUBLIC, '10.0.0.1'] }],
    ['two addresses, the first private', { a: ['10.0.0.1', PUBLIC] }],
    ['many addresses, the last private', { a: [...Array(20).fill(PUBLIC), '10.0.0.1'] }],
    ['public IPv4, private IPv6', { a: [PUBLIC], aaaa: ['fd00::1'] }],
    ['private IPv4, public IPv6', { a: ['10.0.0.1'], aaaa: ['2606:4700::1111'] }],
    ['an alias of a private name', { cname: 'inside.example.net' }],
    ['an alias of an alias', { cname: 'alias.example.net' }],
  ] as const
  test.each(several)('a name is refused if any of its addresses is: %s', async (what, records) => {
    names.tell('inside.example.net', { a: ['10.0.0.1'] })
    names.tell('alias.example.net', { cname: 'inside.example.net' })
    const name = `${what.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}.example.com`
    names.tell(name, records)
    await expectBoth(`http://${name}/`, 'must name a host on the public internet')
  })

  test('an alias of a public name is reached, and what a blocked name resolves to is not told', async () => {
    names.tell('alias.example.com', { cname: 'example.com' })
    await expectBoth('http://alias.example.com/', undefined)
    names.tell('secret.example.com', { a: ['10.11.12.13'] })
    expect(await outbound.check('http://secret.example.com/')).not.toContain('10.11')
    const outcome = await outbound.post({ url: 'http://secret.example.com/', ...message })
    expect(JSON.stringify(outcome)).not.toMatch(/10\.11|private/)
  })
})

describe('what the setting and the environment change', () => {
  const allow = parseNetworks(['127.0.0.0/8'])

  test('live takes https only', () => {
    const live = { allowPlainHttp: false, allow: [] } as const
    expect(checkUrl('http://example.com/', live)).toEqual({ fault: 'must begin with https://' })
    expect(checkUrl('https://example.com/', live)).toMatchObject({ secure: true, port: 443 })
  })

  test('allowed networks are reached, by number and as localhost, and nothing beside them', () => {
    const check = (url: string) => checkUrl(url, { allowPlainHttp: true, allow })
    expect(check('http://127.0.0.1:4010/a?b=c')).toEqual({
      secure: false,
      name: '',
      address: '127.0.0.1',
      port: 4010,
      authority: '127.0.0.1:4010',
      path: '/a?b=c',
    })
    const local = { name: 'x.localhost', address: '127.0.0.1', authority: 'x.localhost:4010' }
    expect(check('http://X.localhost.:4010/')).toMatchObject(local)
    for (const host of ['127.1', '[::1]', '[::ffff:127.0.0.1]', '10.0.0.1', '0.0.0.0']) {
      expect(check(`http://${host}/`), host).toHaveProperty('fault')
    }
    expect(check('http://127.0.0.1:6379/')).toHaveProperty('fault')
  })
})

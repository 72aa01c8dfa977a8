/** Certificates and handshakes of the other end, over real sockets. */
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createOutbound, type Outbound } from '../../../runtime/events/outbound/outbound.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { type NameServer, openNameServer } from '../../support/dns.ts'
import { type Certificates, makeCertificates } from './certificates.ts'
import { closeSinks, openSink, openWire } from './sinks.ts'

const HOST = 'hooks.example.com'
const allow = parseNetworks(['127.0.0.0/8'])

let certificates: Certificates
let names: NameServer
let outbound: Outbound

beforeAll(async () => {
  certificates = makeCertificates(HOST)
  names = await openNameServer()
  names.tell(HOST, { a: ['127.0.0.1'] })
  names.tell('other.example.com', { a: ['127.0.0.1'] })
  const { ca } = certificates
  outbound = createOutbound({
    allowPlainHttp: false,
    allow,
    dnsServers: [names.address],
    ca,
    deadlineMs: 2000,
  })
})

afterEach(closeSinks)

afterAll(async () => {
  outbound.close()
  vi.unstubAllEnvs()
  await names.close()
})

const post = (port: number, host = HOST, way = outbound) =>
  way.post({ url: `https://${host}:${port}/hooks`, headers: { 'Content-Type': 'text/plain' }, body: 'hello' })

test('a good certificate: delivered, over a connection that is kept, with the name that was asked for', async () => {
  const sink = await openSink({ tls: certificates.good })
  for (const _ of [1, 2, 3]) expect(await post(sink.port)).toMatchObject({ status: 200, body: 'ok' })
  expect(sink.connections).toHaveLength(1)
  expect(sink.requests).toHaveLength(3)
  expect((sink.requests[0]!.socket as TLSSocket).servername).toBe(HOST)
})

test('a certificate with a fault: nothing is sent, and the fault is named', async () => {
  const faults = {
    expired: 'the certificate has expired',
    future: 'the certificate is not valid yet',
    wrongHost: 'the certificate is for a different host',
    selfSigned: 'the certificate is self-signed',
    untrusted: 'the certificate chain is incomplete or not trusted',
  } as const
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  for (const [fault, error] of Object.entries(faults)) {
    const sink = await openSink({ tls: certificates[fault as keyof typeof faults] })
    expect(await post(sink.port), fault).toMatchObject({ kind: 'tls', error })
    expect(sink.requests).toHaveLength(0)
  }
})

test('a name at the same address with another certificate is checked for itself, and so is the bare address', async () => {
  const sink = await openSink({ tls: certificates.good })
  expect(await post(sink.port)).toMatchObject({ status: 200 })
  const error = 'the certificate is for a different host'
  expect(await post(sink.port, 'other.example.com')).toMatchObject({ kind: 'tls', error })
  expect(await post(sink.port, '127.0.0.1')).toMatchObject({ kind: 'tls', error })
  expect(sink.requests).toHaveLength(1)
})

test('outbound TLS without certificates of its own trusts the usual roots only', async () => {
  const sink = await openSink({ tls: certificates.good })
  const usual = createOutbound({ allowPlainHttp: false, allow, dnsServers: [names.address] })
  expect(await post(sink.port, HOST, usual)).toMatchObject({ kind: 'tls' })
  usual.close()
})

test('a protocol that is too old', async () => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const sink = await openSink({ tls: { ...certificates.good, ...old } })
  expect(await post(sink.port)).toMatchObject({ kind: 'tls', error: 'the TLS handshake failed' })
})

test('no TLS at all, a connection cut in the handshake, and one that hangs in it', async () => {
  const plain = await openSink()
  expect(await post(plain.port)).toMatchObject({ kind: 'tls', error: 'the TLS handshake failed' })
  const cut = await openWire((socket) => socket.once('data', () => socket.resetAndDestroy()))
  expect(await post(cut.port)).toMatchObject({ kind: 'tls', error: 'the TLS handshake failed' })
  const silent = await openWire(() => {})
  const outcome = await post(silent.port)
  expect(outcome).toMatchObject({ kind: 'timeout', error: 'the TLS handshake was not finished in time' })
})

test('a connection that was kept and dies is replaced', async () => {
  const sink = await openSink({ tls: { ...certificates.good } })
  expect(await post(sink.port)).toMatchObject({ status: 200 })
  for (const socket of sink.connections) socket.destroy()
  expect(await post(sink.port)).toMatchObject({ status: 200 })
  expect(sink.connections).toHaveLength(2)
})

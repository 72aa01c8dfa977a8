/** A process that stops: it says so first, then finishes what it has, then goes. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { databasesAnswer } from '../../runtime/operator/metrics/readiness.ts'
import { writeCertificate } from '../../runtime/passes/wallets/render/apple/certificate.ts'
import { type DemoDatabase, openDemoDatabase } from '../support/database.ts'
import { endPrograms, type Program, startService, until } from '../support/programs.ts'

let db: DemoDatabase

beforeAll(async () => {
  db = await openDemoDatabase('2026-05-19')
})
afterAll(() => db.close())
afterEach(endPrograms)

async function start(env: Record<string, string> = {}) {
  const program = startService({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper, ...env }, ['--json'])
  const line = await program.ready()
  return { program, api: String(line.sandbox_base_url), console: String(line.console_url) }
}

const statusOf = (address: string) =>
  fetch(address).then(
    ({ status }) => status,
    () => 'closed' as const,
  )

async function open(url: string): Promise<{ socket: Socket; text: () => string; closed: () => boolean }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let [text, closed] = ['', false]
  socket.on('error', () => {}) // `close` follows
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.once('close', () => {
    closed = true
  })
  await once(socket, 'connect')
  return { socket, text: () => text, closed: () => closed }
}

const request = (path = '/v1/me') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${db.keys.sandbox_secret}\r\n\r\n`

const endOf = async (program: Program) => (await program.ended).code

test('a process that serves is ready everywhere, and counted', async () => {
  const { api, console } = await start()
  for (const path of [`${api}/readyz`, `${console}/readyz`, `${api}/livez`, `${console}/livez`]) {
    expect([path, await statusOf(path)]).toEqual([path, 200])
  }
  expect(await statusOf(`${api}/metrics`)).toBe(404)
  await fetch(`${api}/v1/me`, { headers: { Authorization: `Bearer ${db.keys.sandbox_secret}` } })
  const { hostname, port } = new URL(api)
  const nonsense = connect(Number(port), hostname, () => nonsense.end('hello\r\n\r\n'))
  await once(nonsense.resume(), 'close')
  const response = await fetch(`${console}/metrics`)
  expect(response.headers.get('Content-Type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const text = await response.text()
  for (const line of [
    'svc_requests_total{environment="sandbox",operation="getMe",version="2026-05-19",status="200"} 1',
    'svc_unreadable_total{reason="HPE_INVALID_METHOD"} 1',
    'svc_requests_under_way{environment="live"} 0',
    'svc_overloaded 0',
    'svc_database_pool{pool="sandbox",of="waiting"} 0',
  ]) {
    expect(text).toContain(`${line}\n`)
  }
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m)
  expect(text).toMatch(/^process_resident_memory_bytes /m)
  expect(text).not.toMatch(/svc_limits_/)
})

test('a process says that it leaves while its ports are still open, then finishes, and ends well', async () => {
  const { program, api, console } = await start({ SVC_LEAVE_MS: '1500' })
  const idle = await open(api)
  idle.socket.write(request())
  await until('the first answer', () => idle.text().includes('"object":"me"'))
  program.child.kill('SIGTERM')
  await until('readiness to end', async () => (await statusOf(`${api}/readyz`)) === 503)
  expect(await statusOf(`${console}/readyz`)).toBe(503)
  expect(await statusOf(`${api}/livez`)).toBe(200)
  idle.socket.write(request()) // who has not heard of it yet is served
  await until('the second answer', () => idle.text().split('"object":"me"').length === 3)
  expect(await endOf(program)).toBe(0)
  expect(idle.closed()).toBe(true)
})

test('connections that idle are closed at once; one that is busy gets its answer and is told to go', async () => {
  const { program, api } = await start()
  const [idle, busy] = [await open(api), await open(api)]
  idle.socket.write(request())
  await until('an answer', () => idle.text().includes('"object":"me"'))
  await db.control.transaction(async (tx) => {
    await tx.query({ text: 'LOCK TABLE sandbox.passes' })
    busy.socket.write(request('/v1/passes'))
    await until('the request to wait', async () => {
      const { rows } = await db.control.query({ text: 'SELECT 1 FROM pg_locks WHERE NOT granted' })
      return rows.length > 0
    })
    program.child.kill('SIGTERM')
    await until('the idle connection to be closed', () => idle.closed())
    expect(busy.closed()).toBe(false)
    expect(program.child.exitCode).toBeNull()
  })
  expect(await endOf(program)).toBe(0)
  expect(busy.text()).toMatch(/^HTTP\/1\.1 200 /)
  expect(busy.text()).toContain('"data":[]')
})

test('a client that never finishes is cut when the time is over', async () => {
  const { program, api } = await start({ SVC_DRAIN_TIMEOUT_MS: '500' })
  const slow = await open(api)
  slow.socket.write('POST /v1/passes HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n')
  const began = performance.now()
  program.child.kill('SIGTERM')
  expect(await endOf(program)).toBe(0)
  expect(performance.now() - began).toBeLessThan(10_000)
  await until('the connection to be closed', () => slow.closed())
})

test('a connection that arrives while the process stops gets one answer more, and that is its last', async () => {
  const { program, api } = await start({ SVC_DRAIN_TIMEOUT_MS: '3000' })
  const busy = await open(api)
  await db.control.transaction(async (tx) => {
    await tx.query({ text: 'LOCK TABLE sandbox.passes' })
    busy.socket.write(request('/v1/passes'))
    await until('the request to wait', async () => {
      const { rows } = await db.control.query({ text: 'SELECT 1 FROM pg_locks WHERE NOT granted' })
      return rows.length > 0
    })
    program.child.kill('SIGTERM')
    await until('the port to be closed', async () => (await statusOf(`${api}/livez`)) === 'closed')
    busy.socket.write(request() + request())
    await until('the bytes to have gone', () => busy.socket.writableLength === 0)
  })
  expect(await endOf(program)).toBe(0)
  expect(busy.text().match(/HTTP\/1\.1 200/g)?.length).toBeLessThanOrEqual(2)
})

test('a database that does not answer is not waited for', async () => {
  const never = { query: () => new Promise<never>(() => {}) }
  expect(await databasesAnswer([never], 200)).toBe(false)
})

/** Makes a certificate for a port, and returns its fingerprint. */
function makeCertificate(folder: string, days: number): string {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const subject = { CN: 'localhost', O: 'Test' }
  const now = Date.now()
  const pem = writeCertificate({
    subject,
    publicKey,
    issuer: { subject, key: privateKey },
    isAuthority: false,
    server: { dns: 'localhost', ipv4: [127, 0, 0, 1] },
    from: now,
    to: now + days * 86_400_000,
  })
  writeFileSync(join(folder, 'tls.crt'), pem)
  writeFileSync(join(folder, 'tls.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return new X509Certificate(pem).fingerprint256
}

async function shownCertificate(url: string): Promise<string | undefined> {
  const { hostname, port } = new URL(url)
  const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const shown = socket.getPeerX509Certificate()?.fingerprint256
  socket.destroy()
  return shown
}

test('SIGHUP takes a renewed certificate and a rotated database password, and keeps the old ones if a new one is wrong', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-reload-'))
  const [certificate, url, token] = ['tls.crt', 'database-url', 'token'].map((name) => join(folder, name))
  const first = makeCertificate(folder, 1)
  writeFileSync(url!, `${db.url}\n`)
  writeFileSync(token!, 'old\n')
  const env = { SVC_PEPPER: db.pepper, TLS_CERT: certificate!, TLS_KEY: join(folder, 'tls.key') }
  const files = { DATABASE_URL_FILE: url!, SVC_BANK_URL: 'https://bank.test', SVC_BANK_TOKEN_FILE: token! }
  const program = startService({ ...env, ...files }, ['--json', '--role', 'api'])
  const api = String((await program.ready()).sandbox_base_url)
  const hangUp = async (log: RegExp) => {
    const before = program.stderr().length
    program.child.kill('SIGHUP')
    await until(`the log to say ${log}`, () => log.test(program.stderr().slice(before)))
  }
  expect(await shownCertificate(api)).toBe(first)

  const second = makeCertificate(folder, 2)
  writeFileSync(token!, 'new\n')
  await hangUp(/Restart the process to use the new value of SVC_BANK_TOKEN"/)
  expect(await shownCertificate(api)).toBe(second)

  writeFileSync(certificate!, 'no certificate')
  await hangUp(/Not everything was reloaded: TLS_CERT .*not a matching certificate and key/)
  expect(await shownCertificate(api)).toBe(second)
  makeCertificate(folder, 3)
  writeFileSync(url!, `${db.url}_other`)
  await hangUp(/Not everything was reloaded: DATABASE_URL differs in more than its password/)
  expect(await shownCertificate(api)).toBe(second)
  expect(program.stderr()).not.toContain(new URL(db.url).password || db.pepper)
  expect((await program.end()).code).toBe(0)
  rmSync(folder, { recursive: true })
})

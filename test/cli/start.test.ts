import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect as connectTcp, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findPostmaster } from '../../runtime/database/embedded/postmaster.ts'
import { ensureDemo } from '../../runtime/operator/demo.ts'
import { newId } from '../../runtime/platform/ids.ts'
import {
  type DemoDatabase,
  openDemoDatabase,
  openTestDatabase,
  type TestDatabase,
} from '../support/database.ts'
import { endPrograms, isAlive, START, startProgram, startService, until } from '../support/programs.ts'

afterEach(endPrograms)

/** The process ids below a process. */
function childrenOf(pid: number): readonly number[] {
  const path = `/proc/${pid}/task/${pid}/children`
  const direct = readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  return direct.flatMap((child) => [child, ...childrenOf(child)])
}

describe('npm start on an empty directory', () => {
  let dataDir: string

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-start-'))
    chmodSync(dataDir, 0o711)
  })

  afterEach(async () => {
    const server = findPostmaster(join(dataDir, 'postgres/data'))
    if (server) process.kill(server.pid, 'SIGQUIT')
    await until('the server to end', () => !findPostmaster(join(dataDir, 'postgres/data')))
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('npm start on an empty directory prints one line when everything answers, and leaves no process at SIGTERM', async () => {
    const npm = startProgram('npm', ['start', '--silent', '--', '--json'], { DATA_DIR: dataDir })
    const line = await npm.ready()
    expect(Object.keys(line)).toEqual([
      'ready',
      'sandbox_base_url',
      'live_base_url',
      'console_url',
      'auth_url',
      'docs_url',
      'tenant_id',
      'keys',
      'dashboard',
    ])
    const keys = Object(line.keys)
    expect(Object.keys(keys)).toEqual([
      'sandbox_secret',
      'sandbox_publishable',
      'live_secret',
      'live_publishable',
    ])
    for (const [base, key] of [
      [line.sandbox_base_url, keys.sandbox_secret],
      [line.live_base_url, keys.live_secret],
    ]) {
      const response = await fetch(`${base}/v1/me`, { headers: { Authorization: `Bearer ${key}` } })
      expect(await response.json()).toMatchObject({
        tenant: { id: line.tenant_id, plan: 'enterprise' },
        key: { scope: 'admin' },
      })
    }
    expect((await fetch(String(line.docs_url))).status).toBe(200)

    const server = findPostmaster(join(dataDir, 'postgres/data'))
    const processes = [...childrenOf(npm.pid), server?.pid ?? 0]
    expect(processes.length).toBeGreaterThan(1)
    const { stdout } = await npm.end('SIGTERM')
    expect(stdout.trimEnd().split('\n')).toHaveLength(1)
    await until('every process to end', () => !processes.some(isAlive))
  })
})

describe('with a database of the operator’s', () => {
  let db: TestDatabase
  let env: Readonly<Record<string, string>>

  beforeEach(async () => {
    db = await openTestDatabase()
    env = { DATABASE_URL: db.url, SVC_PEPPER: db.pepper }
  })

  afterEach(async () => {
    await endPrograms()
    await db.close()
  })

  test('no demo tenant is made unless it is asked for, and then once', async () => {
    const plain = startService(env)
    expect(await plain.ready()).toMatchObject({ tenant_id: null })
    await plain.end()
    const asked = startService(env, ['--json', '--demo', '--role', 'worker'])
    const line = await asked.ready()
    expect(line).toMatchObject({
      tenant_id: expect.stringMatching(/^ten_/),
      keys: { live_secret: expect.any(String) },
    })
    await until('the secrets to be forgotten', async () => {
      const { rows } = await db.control.query({ text: 'SELECT demo_secrets FROM control.deployment' })
      return rows[0]?.demo_secrets === null
    })
    await asked.end()
    const again = startService(env, ['--json', '--demo', '--role', 'worker'])
    expect(await again.ready()).toEqual({ ...line, keys: undefined, dashboard: undefined })
  })

  test('secrets that a killed start did not print are printed by the next', async () => {
    const { tenantId, secrets } = await ensureDemo(db.operator, '2026-05-19')
    const program = startService(env)
    expect(await program.ready()).toMatchObject({ tenant_id: tenantId, ...secrets })
  })

  test('people get words and a request to copy', async () => {
    const { secrets } = await ensureDemo(db.operator, '2026-05-19')
    const program = startService(env, ['--role', 'api'])
    const words = await until('the words', () => program.stdout().includes('curl') && program.stdout())
    const command = /^ {2}(curl .*)$/m.exec(words)?.[1] ?? ''
    expect(command).toContain(secrets?.keys.sandbox_secret)
    expect(JSON.parse(execFileSync('sh', ['-c', `${command} -s`], { encoding: 'utf8' }))).toMatchObject({
      object: 'me',
    })
  })

  test('SVC_CLOCK sets both environments’ time, and the next start without it takes that back', async () => {
    const offsets = async () => {
      const { rows } = await db.control.query<{ offset_ms: number }>({
        text: 'SELECT offset_ms FROM control.clock',
      })
      return rows.map(({ offset_ms }) => Math.round(offset_ms / 60_000))
    }
    const wanted = Math.round((Date.UTC(2027, 1, 2) - Date.now()) / 60_000)
    const moved = startService({ ...env, SVC_CLOCK: '2027-02-02T00:00:00Z' })
    await moved.ready()
    for (const offset of await offsets()) expect(Math.abs(offset - wanted)).toBeLessThan(2)
    await moved.end()
    await startService(env).ready()
    expect(await offsets()).toEqual([0, 0])
  })

  test('changes by the operator reach a running service', async () => {
    const { tenantId, secrets } = await ensureDemo(db.operator, '2026-05-19')
    const program = startService(env, ['--json', '--role', 'api'])
    const { sandbox_base_url } = await program.ready()
    const headers = { Authorization: `Bearer ${secrets?.keys.sandbox_secret}` }
    const status = async () => (await fetch(`${sandbox_base_url}/v1/me`, { headers })).status
    expect(await status()).toBe(200)
    await db.control.transaction(async (tx) => {
      await tx.query({ text: 'UPDATE control.keys SET revoked_at = now() WHERE tenant_id = $1' }, [tenantId])
      await tx.query({ text: 'UPDATE control.revision SET revision = revision + 1' }) // no hint: the poll finds it
    })
    await until('the key to be refused', async () => (await status()) === 401)
  })
})

function isClosed(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(Number(url.port), url.hostname)
    socket.once('error', () => resolve(true))
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
  })
}

describe('a request under way at a signal', () => {
  let db: DemoDatabase

  beforeEach(async () => {
    db = await openDemoDatabase('2026-05-19')
  })

  afterEach(async () => {
    await endPrograms()
    await db.close()
  })

  test('a request that runs at a signal gets its answer before the process ends', async () => {
    const program = startService({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper }, ['--json', '--role', 'api'])
    const { sandbox_base_url } = await program.ready()
    const create = () =>
      fetch(`${sandbox_base_url}/v1/pass_templates`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${db.keys.sandbox_secret}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': crypto.randomUUID(),
        },
        body: JSON.stringify({
          name: newId('tpl'),
          kind: 'generic',
          brand: { background_color: '#000000', foreground_color: '#ffffff' },
          fields: [],
        }),
      })
    let answer: Promise<Response> | undefined
    await db.control.transaction(async (tx) => {
      await tx.query({ text: 'LOCK TABLE sandbox.pass_templates' })
      answer = create()
      await until('the request to wait for the lock', async () => {
        const { rows } = await db.control.query({ text: 'SELECT 1 FROM pg_locks WHERE NOT granted' })
        return rows.length > 0
      })
      program.child.kill('SIGTERM')
      await until('the port to be closed', () => isClosed(new URL(String(sandbox_base_url))))
      expect(program.child.exitCode).toBeNull()
    })
    expect((await answer)?.status).toBe(201)
    expect(await program.ended).toMatchObject({ code: 0 })
  })

  test('a request that runs at a signal is given up at a second SIGTERM, but not at the echo of the first', async () => {
    const program = startService({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper }, ['--json', '--role', 'api'])
    const { sandbox_base_url } = await program.ready()
    const socket = connectTcp(Number(new URL(String(sandbox_base_url)).port), '127.0.0.1')
    socket.on('error', () => {}) // cut by the end of the process
    await new Promise<void>((resolve) => {
      socket.once('connect', resolve)
    })
    socket.write('POST /v1/passes HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n') // and never the body
    await once(socket, 'data') // refused, and under way until its body is there
    program.child.kill('SIGINT')
    program.child.kill('SIGINT')
    await until('the port to be closed', () => isClosed(new URL(String(sandbox_base_url))))
    expect(program.child.exitCode).toBeNull()
    await until('the second signal to count', () => {
      program.child.kill('SIGTERM')
      return program.child.exitCode !== null
    })
    expect(await program.ended).toMatchObject({ code: 143 })
  })
})

describe('a start that cannot be', () => {
  test.each([
    [
      1,
      'nobody answers',
      { DATABASE_URL: 'postgres://127.0.0.1:1/x', SVC_PEPPER: 'x' },
      /no PostgreSQL answers at 127\.0\.0\.1:1/,
    ],
    [
      2,
      'settings are wrong',
      { SANDBOX_PORT: 'x', SVC_CLOCK: 'y' },
      /SVC_CLOCK: .*\n.*SANDBOX_PORT: |SANDBOX_PORT: .*\n.*SVC_CLOCK: |SVC_CLOCK/,
    ],
    [
      1,
      'a certificate is missing',
      { TLS_CERT: '/nowhere/a.pem', TLS_KEY: '/nowhere/b.pem' },
      /TLS_CERT: \/nowhere\/a\.pem cannot be read/,
    ],
  ])('a start that cannot be exits with %i and says why when %s', async (code, _, env, want) => {
    const program = startService(env, ['--json', '--role', 'api'])
    expect(await program.ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(want) })
  })

  test('a start that cannot be names the port that is taken', async () => {
    const squatter = createServer()
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve))
    const address = squatter.address()
    const port = typeof address === 'object' ? address?.port : 0
    const program = startService({ LIVE_PORT: String(port), DATA_DIR: '/nowhere' }, [
      '--json',
      '--role',
      'api',
    ])
    const ending = await program.ended
    squatter.close()
    expect(ending).toMatchObject({ code: 1, stdout: '' })
    expect(ending.stderr).toMatch(new RegExp(`LIVE_PORT: another program listens on 127\\.0\\.0\\.1:${port}`))
  })

  test('a start that cannot be names the Node that is needed, on an older one', async () => {
    const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.2' } })`
    const words = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, ...START]
    const { code, stderr } = await startProgram(process.execPath, words, {}).ended
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: this is Node 20\.1\.2, .* requires Node 24/),
    ])
  })

  test.each([['--rolle'], ['extra'], ['--role=cook']])(
    'a start exits with 2 for the word %s',
    async (word) => {
      const { code, stdout, stderr } = await startService({}, [word]).ended
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/Usage: npm start|expected api, worker, console/)
    },
  )
})

describe('TLS', () => {
  let db: TestDatabase
  let folder: string

  beforeEach(async () => {
    db = await openTestDatabase()
    folder = mkdtempSync(join(tmpdir(), 'svc-tls-'))
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
    const options = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=localhost',
    ]
    execFileSync('openssl', ['req', '-x509', ...options, ...files], { stdio: 'ignore' })
  })

  afterEach(async () => {
    await endPrograms()
    await db.close()
    rmSync(folder, { recursive: true })
  })

  const handshake = (url: URL, version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
    new Promise<string | null>((resolve) => {
      const range = {
        minVersion: version,
        maxVersion: version,
        ciphers: 'DEFAULT@SECLEVEL=0',
        rejectUnauthorized: false,
      }
      const socket = connect({ host: url.hostname, port: Number(url.port), ...range })
      socket.once('secureConnect', () => {
        resolve(socket.getProtocol())
        socket.destroy()
      })
      socket.once('error', () => resolve(null))
    })

  test.each([
    ['development', null, 'TLSv1.2'],
    ['production', null, null],
  ])('a TLS listener in %s refuses old protocols', async (mode, oldest, older) => {
    const tls = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') }
    const pepper = { DATABASE_URL: db.url, SVC_PEPPER: db.pepper, HOST: '127.0.0.1' }
    const program = startService({ ...tls, ...pepper, NODE_ENV: mode }, ['--json', '--role', 'api'])
    const url = new URL(String((await program.ready()).sandbox_base_url))
    expect(url.protocol).toBe('https:')
    expect(await handshake(url, 'TLSv1.1')).toBe(oldest)
    expect(await handshake(url, 'TLSv1.2')).toBe(older)
    expect(await handshake(url, 'TLSv1.3')).toBe('TLSv1.3')
  })
})

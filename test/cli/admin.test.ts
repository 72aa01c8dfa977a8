import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { TOTP } from 'otpauth'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runAdmin as runCommand } from '../../runtime/operator/command/admin-run.ts'
import { verifyPassword } from '../../runtime/platform/passwords.ts'
import { parseKey } from '../../runtime/tenants/keys/keys.ts'
import { issueToken } from '../support/access-tokens.ts'
import { type DemoDatabase, openDemoDatabase } from '../support/database.ts'
import { endPrograms, runAdmin } from '../support/programs.ts'

let db: DemoDatabase
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  db = await openDemoDatabase('2026-05-19')
  env = { DATABASE_URL: db.url, SVC_PEPPER: db.pepper }
})

afterEach(endPrograms)
afterAll(() => db.close())

/** Runs a command line in this process, because most of the time of a process is its start. */
async function run(...words: readonly string[]) {
  const said = { stdout: '', stderr: '' }
  const code = await runCommand(words, {
    env,
    print: (text) => {
      said.stdout += text
    },
    say: (line) => {
      said.stderr += `${line}\n`
    },
  })
  return { code, ...said }
}

/** Runs a verb that succeeds: one line of JSON on stdout and nothing else anywhere. */
async function admin(...words: readonly string[]) {
  const { code, stdout, stderr } = await run(...words, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^\{.*\}\n$/)
  return JSON.parse(stdout)
}

async function one(text: string, ...values: readonly unknown[]) {
  const { rows } = await db.control.query({ text }, values)
  return rows[0]
}

async function revision(): Promise<unknown> {
  return (await one('SELECT revision FROM control.revision'))?.revision
}

const createKey = (...words: readonly string[]) =>
  admin('key', 'create', '--tenant', db.tenantId, '--env', 'sandbox', ...words)

test('admin lists who blocks the sunset of a version, and writes it as a page', async () => {
  const tenant = await admin('tenant', 'create', '--name', 'Old <Shop>')
  await admin('pin', 'set', '--tenant', tenant.id, '--env', 'live', '--version', '2025-06-01')
  const file = join(mkdtempSync(join(tmpdir(), 'blockers-')), 'page.html')
  const found = await admin('version', 'blockers', '2025-06-01', '--html', file)
  expect(found).toMatchObject({ version: '2025-06-01', upgrade_to: '2026-05-19' })
  expect(found.blockers).toEqual([
    { tenant_id: tenant.id, name: 'Old <Shop>', environment: 'live', pinned: true, keys: [], changes: [] },
  ])
  const page = readFileSync(file, 'utf8')
  expect(page).toContain('<h2>Old &lt;Shop&gt;, live</h2>')
  expect(page).toContain(`${tenant.id}. Pinned to this version. No recent requests.`)
  rmSync(dirname(file), { recursive: true })
})

describe('tenants', () => {
  test('svc admin makes, shows and verifies tenants', async () => {
    const before = await revision()
    const made = await admin('tenant', 'create', '--name', 'Acme & Söhne')
    expect(made).toMatchObject({
      id: expect.stringMatching(/^ten_[0-9a-hjkmnp-tv-z]{26}$/),
      name: 'Acme & Söhne',
      plan: 'trial',
      verified_at: null,
      pins: { sandbox: '2026-05-19', live: '2026-05-19' },
    })
    expect(await revision()).toBeGreaterThan(Number(before))
    expect(await admin('tenant', 'verify', made.id)).toMatchObject({
      verified_at: expect.stringMatching(/Z$/),
    })
    expect(await admin('tenant', 'show', made.id)).toMatchObject({
      id: made.id,
      pins: { sandbox: '2026-05-19', live: '2026-05-19' },
      members: [{ id: made.owner_id, role: 'owner' }],
      keys: [],
    })
  })

  test('svc admin makes a tenant on the plan that is asked for', async () => {
    expect(await admin('tenant', 'create', '--name', 'Big', '--plan', 'enterprise')).toMatchObject({
      plan: 'enterprise',
    })
  })
})

describe('keys', () => {
  test.each([
    [[], { kind: 'secret', environment: 'sandbox', scope: 'write', allowed_ips: [] }],
    [['--scope', 'admin'], { kind: 'secret', scope: 'admin' }],
    [['--kind', 'publishable'], { kind: 'publishable', scope: null }],
    [
      ['--allow-ip', '10.0.0.0/8', '::1', '--allow-ip', '192.0.2.7'],
      { allowed_ips: ['10.0.0.0/8', '::1', '192.0.2.7'] },
    ],
  ])('svc admin makes a key with the options %j', async (words, want) => {
    const key = await createKey(...words)
    expect(key).toMatchObject(want)
    expect(parseKey(key.secret)).toEqual({ kind: key.kind, environment: 'sandbox' })
    const stored = await one('SELECT * FROM control.keys WHERE id = $1', key.id)
    expect(stored?.member_id).toBe(key.member_id)
    expect(JSON.stringify(stored)).not.toContain(key.secret.slice(20))
  })

  test('svc admin rotates a key: a successor, and 24 hours for the old one', async () => {
    const old = await createKey('--scope', 'read', '--allow-ip', '10.0.0.0/8')
    const next = await admin('key', 'rotate', old.id)
    expect(next).toMatchObject({ scope: 'read', allowed_ips: ['10.0.0.0/8'], replaces_id: old.id })
    expect(next.secret).not.toBe(old.secret)
    expect(Date.parse(next.works_until) - Date.parse(next.retired_at)).toBe(86_400_000)
    const again = await run('key', 'rotate', old.id, '--json')
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/already rotated/) })
  })

  test('rotated twice at once have one successor', async () => {
    const old = await createKey()
    const endings = await Promise.all([1, 2, 3].map(() => runAdmin(env, 'key', 'rotate', old.id, '--json')))
    expect(endings.map(({ code }) => code).toSorted()).toEqual([0, 1, 1])
    const found = await one('SELECT count(*)::int AS n FROM control.keys WHERE replaces_id = $1', old.id)
    expect(found).toEqual({ n: 1 })
  })

  test('svc admin retires and revokes keys', async () => {
    const { id } = await createKey()
    const retired = await admin('key', 'retire', id)
    expect(retired).toMatchObject({ id, retired_at: expect.any(String) })
    expect(await admin('key', 'retire', id)).toEqual(retired)
    expect(await admin('key', 'revoke', id)).toMatchObject({ id, revoked_at: expect.any(String) })
    expect(await run('key', 'rotate', id)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is revoked/),
    })
  })
})

describe('pins, limits and the clock', () => {
  test('a pin is set for one environment', async () => {
    const words = ['--tenant', db.tenantId, '--env', 'live', '--version', '2025-11-01']
    expect(await admin('pin', 'set', ...words)).toMatchObject({ version: '2025-11-01', environment: 'live' })
    expect(await admin('tenant', 'show', db.tenantId)).toMatchObject({
      pins: { sandbox: '2026-05-19', live: '2025-11-01' },
    })
  })

  test('a version past its sunset is refused', async () => {
    await one(
      `UPDATE control.clock SET offset_ms = $1 WHERE environment = 'live'`,
      Date.UTC(2027, 1, 2) - Date.now(),
    )
    const ending = await run(
      'pin',
      'set',
      '--tenant',
      db.tenantId,
      '--env',
      'live',
      '--version',
      '2025-06-01',
    )
    expect(ending).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/2025-06-01 is past its sunset \(2027-02-02/),
    })
    await one(`UPDATE control.clock SET offset_ms = 0 WHERE environment = 'live'`)
  })

  test('a limit is lifted for some hours of real time', async () => {
    const words = [
      '--tenant',
      db.tenantId,
      '--env',
      'sandbox',
      '--bucket',
      'read',
      '--factor',
      '2.5',
      '--hours',
      '48',
    ]
    const lift = await admin('limit', 'lift', ...words)
    expect(lift).toMatchObject({ bucket: 'read', factor: 2.5, id: expect.stringMatching(/^lft_/) })
    expect(Date.parse(lift.expires_at) - Date.parse(lift.created)).toBe(48 * 3_600_000)
  })

  test('the sandbox’s clock is moved, not live’s', async () => {
    await admin('clock', 'advance', '--seconds', '3600')
    const moved = await admin('clock', 'advance', '--seconds', '60')
    expect(moved).toMatchObject({ environment: 'sandbox', advanced_seconds: 60, offset_seconds: 3660 })
    expect(await one(`SELECT offset_ms FROM control.clock WHERE environment = 'live'`)).toEqual({
      offset_ms: 0,
    })
    const production = await runAdmin(
      { ...env, NODE_ENV: 'production' },
      'clock',
      'advance',
      '--seconds',
      '1',
    )
    expect(production).toMatchObject({ code: 1, stderr: expect.stringMatching(/production/) })
  })
})

describe('the ledger', () => {
  test('the ledger is balanced, or the exit code is 1 and what is not is named', async () => {
    const { id } = await admin('tenant', 'create', '--name', 'Acme')
    const verify = (...words: string[]) => run('ledger', 'verify', '--tenant', id, ...words)
    const entries = { sandbox: 0, live: 0 }
    expect(await admin('ledger', 'verify', '--tenant', id)).toEqual({
      ...{ tenant_id: id, balanced: true, faults: [], entries },
    })
    expect(await verify()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^balanced +true$/m),
      stderr: '',
    })
    const text = `INSERT INTO live.ledger_accounts (tenant_id, id, balance, held, version) VALUES ($1, 'bank', 7, 0, 0)`
    await db.control.query({ text }, [id])
    const fault = 'the ledger of live is not balanced: the balances in usd add up to 7, not to 0'
    const wrong = await verify('--json')
    expect(wrong.code).toBe(1)
    expect(JSON.parse(wrong.stderr).error.message).toBe(fault)
    expect(JSON.parse(wrong.stdout)).toEqual({ tenant_id: id, balanced: false, faults: [fault], entries })
    expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringMatching(/^balanced +false$/m) })
  })
})

describe('the audit log', () => {
  const verify = (...words: readonly string[]) =>
    run('audit', 'verify', '--tenant', db.tenantId, '--env', 'live', ...words, '--json')

  test('the audit log is verified: whole, with the end that was told before, and not when it was changed', async () => {
    const { id } = await createKey()
    const whole = await verify()
    expect(whole).toMatchObject({ code: 0, stderr: '' })
    const chain = JSON.parse(whole.stdout)
    expect(chain).toMatchObject({ environment: 'live', head: expect.stringMatching(/^[0-9a-f]{64}$/) })
    await admin('key', 'revoke', id)
    const later = JSON.parse((await verify('--contains', chain.head)).stdout)
    expect(later.entries).toBe(chain.entries + 1)
    const text = `UPDATE live.audit_log SET target_id = 'key_x' WHERE tenant_id = $1 AND target_id = $2 AND action = 'key.revoked'`
    await one(text, db.tenantId, id)
    expect(await verify()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`entry ${later.entries} \\(aud_.*was changed`)),
    })
  })

  test('the audit log of an unknown tenant is not verified', async () => {
    const ending = await run('audit', 'verify', '--tenant', 'ten_x', '--env', 'live')
    expect(ending).toMatchObject({ code: 1, stderr: expect.stringMatching(/no tenant ten_x/) })
  })
})

describe('usage', () => {
  test('usage is shown by day and bucket', async () => {
    const words = ['--tenant', db.tenantId, '--env', 'live']
    const day = new Date().toISOString().slice(0, 10)
    await one(`INSERT INTO live.usage_counters VALUES ($1, $2, 'read', 7)`, db.tenantId, day)
    expect(await admin('usage', 'show', ...words)).toEqual({
      tenant_id: db.tenantId,
      environment: 'live',
      usage: [{ day, bucket: 'read', requests: 7 }],
    })
    const ending = await run('usage', 'show', ...words, '--days', '0')
    expect(ending).toMatchObject({ code: 2, stderr: expect.stringMatching(/number of days must be/) })
  })
})

describe('platforms and people', () => {
  test('a public client has no secret, a confidential one has', async () => {
    const words = [
      '--name',
      'Till',
      '--env',
      'sandbox',
      '--redirect-uri',
      'https://a.example/cb',
      'http://127.0.0.1:9/cb',
    ]
    const open = await admin('oauth-client', 'create', ...words, '--scope', 'pass:read', 'pass:write')
    expect(open).toMatchObject({
      redirect_uris: ['https://a.example/cb', 'http://127.0.0.1:9/cb'],
      scopes: ['pass:read', 'pass:write'],
      confidential: false,
    })
    expect(open).not.toHaveProperty('secret')
    const closed = await admin(
      'oauth-client',
      'create',
      ...words,
      '--scope',
      'read',
      '--scope',
      'card:read',
      '--confidential',
    )
    expect(closed).toMatchObject({
      scopes: ['read', 'card:read'],
      secret: expect.stringMatching(/^svc_cs_sandbox_/),
    })
  })

  test('connected apps are listed until they are revoked', async () => {
    const member = await one('SELECT id FROM control.members WHERE tenant_id = $1', db.tenantId)
    const { id } = await issueToken(db, { tenantId: db.tenantId, memberId: String(member?.id) }, 'sandbox')
    const text = `INSERT INTO control.oauth_artefacts (digest, model, grant_id, sealed, expires_at)
      VALUES ('refresh', 'RefreshToken', $1, '', now() + interval '1 day')`
    await db.control.query({ text }, [id])
    const listed = await admin('connected-app', 'list', '--tenant', db.tenantId)
    const shown = { id, client_id: 'svc-cli', environment: 'sandbox', scopes: ['read'] }
    expect(listed).toEqual({ data: [expect.objectContaining(shown)] })
    expect(await admin('connected-app', 'revoke', id)).toEqual({ id, revoked: true })
    expect(await admin('connected-app', 'list', '--tenant', db.tenantId)).toEqual({ data: [] })
    const entry = await one('SELECT action FROM sandbox.audit_log WHERE target_id = $1', id)
    expect(entry?.action).toBe('connected_app.revoked')
  })

  test('a user can sign in with what is printed', async () => {
    const user = await admin(
      'user',
      'create',
      '--tenant',
      db.tenantId,
      '--email',
      'ada@example.com',
      '--role',
      'viewer',
    )
    const stored = await one('SELECT role, password_hash FROM control.members WHERE id = $1', user.id)
    expect(stored?.role).toBe('viewer')
    expect(await verifyPassword(user.password, String(stored?.password_hash))).toBe(true)
    expect(new TOTP({ secret: user.totp_secret }).generate()).toMatch(/^\d{6}$/)
    const again = await run('user', 'create', '--tenant', db.tenantId, '--email', 'ADA@example.com')
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/already/) })
  })
})

describe('what is there is looked up', () => {
  const TENANT_OF_DEMO = () => ['--tenant', db.tenantId]

  test('tenants come in pages', async () => {
    await admin('tenant', 'create', '--name', 'Later')
    const first = await admin('tenant', 'list', '--limit', '1')
    expect(first).toMatchObject({ data: [{ id: db.tenantId, plan: 'enterprise' }], has_more: true })
    const next = await admin('tenant', 'list', '--after', db.tenantId)
    expect(next.has_more).toBe(false)
    expect(next.data.map(({ id }: { id: string }) => id)).not.toContain(db.tenantId)
  })

  test('svc admin lists keys, of one environment too, and without their text', async () => {
    const { id, secret } = await createKey('--scope', 'read')
    const listed = await admin('key', 'list', ...TENANT_OF_DEMO(), '--env', 'sandbox')
    expect(listed.data).toContainEqual(expect.objectContaining({ id, scope: 'read', revoked_at: null }))
    expect(JSON.stringify(listed)).not.toContain(secret)
    const live = await admin('key', 'list', ...TENANT_OF_DEMO(), '--env', 'live')
    expect(live.data.map((each: { environment: string }) => each.environment)).not.toContain('sandbox')
    expect(await admin('key', 'show', id)).toMatchObject({
      tenant_id: db.tenantId,
      id,
      hint: secret.slice(-4),
    })
  })

  test('svc admin lists and shows the pins of a tenant', async () => {
    const { data } = await admin('pin', 'list', ...TENANT_OF_DEMO())
    expect(data.map(({ environment }: { environment: string }) => environment)).toEqual(['sandbox', 'live'])
    expect(await admin('pin', 'show', ...TENANT_OF_DEMO(), '--env', 'live')).toMatchObject({
      tenant_id: db.tenantId,
      environment: 'live',
      version: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      pinned_at: expect.stringMatching(/Z$/),
    })
  })

  test('limits, with what lifts make of them', async () => {
    const where = [...TENANT_OF_DEMO(), '--env', 'live']
    const lift = ['--bucket', 'cards_write', '--factor', '2.5', '--hours', '1']
    const { id } = await admin('limit', 'lift', ...where, ...lift)
    const { data } = await admin('limit', 'list', ...where)
    expect(data).toEqual([expect.objectContaining({ id, bucket: 'cards_write', factor: 2.5 })])
    expect(await admin('limit', 'show', ...where, '--bucket', 'cards_write')).toMatchObject({
      ordinary_limit: 200,
      limit: 500,
      lifts: [{ id }],
    })
    expect(await admin('limit', 'show', ...where, '--bucket', 'read')).toMatchObject({
      limit: 1000,
      lifts: [],
    })
  })

  test('users, who are disabled and reset', async () => {
    const user = await admin('user', 'create', ...TENANT_OF_DEMO(), '--email', 'grace@example.com')
    const listed = await admin('user', 'list', ...TENANT_OF_DEMO())
    expect(listed.data).toContainEqual(
      expect.objectContaining({ id: user.id, can_sign_in: true, seen_at: null }),
    )
    expect(await admin('user', 'disable', user.id)).toEqual({
      id: user.id,
      tenant_id: db.tenantId,
      can_sign_in: false,
    })
    expect(await admin('user', 'show', user.id)).toMatchObject({
      email: 'grace@example.com',
      can_sign_in: false,
    })
    const reset = await admin('user', 'reset', user.id)
    expect(reset).toMatchObject({ id: user.id, email: 'grace@example.com' })
    expect([reset.password, reset.totp_secret]).not.toEqual([user.password, user.totp_secret])
    const stored = await one('SELECT password_hash FROM control.members WHERE id = $1', user.id)
    expect(await verifyPassword(reset.password, String(stored?.password_hash))).toBe(true)
  })

  test.each([
    [['key', 'show', 'key_x'], 'no key key_x'],
    [['user', 'disable', 'mem_x'], 'there is no user mem_x'],
    [['user', 'reset', 'mem_x'], 'there is no user mem_x'],
    [['user', 'list', '--tenant', 'ten_x'], 'no tenant ten_x'],
    [['pin', 'list', '--tenant', 'ten_x'], 'no tenant ten_x'],
  ])('%j: a program is told what is not there', async (words, message) => {
    const { code, stdout, stderr } = await run(...words, '--json')
    expect([code, stdout]).toEqual([1, ''])
    expect(JSON.parse(stderr)).toEqual({
      error: { type: 'not_found', message: expect.stringContaining(message) },
    })
  })
})

test('people get lines instead of JSON, and lists as tables', async () => {
  const { stdout } = await runAdmin(env, 'tenant', 'show', db.tenantId)
  expect(stdout).toMatch(/^id +ten_/)
  expect(stdout).toMatch(/plan +enterprise/)
  const pins = await runAdmin(env, 'pin', 'list', '--tenant', db.tenantId)
  expect(pins.stdout).toMatch(
    /^ENVIRONMENT {2}VERSION {5}PINNED AT\nsandbox {6}\d{4}-\d\d-\d\d {2}\S+Z\nlive {9}\d{4}-\d\d-\d\d {2}\S+Z\n$/,
  )
})

test.each([
  [['tenant', 'create'], "required option '--name <name>' not specified"],
  [['tenant', 'destroy'], "unknown command 'destroy'"],
  [
    ['pin', 'set', '--tenant', 'ten_x', '--env', 'live', '--version', '2026-01-01'],
    'expected one of 2025-06-01',
  ],
])('%j: a program is told of a misuse in JSON', async (words, message) => {
  const { code, stdout, stderr } = await run(...words, '--json')
  expect([code, stdout]).toEqual([2, ''])
  expect(JSON.parse(stderr).error.message).toContain(message)
})

const TENANT = ['--tenant', 'TENANT']
const ENV = ['--env', 'sandbox']

const faults: readonly (readonly [number, readonly string[], RegExp])[] = [
  [2, [], /Usage: admin/],
  [2, ['tenant'], /Usage: admin tenant/],
  [2, ['tenant', 'destroy'], /unknown command 'destroy'/],
  [2, ['tenant', 'create'], /'--name <name>' not specified/],
  [2, ['tenant', 'create', '--name', ' '], /the name must have 1 to 200 characters/],
  [
    2,
    ['tenant', 'create', '--name', 'x', '--plan', 'gold'],
    /Allowed choices are trial, standard, enterprise/,
  ],
  [2, ['tenant', 'create', '--name', 'x', '--nmae', 'y'], /unknown option '--nmae'/],
  [1, ['tenant', 'show', 'ten_x'], /no tenant ten_x/],
  [2, ['key', 'create', ...TENANT], /'--env <environment>' not specified/],
  [2, ['key', 'create', ...TENANT, '--env', 'test'], /Allowed choices are sandbox, live/],
  [
    2,
    ['key', 'create', ...TENANT, ...ENV, '--kind', 'publishable', '--scope', 'read'],
    /publishable key has no scope/,
  ],
  [2, ['key', 'create', ...TENANT, ...ENV, '--allow-ip', '10.0.0.0/33', '127.1'], /10\.0\.0\.0\/33, 127\.1/],
  [1, ['key', 'create', '--tenant', 'ten_x', ...ENV], /no tenant ten_x/],
  [1, ['key', 'revoke', 'key_x'], /no key key_x/],
  [2, ['pin', 'set', ...TENANT, ...ENV, '--version', '2026-01-01'], /expected one of 2025-06-01/],
  [
    2,
    ['limit', 'lift', ...TENANT, ...ENV, '--bucket', 'nope', '--factor', '2', '--hours', '1'],
    /Allowed choices are read/,
  ],
  [
    2,
    ['limit', 'lift', ...TENANT, ...ENV, '--bucket', 'read', '--factor', 'two', '--hours', '1'],
    /Expected a number/,
  ],
  [2, ['clock', 'advance', '--seconds', '1.5'], /Expected a whole number/],
  [
    2,
    [
      'oauth-client',
      'create',
      '--name',
      'x',
      '--env',
      'live',
      '--redirect-uri',
      'http://a.example/',
      '--scope',
      'read',
    ],
    /must use https/,
  ],
  [
    2,
    [
      'oauth-client',
      'create',
      '--name',
      'x',
      ...ENV,
      '--redirect-uri',
      'https://a.example/#x',
      '--scope',
      'read',
    ],
    /must not have a fragment/,
  ],
  [
    2,
    [
      'oauth-client',
      'create',
      '--name',
      'x',
      ...ENV,
      '--redirect-uri',
      'https://a.example/',
      '--scope',
      'fly',
    ],
    /Allowed choices are/,
  ],
  [2, ['user', 'create', ...TENANT, '--email', 'nobody'], /email address is not valid/],
]

test.each(faults)('admin exits with %i for the words %j', async (code, words, want) => {
  const ending = await run(...words.map((word) => (word === 'TENANT' ? db.tenantId : word)))
  expect(ending).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(want) })
})

test.each([
  [
    1,
    { DATABASE_URL: 'postgres://127.0.0.1:1/x', SVC_PEPPER: 'x' },
    /no PostgreSQL answers at 127\.0\.0\.1:1/,
  ],
  [2, { DATABASE_URL: 'postgres://127.0.0.1:1/x' }, /SVC_PEPPER: is required/],
])('admin exits with %i when the database is not available: %j', async (code, settings, want) => {
  const ending = await runAdmin(settings, 'tenant', 'show', 'ten_x', '--json')
  expect(ending).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(want) })
})

test('rows that workers have set aside are listed, and tried again at once', async () => {
  const row = ['sandbox', 'pass_expiry', db.tenantId, 'pass_1', 'broken']
  await one(
    `INSERT INTO control.set_aside_work VALUES ($1, $2, $3, $4, $5, 3, now(), now(), now() + interval '1 hour')`,
    ...row,
  )
  const listed = await admin('set-aside', 'list', '--work', 'pass_expiry')
  expect(listed.set_aside).toMatchObject([
    { environment: 'sandbox', tenant_id: db.tenantId, subject_id: 'pass_1', reason: 'broken', tries: 3 },
  ])
  expect(await admin('set-aside', 'list', '--env', 'live')).toEqual({ set_aside: [] })
  expect(await admin('set-aside', 'retry', 'pass_1')).toEqual({ retried: 1 })
  expect(await one('SELECT retry_at <= now() AS due FROM control.set_aside_work')).toEqual({ due: true })
  const { code, stderr } = await run('set-aside', 'retry', 'pass_2')
  expect(code).not.toBe(0)
  expect(stderr).toContain('no set-aside row matches the filter')
  await one('DELETE FROM control.set_aside_work')
})

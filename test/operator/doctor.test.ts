/** `npm run doctor`, as people and scripts meet it. */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../runtime/money/chain/anvil.ts'
import { type BankStandIn, startBankStandIn } from '../../runtime/money/payouts/fake-bank.ts'
import { runDoctor } from '../../runtime/operator/command/doctor-run.ts'
import type { Finding } from '../../runtime/operator/doctor/finding.ts'
import { KEY, type Network, PAYER, startNetwork } from '../money/chain/network.ts'
import { createEmptyDatabase, openTestDatabase, type TestDatabase } from '../support/database.ts'
import { cleanEnvironment, endPrograms, startProgram, startService } from '../support/programs.ts'

afterEach(endPrograms)

/** Runs the command in this process, because most of the time of a process is its start. */
async function diagnose(env: Record<string, string>, ...words: string[]) {
  let stdout = ''
  let stderr = ''
  const code = await runDoctor(['--json', ...words], {
    env: cleanEnvironment(env),
    print: (text) => {
      stdout += text
    },
    say: (line) => {
      stderr += `${line}\n`
    },
  })
  const findings: Finding[] = stdout === '' ? [] : JSON.parse(stdout).findings
  return {
    code,
    stdout,
    stderr,
    of: (check: string) => findings.find((finding) => finding.check === check),
    findings,
  }
}

let database: TestDatabase
let env: Record<string, string>

beforeAll(async () => {
  database = await openTestDatabase()
  env = { DATABASE_URL: database.url, SVC_PEPPER: database.pepper }
})
afterAll(() => database.close())

test('doctor prints one line each of a healthy service, and asks for nothing', async () => {
  const { code, findings } = await diagnose(env)
  expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
  expect(code).toBe(0)
  expect(findings.map(({ check }) => check)).toEqual([
    'Node',
    'settings',
    'database',
    'connections',
    'wake-ups',
    'migrations',
    'pepper',
    'role sandbox',
    'role live',
    'clock',
    'service time',
    'addresses',
    'card keys',
    'card numbers',
    'sealed card numbers',
    'card directory',
    'payouts',
    'card network, sandbox',
    'card network, live',
    'set aside',
    'moves',
    'archive',
    'Redis',
    'Apple Wallet',
    'Google Wallet',
    'chain',
    'bank',
    'sanctions list',
    'TLS',
    'SANDBOX_PORT',
    'LIVE_PORT',
    'CONSOLE_PORT',
  ])
  const words = await startProgram(process.execPath, ['runtime/operator/command/doctor.ts'], env).ended
  expect(words.stdout.trimEnd().split('\n')).toHaveLength(findings.length)
  expect(words.stdout).toMatch(/^ok {4}database +PostgreSQL \d+/m)
  expect(words.stdout + words.stderr).not.toContain(new URL(database.url).password || 'no password')
})

test('doctor checks only what the roles need', async () => {
  const { findings } = await diagnose(env, '--role', 'worker')
  expect(findings.filter(({ check }) => check.endsWith('_PORT'))).toEqual([])
})

test('a sanctions list with a record that cannot be read, and one that is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sanctions-'))
  const fields = ',-0- '.repeat(9)
  writeFileSync(
    join(folder, 'sdn.csv'),
    `1,"VOLKOV, Dmitri","individual"${fields}\nx,y\n2,"QUILL, Nora","individual"${fields}\n`,
  )
  const { of } = await diagnose({ ...env, SVC_SANCTIONS_LIST: folder })
  expect(of('sanctions list')).toMatchObject({
    verdict: 'warn',
    words: expect.stringMatching(/^OFAC SDN with 2 entries; skipped unreadable records: 1/),
  })
  const missing = await diagnose({ ...env, SVC_SANCTIONS_LIST: join(folder, 'missing') })
  expect(missing.of('sanctions list')?.verdict).toBe('fail')
})

describe('Google Wallet', () => {
  const account = (private_key: string) => {
    const file = join(mkdtempSync(join(tmpdir(), 'svc-google-')), 'account.json')
    writeFileSync(file, JSON.stringify({ client_email: 'wallet@shop.example', private_key }))
    return { GOOGLE_WALLET_ISSUER: '3388', GOOGLE_WALLET_SERVICE_ACCOUNT: file }
  }
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const bases = { SANDBOX_BASE_URL: 'https://s.example', LIVE_BASE_URL: 'https://l.example' }

  test.each<[string, Record<string, string>, string, string]>([
    ['a service account', { ...account(privateKey), ...bases }, 'ok', 'issuer 3388, as wallet@shop.example'],
    ['one for a service that Google cannot reach', account(privateKey), 'warn', 'set SANDBOX_BASE_URL'],
    ['one without its key', { ...account('none'), ...bases }, 'fail', 'private_key cannot be read'],
    ['none in production', { NODE_ENV: 'production' }, 'warn', 'set GOOGLE_WALLET_ISSUER and'],
  ])('doctor judges the Google Wallet settings: %s', async (_, settings, verdict, words) => {
    const { of } = await diagnose({ ...env, ...settings })
    expect(of('Google Wallet')).toMatchObject({ verdict, words: expect.stringContaining(words) })
  })
})

describe('the bank', () => {
  let standIn: BankStandIn
  beforeAll(async () => {
    standIn = await startBankStandIn('bearer')
  })
  afterAll(() => standIn.close())

  const at = (SVC_BANK_URL: string, SVC_BANK_TOKEN = 'bearer') => ({ SVC_BANK_URL, SVC_BANK_TOKEN })

  test.each<[string, () => Record<string, string>, string, string]>([
    ['that knows us', () => at(standIn.url), 'ok', 'accepts the token'],
    ['that does not', () => at(standIn.url, 'another'), 'fail', 'rejects SVC_BANK_TOKEN with status 401'],
    ['that nobody is', () => at('http://127.0.0.1:9'), 'fail', 'cannot be reached'],
    ['that is none in production', () => ({ NODE_ENV: 'production' }), 'warn', 'set SVC_BANK_URL and'],
  ])('doctor asks the bank %s', async (_, settings, verdict, words) => {
    const { of, stdout } = await diagnose({ ...env, ...settings() })
    expect(of('bank')).toMatchObject({ verdict, words: expect.stringContaining(words) })
    expect(stdout).not.toContain('bearer')
  })

  test('doctor warns of a bank that answers something else', async () => {
    standIn.fault = () => 500
    expect((await diagnose({ ...env, ...at(standIn.url) })).of('bank')).toMatchObject({ verdict: 'warn' })
    standIn.fault = () => undefined
  })
})

describe('the chain of payouts in USDC', () => {
  let network: Network
  let real: Anvil
  beforeAll(async () => {
    ;[network, real] = await Promise.all([startNetwork(), startAnvil(8453)])
  })
  afterAll(() => Promise.all([network.stop(), real.stop()]))

  const OWN_KEY = `0x${'5a'.repeat(32)}`
  const TEST_CHAIN =
    'SVC_CHAIN_RPC_URL: live payouts use eip155:31337, a test chain on which tokens have no value'
  const PUBLIC_KEY = `SVC_PAYOUT_KEY: live payouts are sent from ${PAYER}, whose private key is publicly known`
  const ALLOWED = 'SVC_ALLOW_TEST_CHAIN: live payouts may use a test chain or a publicly known key'
  const REMEDY = '. To allow it, set SVC_ALLOW_TEST_CHAIN=1'
  const production = { NODE_ENV: 'production' }
  const allowed = { SVC_ALLOW_TEST_CHAIN: '1' }
  const base = { SVC_CHAIN_ID: '8453' }
  type Found = readonly [check: string, verdict: Finding['verdict'], words: string]

  test.each<[string, Record<string, string>, 'a test chain' | 'a chain of real money', readonly Found[]]>([
    ['a test chain', {}, 'a test chain', [['chain, live', 'warn', TEST_CHAIN]]],
    ['one in production', production, 'a test chain', [['chain, live', 'fail', TEST_CHAIN + REMEDY]]],
    [
      'one that production allows, with a public key',
      { ...production, ...allowed, SVC_PAYOUT_KEY: KEY },
      'a test chain',
      [
        ['chain, live', 'warn', TEST_CHAIN],
        ['payouts’ signer, live', 'warn', PUBLIC_KEY],
      ],
    ],
    [
      'one whose node is away',
      { SVC_CHAIN_ID: '31337', SVC_CHAIN_RPC_URL: 'http://127.0.0.1:1' },
      'a test chain',
      [['chain, live', 'warn', TEST_CHAIN]],
    ],
    [
      'a public key on a chain of real money',
      { ...base, SVC_PAYOUT_KEY: KEY },
      'a chain of real money',
      [['payouts’ signer, live', 'fail', PUBLIC_KEY + REMEDY]],
    ],
    [
      'what is allowed and not used',
      { ...base, ...allowed },
      'a chain of real money',
      [['chain, live', 'warn', ALLOWED]],
    ],
    ['a chain of real money', base, 'a chain of real money', []],
  ])('doctor judges the chain of payouts: %s', async (_, settings, chain, found) => {
    const rpcUrl = chain === 'a test chain' ? network.anvil.url : real.url
    const { findings } = await diagnose({
      ...env,
      SVC_CHAIN_RPC_URL: rpcUrl,
      SVC_USDC_ADDRESS: network.token,
      SVC_PAYOUT_KEY: OWN_KEY,
      ...settings,
    })
    const live = findings.filter(({ check }) => /^(chain|payouts’ signer), live$/.test(check))
    expect(live.map(({ check, verdict, words }) => [check, verdict, words])).toEqual(found)
  })
})

describe('what is wrong is named, with what to do', () => {
  const broken = async (statement: string, repair: string, check: string, more: object = {}) => {
    await database.control.query({ text: statement })
    try {
      const { code, of } = await diagnose({ ...env, ...more })
      return { code, ...of(check) }
    } finally {
      await database.control.query({ text: repair })
    }
  }

  test.each([
    [
      'a role that sees the other environment',
      (role: string) => [`GRANT USAGE ON SCHEMA live TO ${role}`, `REVOKE USAGE ON SCHEMA live FROM ${role}`],
      /can use the schema live/,
    ],
    [
      'an audit log that can be changed',
      (role: string) => [
        `GRANT UPDATE ON sandbox.audit_log TO ${role}`,
        `REVOKE UPDATE ON sandbox.audit_log FROM ${role}`,
      ],
      /can change the audit log/,
    ],
  ])('doctor names a fault of the database with a remedy: %s', async (_, statements, words) => {
    const { rows } = await database.control.query<{ name: string }>({
      text: `SELECT quote_ident(name) AS name FROM control.roles WHERE environment = 'sandbox'`,
    })
    const [statement = '', repair = ''] = statements(rows[0]!.name)
    expect(await broken(statement, repair, 'role sandbox')).toMatchObject({
      code: 1,
      verdict: 'fail',
      words: expect.stringMatching(words),
    })
  })

  const CARD = `INSERT INTO live.card_numbers VALUES ('ten_1', 'card_1', '', 1, '')`
  const FORGET_CARD = 'DELETE FROM live.card_numbers'

  test.each([
    [
      'sealed card numbers',
      'GRANT SELECT ON live.card_numbers TO svc_live',
      'REVOKE SELECT ON live.card_numbers FROM svc_live',
      { code: 1, verdict: 'fail', words: /^svc_live can read them/ },
    ],
    [
      'card keys',
      `INSERT INTO control.card_keys (version, sealed, has_own_secret) VALUES (1, '', true), (2, '', false)`,
      'DELETE FROM control.card_keys',
      { code: 0, verdict: 'warn', words: /pepper.*run `admin card-keys rotate`/ },
      { SVC_CARD_SECRET: 'of card numbers' },
    ],
    ['card directory', CARD, FORGET_CARD, { code: 0, verdict: 'warn', words: /^1 cards are not in it yet/ }],
    [
      'card directory',
      `${CARD}; UPDATE live.card_numbers SET listed = false`,
      FORGET_CARD,
      { code: 0, verdict: 'warn', words: /^1 cards have the number of an older card/ },
    ],
  ])('doctor finds fault with %s', async (check, breaking, repairs, expected, more?: object) => {
    const all = (texts: string) => `DO $$ BEGIN ${texts}; END $$`
    const { words, ...found } = await broken(all(breaking), all(repairs), check, more)
    expect({ ...found, words }).toMatchObject({ ...expected, words: expect.stringMatching(expected.words) })
  })

  test('a migration that was edited since', async () => {
    const found = await broken(
      `UPDATE control.migration_checksums SET checksum = 'x' || checksum WHERE name = '0001_control'`,
      `UPDATE control.migration_checksums SET checksum = substr(checksum, 2) WHERE name = '0001_control'`,
      'migrations',
    )
    expect(found).toMatchObject({
      code: 1,
      verdict: 'fail',
      words: expect.stringMatching(/0001_control.*was edited after/),
    })
  })

  test('doctor takes a missing migration for no fault: the next start applies it', async () => {
    const empty = await createEmptyDatabase()
    const { code, of } = await diagnose({ DATABASE_URL: empty.url, SVC_PEPPER: empty.pepper })
    await empty.drop()
    expect([code, of('migrations')?.verdict, of('role live')]).toEqual([0, 'warn', undefined])
    expect(of('migrations')?.words).toMatch(/^(\d+) of \1 are missing/)
  })

  test('doctor names a pepper that is not the database’s', async () => {
    const { code, of } = await diagnose({ ...env, SVC_PEPPER: 'another pepper than before' })
    expect(code).toBe(1)
    // Nothing has been stored under the pepper of a database that no service has used.
    expect(of('role sandbox')).toMatchObject({
      verdict: 'fail',
      words: expect.stringMatching(/cannot sign in/),
    })
  })

  test('doctor names what Google Wallet refuses', async () => {
    const found = await broken(
      `INSERT INTO live.google_refusals VALUES ('ten_1', 'pass_1', 400, 'Invalid value', now())`,
      'DELETE FROM live.google_refusals',
      'Google Wallet, live',
    )
    expect(found).toMatchObject({
      code: 0,
      verdict: 'warn',
      words: 'Google rejected 1 templates and passes, most recently pass_1: 400 Invalid value',
    })
  })

  test('rows that workers have set aside', async () => {
    const found = await broken(
      `INSERT INTO control.set_aside_work
       SELECT 'live', 'pass_expiry', 'ten_1', 'pass_' || n, 'broken ' || n, 1, now(), now() + n * interval '1 s', now()
         FROM generate_series(1, 2) AS n`,
      'DELETE FROM control.set_aside_work',
      'set aside, live',
    )
    expect(found).toMatchObject({
      code: 0,
      verdict: 'warn',
      words: expect.stringMatching(
        /^pass_expiry fails for 2 rows, last for pass_2: broken 2\. List them with/,
      ),
    })
  })

  test('a tenant that a killed move has closed', async () => {
    const text = (state: string, leftBy: string) =>
      `INSERT INTO control.tenant_moves (tenant_id, state, run, left_by, updated)
       VALUES ('ten_1', '${state}', gen_random_uuid(), ${leftBy}, '2026-06-01T12:00:00Z')`
    const end = 'DELETE FROM control.tenant_moves'
    expect(await broken(text('fenced', 'NULL'), end, 'moves')).toMatchObject({
      code: 0,
      verdict: 'warn',
      words: expect.stringMatching(
        /^ten_1 has been closed for writes since 2026-06-01T12:00:00Z\. .* --abort\.$/,
      ),
    })
    expect(await broken(text('arriving', 'gen_random_uuid()'), end, 'moves')).toMatchObject({
      verdict: 'warn',
      words: expect.stringMatching(/^ten_1 has had all its rows here since 2026-06-01T12:00:00Z, /),
    })
    expect(await broken(text('arriving', 'NULL'), end, 'moves')).toMatchObject({ verdict: 'ok' })
  })

  test('service time that was moved', async () => {
    const found = await broken(
      `UPDATE control.clock SET offset_ms = 86400000 WHERE environment = 'sandbox'`,
      'UPDATE control.clock SET offset_ms = 0',
      'service time',
    )
    expect(found).toMatchObject({ code: 0, verdict: 'warn', words: 'is offset: sandbox by 86400 s' })
  })

  test('addresses that a process of one role does not know', async () => {
    const empty = await createEmptyDatabase()
    const settings = {
      DATABASE_URL: empty.url,
      SVC_PEPPER: empty.pepper,
      LIVE_BASE_URL: 'https://api.example.com',
    }
    const { code, of } = await diagnose(settings, '--role', 'worker')
    await empty.drop()
    expect([code, of('addresses')?.verdict]).toEqual([1, 'fail'])
    expect(of('addresses')?.words).toBe(
      'missing: set SANDBOX_BASE_URL, CONSOLE_BASE_URL and start the service once',
    )
  })

  test('a way for notifications that leads elsewhere', async () => {
    const elsewhere = await createEmptyDatabase()
    const { code, of } = await diagnose({ ...env, DATABASE_LISTEN_URL: elsewhere.url })
    await elsewhere.drop()
    expect([code, of('wake-ups')?.verdict]).toEqual([1, 'fail'])
    expect(of('wake-ups')?.words).toMatch(/did not arrive through DATABASE_LISTEN_URL/)
    const { of: right } = await diagnose({ ...env, DATABASE_LISTEN_URL: env.DATABASE_URL ?? '' })
    expect(right('wake-ups')).toMatchObject({
      verdict: 'ok',
      words: expect.stringMatching(/^notifications arrive at/),
    })
  })

  test('a database that is away', async () => {
    const { code, of, stdout } = await diagnose({
      DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x',
      SVC_PEPPER: 'p',
    })
    expect([code, of('database')?.verdict]).toEqual([1, 'fail'])
    expect(of('database')?.words).toMatch(/no PostgreSQL answers at 127\.0\.0\.1:1/)
    expect(stdout).not.toContain('hunter2')
  })

  test('a Redis that is away', async () => {
    const { code, of, stdout } = await diagnose({ ...env, REDIS_URL: 'redis://u:hunter2@127.0.0.1:1' })
    expect([code, of('Redis')?.verdict]).toEqual([1, 'fail'])
    expect(stdout).not.toContain('hunter2')
  })

  test('a port that another program has', async () => {
    const squatter = createServer((socket) => void socket.end())
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve))
    const address = squatter.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const { code, of } = await diagnose({ ...env, LIVE_PORT: port })
    squatter.close()
    expect([code, of('LIVE_PORT')?.verdict]).toEqual([1, 'fail'])
    expect(of('LIVE_PORT')?.words).toMatch(/another program/)
  })

  test('a port that a running service has is none', async () => {
    const service = startService(env, ['--json', '--role', 'api'])
    const { port } = new URL(String((await service.ready()).sandbox_base_url))
    const { code, of } = await diagnose({ ...env, SANDBOX_PORT: port })
    expect([code, of('SANDBOX_PORT')?.words]).toEqual([0, `127.0.0.1:${port} is in use by a running service`])
  })

  test('doctor names every one of the wrong settings', async () => {
    const { code, findings } = await diagnose({
      SANDBOX_PORT: 'x',
      REDIS_URL: 'http://x',
      SVC_MAX_QUEUE: '0',
    })
    expect(code).toBe(2)
    expect(findings.map(({ words }) => words.split(':')[0]).toSorted()).toEqual([
      'REDIS_URL',
      'SANDBOX_PORT',
      'SVC_MAX_QUEUE',
    ])
  })

  test('a word that it does not know', async () => {
    const { code, stdout, stderr } = await diagnose(env, '--fix')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/--fix.*\n\nUsage/s)
  })
})

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-doctor-'))
  const [cert, key, other] = ['cert.pem', 'key.pem', 'other.pem'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  beforeAll(() => {
    const make = (into: string, certificate: string) =>
      execFileSync(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-days',
          '5',
          '-subj',
          '/CN=x',
          '-keyout',
          into,
          '-out',
          certificate,
        ],
        { stdio: 'ignore' },
      )
    make(other, cert)
    make(key, cert)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each([
    ['a certificate that ends soon', cert, key, 'warn', /renew/],
    ['the key of another', cert, other, 'fail', /is not the key/],
    ['no certificate', other, key, 'fail', /./],
  ])('doctor judges the TLS files: %s', async (_, certificate, privateKey, verdict, words) => {
    const { of } = await diagnose({ ...env, TLS_CERT: certificate, TLS_KEY: privateKey })
    expect(of('TLS')).toMatchObject({ verdict, words: expect.stringMatching(words) })
  })
})

describe('an embedded database', () => {
  test('doctor neither makes nor starts an embedded database', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-doctor-'))
    const none = await diagnose({ DATA_DIR: join(folder, 'none') })
    expect([none.code, none.of('database')?.words]).toEqual([
      0,
      expect.stringMatching(/the first start creates it/),
    ])
    writeFileSync(join(folder, 'x'), '')
    rmSync(folder, { recursive: true })
  })
})

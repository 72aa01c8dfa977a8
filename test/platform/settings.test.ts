import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { US_STATES } from '../../runtime/platform/countries.ts'
import { fileVariable } from '../../runtime/platform/secret-files.ts'
import {
  isSecret,
  SETTING_NAMES,
  SETTINGS,
  type SecretName,
  type SettingVariables,
} from '../../runtime/platform/setting-catalog.ts'
import { readSettings, SettingsError } from '../../runtime/platform/settings.ts'

function problemsOf(env: Record<string, string>, flags = {}): readonly string[] {
  try {
    readSettings(env, flags)
    return []
  } catch (error) {
    if (error instanceof SettingsError) return error.problems.map(({ variable }) => variable)
    throw error
  }
}

describe('settings', () => {
  test('every setting has a default', () => {
    expect(readSettings({})).toEqual({
      roles: new Set(['api', 'worker', 'console', 'reveal']),
      revealHost: '127.0.0.1',
      host: '127.0.0.1',
      sandboxPort: 4010,
      livePort: 4020,
      consolePort: 4000,
      networkPort: 4030,
      networkSimulator: false,
      isoDialect: 'ascii',
      baseUrls: {},
      citus: false,
      pay: {},
      chain: { confirmations: 12, maxFee: 500_000_000_000n },
      poolSize: 16,
      preparedStatements: true,
      dataDir: resolve('.data'),
      production: false,
      trustedProxies: 0,
      webhookAllow: [],
      eventDays: 30,
      scanDays: 400,
      licensedStates: US_STATES,
      passNfc: false,
      rates: { interchange: 150, networkFee: 10 },
      googleUrls: {},
      dnsServers: [],
      logLevel: 'info',
      verifyMs: 86_400_000,
      requestLog: 'failed',
      timeouts: {
        headersMs: 20_000,
        requestMs: 60_000,
        bodyMs: 10_000,
        answerMs: 35_000,
        drainMs: 25_000,
        leaveMs: 0,
        networkMs: 2000,
      },
      load: { requests: 2000, delayMs: 500, queue: 500, heap: 0.85 },
      demo: false,
      json: false,
    })
  })

  test('take what is given', () => {
    const settings = readSettings(
      {
        SANDBOX_PORT: '0',
        LIVE_PORT: '0',
        CONSOLE_PORT: '0',
        DATABASE_URL: 'postgres://u:p@db/x',
        SVC_PEPPER: 'secret',
        SVC_CLOCK: '2027-02-02T00:00:00Z',
        TRUSTED_PROXIES: '10.0.0.0/8, ::1',
        SVC_PREPARED_STATEMENTS: 'off',
        TLS_CERT: 'a.pem',
        TLS_KEY: 'b.pem',
        LIVE_BASE_URL: 'https://api.example.com/',
        APPLE_PUSH_KEY: 'a.p8',
        APPLE_PUSH_KEY_ID: 'ABC123DEFG',
        APPLE_PUSH_URL: 'http://127.0.0.1:1',
      },
      { roles: ['worker', 'api', 'api'], json: true },
    )
    expect(settings).toMatchObject({
      sandboxPort: 0,
      databaseUrl: 'postgres://u:p@db/x',
      pepper: 'secret',
      clockStart: Date.UTC(2027, 1, 2),
      trustedProxies: ['10.0.0.0/8', '::1'],
      preparedStatements: false,
      tls: { cert: 'a.pem', key: 'b.pem' },
      json: true,
      applePush: { url: 'http://127.0.0.1:1', key: { path: 'a.p8', id: 'ABC123DEFG' } },
      baseUrls: { live: 'https://api.example.com' },
    })
    expect([...settings.roles]).toEqual(['api', 'worker'])
  })

  test.each<[string, Record<string, string>, string[], string[]]>([
    ['without NETWORK_PORT', {}, [], ['api', 'worker', 'console', 'reveal']],
    ['with NETWORK_PORT', { NETWORK_PORT: '0' }, [], ['api', 'worker', 'console', 'network', 'reveal']],
    [
      'with NETWORK_ISO8583_PORT',
      { NETWORK_ISO8583_PORT: '0' },
      [],
      ['api', 'worker', 'console', 'network', 'reveal'],
    ],
    ['with a different role', { NETWORK_PORT: '0' }, ['worker'], ['worker']],
    ['with the role network', {}, ['network'], ['network']],
  ])('a process opens the network port only if it is told to: %s', (_, env, roles, want) => {
    expect([...readSettings(env, { roles }).roles]).toEqual(want)
  })

  test('all wrong settings are named at once', () => {
    const problems = problemsOf(
      {
        SANDBOX_PORT: '70000',
        LIVE_PORT: '4020x',
        DATABASE_URL: 'mysql://db',
        SVC_CLOCK: 'tomorrow',
        TRUSTED_PROXIES: '10.0.0.0/33',
        TLS_CERT: 'a.pem',
        DATABASE_POOL_SIZE: '0',
        LOG_LEVEL: 'loud',
        OTEL_TRACES_SAMPLER_ARG: '10%',
        TRACE_URL: 'https://tempo.example.com/trace',
        LIVE_BASE_URL: 'https://api.example.com/v1',
      },
      { roles: ['api', 'cook'] },
    )
    expect(problems.toSorted()).toEqual([
      '--role',
      'DATABASE_POOL_SIZE',
      'DATABASE_URL',
      'LIVE_BASE_URL',
      'LIVE_PORT',
      'LOG_LEVEL',
      'OTEL_TRACES_SAMPLER_ARG',
      'SANDBOX_PORT',
      'SVC_CLOCK',
      'SVC_PEPPER',
      'TLS_KEY',
      'TRACE_URL',
      'TRUSTED_PROXIES',
    ])
  })

  test.each([
    ['a clock in production', { NODE_ENV: 'production', SVC_CLOCK: '2027-02-02T00:00:00Z' }, ['SVC_CLOCK']],
    ['a short pepper in production', { NODE_ENV: 'production', SVC_PEPPER: 'short' }, ['SVC_PEPPER']],
    ['a database without pepper', { DATABASE_URL: 'postgres://db/x' }, ['SVC_PEPPER']],
    ['a way past a pooler without one', { DATABASE_LISTEN_URL: 'postgres://db/x' }, ['DATABASE_LISTEN_URL']],
    [
      'other migrations in production',
      { NODE_ENV: 'production', SVC_MIGRATIONS_DIR: 'x' },
      ['SVC_MIGRATIONS_DIR'],
    ],
    [
      'an issuer that is no number',
      { GOOGLE_WALLET_ISSUER: '33 88', GOOGLE_WALLET_SERVICE_ACCOUNT: 'a.json' },
      ['GOOGLE_WALLET_ISSUER'],
    ],
    [
      'an issuer without its service account',
      { GOOGLE_WALLET_ISSUER: '3388' },
      ['GOOGLE_WALLET_SERVICE_ACCOUNT'],
    ],
    [
      'an address of Google Wallet that is more than an origin',
      { GOOGLE_WALLET_URL: 'https://walletobjects.googleapis.com/walletobjects/v1' },
      ['GOOGLE_WALLET_URL'],
    ],
    [
      'addresses in production to which tokens would travel in the open',
      {
        NODE_ENV: 'production',
        GOOGLE_WALLET_URL: 'http://127.0.0.1:1',
        GOOGLE_TOKEN_URL: 'http://127.0.0.1:1/token',
        GOOGLE_CALLBACK_KEYS_URL: 'http://127.0.0.1:1/keys',
      },
      ['GOOGLE_WALLET_URL', 'GOOGLE_TOKEN_URL', 'GOOGLE_CALLBACK_KEYS_URL'],
    ],
    [
      'an address of Apple’s push service that is more than an origin',
      { APPLE_PUSH_URL: 'https://api.push.apple.com/3/device' },
      ['APPLE_PUSH_URL'],
    ],
    [
      'one in production to which pushes would travel in the open',
      { NODE_ENV: 'production', APPLE_PUSH_URL: 'http://127.0.0.1:1' },
      ['APPLE_PUSH_URL'],
    ],
    ['a key for pushes without its name', { APPLE_PUSH_KEY: 'a.p8' }, ['APPLE_PUSH_KEY_ID']],
    ['a name of a key for pushes without the key', { APPLE_PUSH_KEY_ID: 'ABC123DEFG' }, ['APPLE_PUSH_KEY']],
    [
      'a reveal process elsewhere without TLS in production',
      { NODE_ENV: 'production', REVEAL_URL: 'http://reveal.internal:4040' },
      ['REVEAL_URL'],
    ],
    [
      'a short secret of card numbers in production',
      { NODE_ENV: 'production', SVC_CARD_SECRET: 'short' },
      ['SVC_CARD_SECRET'],
    ],
    [
      'a network listener without a certificate in production',
      { NODE_ENV: 'production', NETWORK_PORT: '4030' },
      ['NETWORK_TLS_CERT'],
    ],
    [
      'one port twice',
      { LIVE_PORT: '4010' },
      [
        'SANDBOX_PORT, LIVE_PORT, CONSOLE_PORT, NETWORK_PORT, NETWORK_ISO8583_PORT, REVEAL_PORT, METRICS_PORT',
      ],
    ],
    ['a dialect that does not exist', { NETWORK_ISO8583_DIALECT: 'ebcdic' }, ['NETWORK_ISO8583_DIALECT']],
    ['an instant without zone', { SVC_CLOCK: '2027-02-02T00:00:00' }, ['SVC_CLOCK']],
    ['a day that is none', { SVC_CLOCK: '2027-02-31T25:00:00Z' }, ['SVC_CLOCK']],
  ])('settings are refused by name: %s', (_, env, want) => {
    expect(problemsOf(env)).toEqual(want)
  })

  test('problems of settings never repeat the password of a database', () => {
    expect(() => readSettings({ DATABASE_URL: 'db:hunter2@host' })).toThrow(SettingsError)
    expect(() => readSettings({ DATABASE_URL: 'db:hunter2@host' })).not.toThrow(/hunter2/)
  })
})

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const PEPPER = 'a3f1c0de5e7b4c2e9d1f0a8b7c6d5e4f'
  const DATABASE_URL = 'postgres://u:p@db/x'
  const write = (content: string | Buffer) => {
    const path = join(folder, crypto.randomUUID())
    writeFileSync(path, content)
    return path
  }

  test.each([
    ['as it is', PEPPER],
    ['with a newline at the end', `${PEPPER}\n`],
    ['with a Windows newline at the end', `${PEPPER}\r\n`],
  ])('a secret is read from a file: %s', (_, content) => {
    expect(readSettings({ DATABASE_URL, SVC_PEPPER_FILE: write(content) }).pepper).toBe(PEPPER)
  })

  /** Settings that secrets require. */
  const PAIRED: SettingVariables = {
    SVC_BANK_URL: 'https://bank.example.com',
    SVC_USDC_ADDRESS: SETTINGS.SVC_USDC_ADDRESS.example,
    APPLE_PASS_CERTIFICATE: 'a.pem',
    APPLE_PASS_KEY: 'b.pem',
    APPLE_PASS_WWDR: 'c.pem',
  }

  test.each<[leftOut: SecretName, others: SettingVariables]>([
    ['SVC_PAYOUT_SIGNER_TOKEN', {}],
    ['SVC_PAYOUT_KEY', { SVC_PAYOUT_SIGNER_URL: 'https://signer.example.com' }],
  ])('every secret can be in a file, here without %s', (leftOut, others) => {
    const secrets = SETTING_NAMES.filter(isSecret).filter((name) => name !== leftOut)
    const inFiles = secrets.map((name) => [fileVariable(name), write(`${SETTINGS[name].example}\n`)])
    const inVariables = secrets.map((name) => [name, SETTINGS[name].example])
    const read = (given: readonly (readonly string[])[]) =>
      readSettings({ ...PAIRED, ...others, ...Object.fromEntries(given) })
    expect(read(inFiles)).toEqual(read(inVariables))
  })

  test.each([
    ['an empty file', write(''), /^SVC_PEPPER_FILE: \S+ is empty: write the secret to it$/],
    ['a newline only', write('\n'), /is empty/],
    ['a missing file', join(folder, 'nowhere'), /^SVC_PEPPER_FILE: \S+nowhere cannot be read: ENOENT/],
    ['a folder', folder, /cannot be read: EISDIR/],
    ['two lines', write(`${PEPPER}\n${PEPPER}\n`), /has several lines: expected one$/],
    ['too many bytes', write('x'.repeat(65_537)), /has more than 65536 bytes: expected one secret$/],
    ['bytes that are no text', write(Buffer.of(0xff, 0xfe, 0x41)), /is not a text file in UTF-8$/],
  ])('a file is refused, once and without its content: %s', (_, path, problem) => {
    const reading = () => readSettings({ DATABASE_URL, SVC_PEPPER_FILE: path })
    expect(reading).toThrow(problem)
    expect(reading).not.toThrow(PEPPER)
  })

  test('a variable and its file are not set together', () => {
    expect(() => readSettings({ SVC_PEPPER: PEPPER, SVC_PEPPER_FILE: write(PEPPER) })).toThrow(
      /^SVC_PEPPER_FILE: is set, and so is SVC_PEPPER: set only one of them$/,
    )
  })

  test('a value that is refused is named with its file', () => {
    const path = write('short')
    const env = { NODE_ENV: 'production', DATABASE_URL, SVC_PEPPER_FILE: path }
    const problem = `SVC_PEPPER_FILE: the value in ${path} has fewer than 16 characters`
    expect(() => readSettings(env)).toThrow(problem)
  })
})

test.each([
  ['SVC_PEPER', 'is not a setting: do you mean SVC_PEPPER?'],
  ['SVC_PEPPER_FIEL', 'is not a setting: do you mean SVC_PEPPER_FILE?'],
  ['SVC_CHAIN_ID_FILE', 'is not a setting: only a secret can be in a file, so set SVC_CHAIN_ID'],
  ['SVC_PORT', 'is not a setting: unset it, or see docs/settings.md'],
])('a variable that is not a setting is refused: %s', (name, problem) => {
  expect(() => readSettings({ [name]: 'x' })).toThrow(`${name}: ${problem}`)
  expect(() => readSettings({ [name]: '' })).not.toThrow()
})

test('the variables of the svc command are known, because a developer may have set them', () => {
  const texts = globSync('runtime/cli/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const names = new Set(texts.flatMap((text) => text.match(/\bSVC_[A-Z_]+\b/g) ?? []))
  expect(() => readSettings(Object.fromEntries([...names].map((name) => [name, 'x'])))).not.toThrow(
    /is not a setting/,
  )
})

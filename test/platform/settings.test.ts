import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { US_STATES } from '../../runtime/platform/countries.ts'
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
      'SANDBOX_PORT',
      'SVC_CLOCK',
      'SVC_PEPPER',
      'TLS_KEY',
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

import { resolve } from 'node:path'
import { type ChainSettings, readChain } from './chain-settings.ts'
import { US_STATES } from './countries.ts'
import {
  instant,
  issuer,
  listenUrl,
  migrations,
  networks,
  oneOf,
  onOff,
  origin,
  pepper,
  proxies,
  type SettingProblem,
  type SettingReader,
  secureUrl,
  servers,
  url,
  usStates,
  whole,
} from './setting-readers.ts'
import {
  type ApplePassSettings,
  type ApplePushSettings,
  type PaySettings,
  readApplePass,
  readApplePush,
  readPay,
} from './wallet-settings.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const ROLES = ['api', 'worker', 'console'] as const
export type ProcessRole = (typeof ROLES)[number]

/** Everything that a process is told from outside; read once, at start. */
export interface Settings {
  /** What this process serves. */
  readonly roles: ReadonlySet<ProcessRole>
  /** Address to listen on. */
  readonly host: string
  /** 0 takes any free port. */
  readonly sandboxPort: number
  readonly livePort: number
  readonly consolePort: number
  /** Origins under which callers reach the listeners, where a proxy stands before them; no slash at the end. */
  readonly baseUrls: { readonly sandbox?: string; readonly live?: string; readonly console?: string }
  /** A PostgreSQL of the operator's; absent: the embedded one. */
  readonly databaseUrl?: string
  /** The same past a pooler in transaction mode: one connection of each process listens there, and migrations run there. */
  readonly databaseListenUrl?: string
  /** Migrations distribute the tables of tenants; needs the extension Citus. */
  readonly citus?: boolean
  /** A folder of migrations other than this program's, for tests of upgrades. */
  readonly migrationsDir?: string
  /** Connections of each pool. */
  readonly poolSize: number
  /** Off behind a pooler that does not keep named statements. */
  readonly preparedStatements: boolean
  /** Absolute path. */
  readonly dataDir: string
  /** Key of every digest and seal; absent only with the embedded database, which keeps one in the data directory. */
  readonly pepper?: string
  /** Where the service's clock starts, milliseconds since the epoch. */
  readonly clockStart?: number
  readonly production: boolean
  /** Whose X-Forwarded-For counts: a number of hops, or addresses and networks. */
  readonly trustedProxies: number | readonly string[]
  /** Paths of PEM files; both or none. */
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly redisUrl?: string
  /** Networks into which webhooks of the sandbox are sent although they are private, for tests. */
  readonly webhookAllow: readonly string[]
  /** How long live events and attempts to deliver them are kept. */
  readonly eventDays: number
  /** How long live scans are kept. */
  readonly scanDays: number
  /** Absolute path of a sanctions list: a folder, or its `sdn.csv`; absent: invented names, for tests. */
  readonly sanctionsList?: string
  /** The bank that pays dollars out: its interface's address, without a slash at the end, and the bearer; absent: a stand-in, for development. */
  readonly bank?: { readonly url: string; readonly token: string }
  /** States of the United States in which cardholders may live, in live. */
  readonly licensedStates: ReadonlySet<string>
  /** What the network shares and takes of clearings, in basis points. */
  readonly rates: { readonly interchange: number; readonly networkFee: number }
  /** Servers that tenants' names are resolved with, `address` or `address:port`; empty: the system's. */
  readonly dnsServers: readonly string[]
  /** Issuer and path of the service account's JSON file; absent: a key of our own, for development. */
  readonly googleWallet?: { readonly issuerId: string; readonly serviceAccount: string }
  /** Paths of PEM files, and what the certificate shall be for; absent: a chain of our own, for development. */
  readonly applePass?: ApplePassSettings
  /** Other addresses than Google's own: origin of Google Wallet's API, of its tokens, of the root keys of its callbacks. */
  readonly googleUrls: { readonly wallet?: string; readonly token?: string; readonly keys?: string }
  /** How devices are told of changes; absent: as Apple does it, or for development a server of our own. */
  readonly applePush?: ApplePushSettings
  /** Whom cards are encrypted to in phones' wallets; what is absent is of our own, for development. */
  readonly pay: PaySettings
  /** Which chain payouts are made on, and who signs them. */
  readonly chain: ChainSettings
  readonly logLevel: LogLevel
  /** In milliseconds: for the headers of a request, for all of it, for its answer, and for what is under way at a stop. */
  readonly timeouts: Timeouts
  /** From where on new requests are turned away. */
  readonly load: LoadLimits
  /** Which answers get a line of their own in the log. */
  readonly requestLog: RequestLogSetting
  /** Make the demo tenant with an operator's database too. */
  readonly demo: boolean
  /** One line of JSON on stdout instead of words. */
  readonly json: boolean
}

export interface Timeouts {
  readonly headersMs: number
  readonly requestMs: number
  /** From when a request's body is wanted until it is there; meanwhile the request holds one of its tenant's slots. */
  readonly bodyMs: number
  readonly answerMs: number
  readonly drainMs: number
  /** How long the ports stay open after a signal while `/readyz` already says no. */
  readonly leaveMs: number
}

export interface LoadLimits {
  /** Requests under way in each environment. */
  readonly requests: number
  /** How late the event loop may be, in milliseconds. */
  readonly delayMs: number
  /** Transactions that wait for a connection of one pool; beyond them the tenants are turned away that have most of them. */
  readonly queue: number
  /** Part of the heap that V8 allows, between 0 and 1. */
  readonly heap: number
}

export const REQUEST_LOGS = ['all', 'failed', 'off'] as const
export type RequestLogSetting = (typeof REQUEST_LOGS)[number]

/** What the command line adds to the environment. */
export interface Flags {
  readonly roles?: readonly string[]
  readonly demo?: boolean
  readonly json?: boolean
}

/** Settings that cannot be used: every one of them, not the first. */
export class SettingsError extends Error {
  override name = 'SettingsError'
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(({ variable, problem }) => `${variable}: ${problem}`).join('\n'))
    this.problems = problems
  }
}

type SettingVariables = Readonly<Record<string, string | undefined>>

function roles(names: readonly string[]): ReadonlySet<ProcessRole> {
  const bad = names.filter((name) => !ROLES.some((role) => role === name))
  if (bad.length > 0) throw new Error(`no such role: ${bad.join(', ')}; roles are ${ROLES.join(', ')}`)
  return new Set(names.length === 0 ? ROLES : ROLES.filter((role) => names.includes(role)))
}

/** The members that have a value. */
function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
/** Collects what is wrong while it reads. */
function reader(env: SettingVariables) {
  const problems: SettingProblem[] = []
  const attempt = <T>(variable: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      problems.push({ variable, problem: error instanceof Error ? error.message : String(error) })
      return undefined
    }
  }
  const read = <T>(variable: string, parse: SettingReader<T>): T | undefined =>
    attempt(variable, () => parse(env[variable] === '' ? undefined : env[variable]))
  const pairOf = (one: string, other: string): readonly [string, string] | undefined => {
    const [first, second] = [env[one], env[other]]
    if (first && second) return [first, second]
    if (first || second) {
      problems.push({ variable: first ? other : one, problem: `is missing; ${one} and ${other} go together` })
    }
    return undefined
  }
  return { problems, attempt, read, pairOf }
}

type Read = <T>(variable: string, parse: SettingReader<T>) => T | undefined

const HOUR_MS = 3_600_000

function readTimeouts(read: Read): Timeouts {
  return {
    headersMs: read('SVC_HEADERS_TIMEOUT_MS', whole(20_000, 10, HOUR_MS)) ?? 0,
    requestMs: read('SVC_REQUEST_TIMEOUT_MS', whole(60_000, 10, HOUR_MS)) ?? 0,
    bodyMs: read('SVC_BODY_TIMEOUT_MS', whole(10_000, 10, HOUR_MS)) ?? 0,
    answerMs: read('SVC_ANSWER_TIMEOUT_MS', whole(35_000, 10, HOUR_MS)) ?? 0,
    drainMs: read('SVC_DRAIN_TIMEOUT_MS', whole(25_000, 0, HOUR_MS)) ?? 0,
    leaveMs: read('SVC_LEAVE_MS', whole(0, 0, HOUR_MS)) ?? 0,
  }
}

function readLoad(read: Read): LoadLimits {
  return {
    requests: read('SVC_MAX_REQUESTS', whole(2000, 1, 1_000_000)) ?? 0,
    delayMs: read('SVC_MAX_LOOP_DELAY_MS', whole(500, 10, 60_000)) ?? 0,
    queue: read('SVC_MAX_QUEUE', whole(500, 1, 1_000_000)) ?? 0,
    heap: (read('SVC_MAX_HEAP_PERCENT', whole(85, 10, 100)) ?? 0) / 100,
  }
}

/**
 * Reads the settings from environment variables and the command line's flags.
 * Throws `SettingsError` with every variable that is wrong.
 *
 */
export function readSettings(env: SettingVariables, flags: Flags = {}): Settings {
  const { problems, attempt, read, pairOf } = reader(env)
  const production = env.NODE_ENV === 'production'
  const databaseUrl = read('DATABASE_URL', url(['postgres:', 'postgresql:']))
  const databaseListenUrl = read('DATABASE_LISTEN_URL', listenUrl(databaseUrl))
  const secret = read('SVC_PEPPER', pepper(databaseUrl ?? (env.DATABASE_URL || undefined), production))
  const clockStart = read('SVC_CLOCK', instant(production))
  const redisUrl = read('REDIS_URL', url(['redis:', 'rediss:']))
  const tls = pairOf('TLS_CERT', 'TLS_KEY')
  read('SVC_BANK_URL', secureUrl(production))
  const bank = pairOf('SVC_BANK_URL', 'SVC_BANK_TOKEN')
  read('GOOGLE_WALLET_ISSUER', issuer)
  const google = pairOf('GOOGLE_WALLET_ISSUER', 'GOOGLE_WALLET_SERVICE_ACCOUNT')
  const applePass = readApplePass(env, problems)
  const applePush = readApplePush(env, production, problems)
  const settings = {
    roles: attempt('--role', () => roles(flags.roles ?? [])) ?? new Set(ROLES),
    host: env.HOST || (production ? '0.0.0.0' : '127.0.0.1'),
    sandboxPort: read('SANDBOX_PORT', whole(4010, 0, 65_535)) ?? 0,
    livePort: read('LIVE_PORT', whole(4020, 0, 65_535)) ?? 0,
    consolePort: read('CONSOLE_PORT', whole(4000, 0, 65_535)) ?? 0,
    baseUrls: present({
      sandbox: read('SANDBOX_BASE_URL', origin),
      live: read('LIVE_BASE_URL', origin),
      console: read('CONSOLE_BASE_URL', origin),
    }),
    citus: read('SVC_CITUS', onOff(false)) ?? false,
    poolSize: read('DATABASE_POOL_SIZE', whole(16, 1, 1000)) ?? 1,
    preparedStatements: read('SVC_PREPARED_STATEMENTS', onOff(true)) ?? true,
    dataDir: resolve(env.DATA_DIR || '.data'),
    production,
    trustedProxies: read('TRUSTED_PROXIES', proxies) ?? 0,
    webhookAllow: read('SVC_WEBHOOK_ALLOW', networks(production)) ?? [],
    dnsServers: read('SVC_DNS_SERVERS', servers) ?? [],
    eventDays: read('SVC_EVENT_DAYS', whole(30, 1, 3650)) ?? 30,
    scanDays: read('SVC_SCAN_DAYS', whole(400, 1, 3650)) ?? 400,
    licensedStates: read('SVC_LICENSED_STATES', usStates) ?? US_STATES,
    rates: {
      interchange: read('SVC_INTERCHANGE_BP', whole(150, 0, 10_000)) ?? 150,
      networkFee: read('SVC_NETWORK_FEE_BP', whole(10, 0, 10_000)) ?? 10,
    },
    googleUrls: present({
      wallet: read('GOOGLE_WALLET_URL', (text) => origin(secureUrl(production)(text))),
      token: read('GOOGLE_TOKEN_URL', secureUrl(production)),
      keys: read('GOOGLE_CALLBACK_KEYS_URL', secureUrl(production)),
    }),
    pay: readPay(env),
    chain: readChain(env, production, problems),
    logLevel: read('LOG_LEVEL', oneOf(LOG_LEVELS, 'info')) ?? 'info',
    requestLog: read('SVC_REQUEST_LOG', oneOf(REQUEST_LOGS, 'failed')) ?? 'failed',
    timeouts: readTimeouts(read),
    load: readLoad(read),
    demo: flags.demo ?? false,
    json: flags.json ?? false,
    ...present({
      databaseUrl,
      databaseListenUrl,
      pepper: secret,
      clockStart,
      redisUrl,
      applePass,
      applePush,
    }),
    ...present({ sanctionsList: env.SVC_SANCTIONS_LIST ? resolve(env.SVC_SANCTIONS_LIST) : undefined }),
    ...present({ migrationsDir: read('SVC_MIGRATIONS_DIR', migrations(production)) }),
    ...present({
      tls: tls && { cert: tls[0], key: tls[1] },
      bank: bank && { url: bank[0].replace(/\/+$/, ''), token: bank[1] },
      googleWallet: google && { issuerId: google[0], serviceAccount: google[1] },
    }),
  }
  checkPorts(settings, problems)
  if (problems.length > 0) throw new SettingsError(problems)
  return settings
}

function checkPorts(
  settings: Pick<Settings, 'sandboxPort' | 'livePort' | 'consolePort'>,
  problems: SettingProblem[],
): void {
  const ports = [settings.sandboxPort, settings.livePort, settings.consolePort].filter((port) => port !== 0)
  if (new Set(ports).size === ports.length) return
  problems.push({
    variable: 'SANDBOX_PORT, LIVE_PORT, CONSOLE_PORT',
    problem: `must differ, got ${ports.join(', ')}`,
  })
}

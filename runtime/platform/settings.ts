import { resolve } from 'node:path'
import type { TracingSettings } from '../tracing/otlp.ts'
import { type CardRoomSettings, readCardRoom } from './card-room-settings.ts'
import { type ChainSettings, readChain } from './chain-settings.ts'
import { US_STATES } from './countries.ts'
import { type InterchangeRow, interchangeTable } from './interchange-table.ts'
import { type MonitoringSettings, readMonitoring } from './monitoring-settings.ts'
import { nameFiles, withSecretFiles } from './secret-files.ts'
import type { SettingName, SettingVariables } from './setting-catalog.ts'
import {
  instant,
  issuer,
  listenUrl,
  migrations,
  networks,
  notInProduction,
  oneOf,
  onOff,
  origin,
  pepper,
  proxies,
  type Read,
  type SettingProblem,
  secureUrl,
  servers,
  url,
  usStates,
  whole,
} from './setting-readers.ts'
import { readTracing } from './tracing-settings.ts'
import { findUnknown } from './unknown-variables.ts'
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

/** Port of the network listener, if NETWORK_PORT is not set. */
export const NETWORK_PORT = 4030

export const ROLES = ['api', 'worker', 'console', 'network', 'reveal'] as const
export type ProcessRole = (typeof ROLES)[number]

/** Dialects of ISO 8583 that `cards/iso8583` has. */
export const ISO_DIALECTS = ['ascii', 'bcd'] as const
export type IsoDialectName = (typeof ISO_DIALECTS)[number]

/** Settings of a process, read once at the start. `setting-catalog.ts` describes the variables. */
export interface Settings extends CardRoomSettings, MonitoringSettings {
  /** Roles that this process runs. */
  readonly roles: ReadonlySet<ProcessRole>
  readonly host: string
  /** 0 selects any free port. */
  readonly sandboxPort: number
  readonly livePort: number
  readonly consolePort: number
  /** Port for card processors. Used only with the role `network`. */
  readonly networkPort?: number
  /** Port for ISO 8583 messages. Used only with the role `network`. */
  readonly isoPort?: number
  readonly isoDialect: IsoDialectName
  /** Public origins of the listeners, without a trailing slash. */
  readonly baseUrls: { readonly sandbox?: string; readonly live?: string; readonly console?: string }
  /** Absent for the embedded PostgreSQL. */
  readonly databaseUrl?: string
  /** Direct connection to the same database, without a pooler, for LISTEN and migrations. */
  readonly databaseListenUrl?: string
  /** Whether migrations distribute tenant tables, which requires the Citus extension. */
  readonly citus?: boolean
  /** Folder of migrations to use instead of those of this program, for upgrade tests. */
  readonly migrationsDir?: string
  /** Maximum number of connections in each pool. */
  readonly poolSize: number
  /** False behind a pooler that does not support prepared statements. */
  readonly preparedStatements: boolean
  /** Absolute path. */
  readonly dataDir: string
  /** Absolute path of the folder for backups of the embedded PostgreSQL. */
  readonly backupDir?: string
  /**
   * Key of all digests and encrypted values. Absent only with the embedded database, which keeps one in the data
   * directory.
   */
  readonly pepper?: string
  /** Start time of the service clock, in milliseconds since the epoch. */
  readonly clockStart?: number
  readonly production: boolean
  /** Trusted proxies for X-Forwarded-For: their number, or addresses and networks. */
  readonly trustedProxies: number | readonly string[]
  /** Paths of PEM files. */
  readonly tls?: TlsFiles
  /** Certificate of the network listener. Absent for a development certificate. */
  readonly networkTls?: TlsFiles
  readonly redisUrl?: string
  /** Private networks that sandbox webhooks may reach, for tests. */
  readonly webhookAllow: readonly string[]
  /** Retention of live events and their delivery attempts, in days. */
  readonly eventDays: number
  /** Retention of live scans, in days. */
  readonly scanDays: number
  /** Absolute path of a sanctions list: a folder, or its `sdn.csv`. Absent for a list of invented names. */
  readonly sanctionsList?: string
  /** Bank for dollar payouts: URL without a trailing slash, and bearer token. Absent for a fake bank in development. */
  readonly bank?: { readonly url: string; readonly token: string }
  /** US states in which live cardholders may live. */
  readonly licensedStates: ReadonlySet<string>
  readonly passNfc: boolean
  /** Interchange and network fee of clearings, in basis points. */
  readonly rates: {
    readonly interchange: number
    readonly networkFee: number
    readonly table?: readonly InterchangeRow[]
  }
  /**
   * DNS servers for webhook host names, as `address` or `address:port`. If empty, the system's DNS servers are used.
   */
  readonly dnsServers: readonly string[]
  /** Issuer ID, and path of the service account's JSON file. Absent for a development key. */
  readonly googleWallet?: { readonly issuerId: string; readonly serviceAccount: string }
  /** Absent for a development certificate chain. */
  readonly applePass?: ApplePassSettings
  /** URLs to use instead of Google's: origin of the Wallet API, token endpoint, keys for callbacks. */
  readonly googleUrls: { readonly wallet?: string; readonly token?: string; readonly keys?: string }
  /** Absent: push notifications go to APNs with the pass certificate, or to a fake in development. */
  readonly applePush?: ApplePushSettings
  /** Keys for which cards are encrypted in phone wallets. Development keys replace absent members. */
  readonly pay: PaySettings
  /** Whether live accepts the messages of the network simulator. Never in production. */
  readonly networkSimulator: boolean
  /** The chain of USDC payouts, and their signer. */
  readonly chain: ChainSettings
  readonly logLevel: LogLevel
  readonly timeouts: Timeouts
  /** Limits above which new requests get 503. */
  readonly load: LoadLimits
  /** Requests to write to the process log. */
  readonly requestLog: RequestLogSetting
  /** Absent if traces are not exported. */
  readonly tracing?: TracingSettings
  /** URL of a trace, with `{trace_id}`. */
  readonly traceUrl?: string
  /** Whether to create the demo tenant in an external database too. */
  readonly demo: boolean
  /** Whether to print one line of JSON instead of text. */
  readonly json: boolean
}

/** Paths of PEM files, and the variables that name them. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  readonly variables: readonly [cert: SettingName, key: SettingName]
}

/** Time limits in milliseconds. */
export interface Timeouts {
  readonly headersMs: number
  readonly requestMs: number
  /** Time limit for reading a body, during which the request occupies a slot of its tenant. */
  readonly bodyMs: number
  readonly answerMs: number
  readonly drainMs: number
  /** Time between a stop signal, from which `/readyz` fails, and the closing of the ports. */
  readonly leaveMs: number
  /** Time in which a message of a card network is answered. */
  readonly networkMs: number
}

export interface LoadLimits {
  /** Maximum number of requests in progress in each environment. */
  readonly requests: number
  /** Event loop delay, in milliseconds. */
  readonly delayMs: number
  /**
   * Maximum number of transactions that wait for a connection of a pool. Above it, the tenants with the most of them
   * get 503.
   */
  readonly queue: number
  /** Heap usage as a fraction of the V8 limit, between 0 and 1. */
  readonly heap: number
}

export const REQUEST_LOGS = ['all', 'failed', 'off'] as const
export type RequestLogSetting = (typeof REQUEST_LOGS)[number]

/** Command-line options. */
export interface Flags {
  readonly roles?: readonly string[]
  readonly demo?: boolean
  readonly json?: boolean
}

/** Lists all invalid settings. */
export class SettingsError extends Error {
  override name = 'SettingsError'
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(({ variable, problem }) => `${variable}: ${problem}`).join('\n'))
    this.problems = problems
  }
}

/**
 * Without `--role`, a process has all roles. It has the role `network` only if one of its ports is set, because several
 * processes on a machine must not claim one port.
 */
function roles(
  names: readonly string[],
  { NETWORK_PORT, NETWORK_ISO8583_PORT }: SettingVariables,
): ReadonlySet<ProcessRole> {
  const bad = names.filter((name) => !ROLES.some((role) => role === name))
  if (bad.length > 0) throw new Error(`${bad.join(', ')} is not a role: expected ${ROLES.join(', ')}`)
  const isAsked = (role: ProcessRole) =>
    names.length === 0
      ? role !== 'network' || Boolean(NETWORK_PORT || NETWORK_ISO8583_PORT)
      : names.includes(role)
  return new Set(ROLES.filter(isAsked))
}

/** Removes undefined members. */
function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** Creates functions that read variables and collect problems. */
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
  const read: Read = (variable, parse) =>
    attempt(variable, () => parse(env[variable] === '' ? undefined : env[variable]))
  const pairOf = (one: SettingName, other: SettingName): readonly [string, string] | undefined => {
    const [first, second] = [env[one], env[other]]
    if (first && second) return [first, second]
    if (first || second) {
      problems.push({
        variable: first ? other : one,
        problem: `is missing: set both ${one} and ${other}, or neither`,
      })
    }
    return undefined
  }
  return { problems, attempt, read, pairOf }
}

const HOUR_MS = 3_600_000

function readTimeouts(read: Read): Timeouts {
  return {
    headersMs: read('SVC_HEADERS_TIMEOUT_MS', whole(20_000, 10, HOUR_MS)) ?? 0,
    requestMs: read('SVC_REQUEST_TIMEOUT_MS', whole(60_000, 10, HOUR_MS)) ?? 0,
    bodyMs: read('SVC_BODY_TIMEOUT_MS', whole(10_000, 10, HOUR_MS)) ?? 0,
    answerMs: read('SVC_ANSWER_TIMEOUT_MS', whole(35_000, 10, HOUR_MS)) ?? 0,
    drainMs: read('SVC_DRAIN_TIMEOUT_MS', whole(25_000, 0, HOUR_MS)) ?? 0,
    leaveMs: read('SVC_LEAVE_MS', whole(0, 0, HOUR_MS)) ?? 0,
    networkMs: read('SVC_NETWORK_DEADLINE_MS', whole(2000, 100, 60_000)) ?? 0,
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
 * Reads the settings from environment variables and command-line options.
 *
 * @throws SettingsError that lists every invalid variable.
 */
export function readSettings(given: SettingVariables, flags: Flags = {}): Settings {
  const secrets = withSecretFiles(given)
  const env = secrets.variables
  const { problems, attempt, read, pairOf } = reader(env)
  const production = env.NODE_ENV === 'production'
  const databaseUrl = read('DATABASE_URL', url(['postgres:', 'postgresql:']))
  const databaseListenUrl = read('DATABASE_LISTEN_URL', listenUrl(databaseUrl))
  const secret = read('SVC_PEPPER', pepper(databaseUrl ?? (env.DATABASE_URL || undefined), production))
  const clockStart = read('SVC_CLOCK', instant(production))
  const redisUrl = read('REDIS_URL', url(['redis:', 'rediss:']))
  const filesOf = (...variables: TlsFiles['variables']): TlsFiles | undefined => {
    const pair = pairOf(...variables)
    return pair && { cert: pair[0], key: pair[1], variables }
  }
  const tls = filesOf('TLS_CERT', 'TLS_KEY')
  read('SVC_BANK_URL', secureUrl(production))
  const bank = pairOf('SVC_BANK_URL', 'SVC_BANK_TOKEN')
  read('GOOGLE_WALLET_ISSUER', issuer)
  const google = pairOf('GOOGLE_WALLET_ISSUER', 'GOOGLE_WALLET_SERVICE_ACCOUNT')
  const applePass = readApplePass(env, problems)
  const applePush = readApplePush(env, production, problems)
  // A process that only takes ISO 8583 messages needs no port for the others.
  const takesOnlyIso = Boolean(env.NETWORK_ISO8583_PORT) && !flags.roles?.includes('network')
  const networkPort = takesOnlyIso ? undefined : NETWORK_PORT
  const settings = {
    roles: attempt('--role', () => roles(flags.roles ?? [], env)) ?? new Set(ROLES),
    host: env.HOST || (production ? '0.0.0.0' : '127.0.0.1'),
    sandboxPort: read('SANDBOX_PORT', whole(4010, 0, 65_535)) ?? 0,
    livePort: read('LIVE_PORT', whole(4020, 0, 65_535)) ?? 0,
    consolePort: read('CONSOLE_PORT', whole(4000, 0, 65_535)) ?? 0,
    ...present({ networkPort: read('NETWORK_PORT', whole(networkPort, 0, 65_535)) }),
    isoDialect: read('NETWORK_ISO8583_DIALECT', oneOf(ISO_DIALECTS, 'ascii')) ?? 'ascii',
    ...present({ isoPort: read('NETWORK_ISO8583_PORT', whole(undefined, 0, 65_535)) }),
    baseUrls: present({
      sandbox: read('SANDBOX_BASE_URL', origin),
      live: read('LIVE_BASE_URL', origin),
      console: read('CONSOLE_BASE_URL', origin),
    }),
    citus: read('SVC_CITUS', onOff(false)) ?? false,
    poolSize: read('DATABASE_POOL_SIZE', whole(16, 1, 1000)) ?? 1,
    preparedStatements: read('SVC_PREPARED_STATEMENTS', onOff(true)) ?? true,
    dataDir: resolve(env.DATA_DIR || '.data'),
    ...(env.BACKUP_DIR && { backupDir: resolve(env.BACKUP_DIR) }),
    production,
    trustedProxies: read('TRUSTED_PROXIES', proxies) ?? 0,
    networkSimulator: read('SVC_NETWORK_SIMULATOR', notInProduction(production)) ?? false,
    webhookAllow: read('SVC_WEBHOOK_ALLOW', networks(production)) ?? [],
    dnsServers: read('SVC_DNS_SERVERS', servers) ?? [],
    eventDays: read('SVC_EVENT_DAYS', whole(30, 1, 3650)) ?? 30,
    scanDays: read('SVC_SCAN_DAYS', whole(400, 1, 3650)) ?? 400,
    passNfc: read('APPLE_PASS_NFC', onOff(false)) ?? false,
    licensedStates: read('SVC_LICENSED_STATES', usStates) ?? US_STATES,
    rates: {
      interchange: read('SVC_INTERCHANGE_BP', whole(150, 0, 10_000)) ?? 150,
      networkFee: read('SVC_NETWORK_FEE_BP', whole(10, 0, 10_000)) ?? 10,
      ...present({ table: read('SVC_INTERCHANGE_TABLE', interchangeTable) }),
    },
    googleUrls: present({
      wallet: read('GOOGLE_WALLET_URL', (text) => origin(secureUrl(production)(text))),
      token: read('GOOGLE_TOKEN_URL', secureUrl(production)),
      keys: read('GOOGLE_CALLBACK_KEYS_URL', secureUrl(production)),
    }),
    pay: readPay(env),
    ...readCardRoom(read, { production, roles: flags.roles ?? [], isEmbedded: databaseUrl === undefined }),
    ...readMonitoring(read, production),
    chain: readChain(env, production, problems),
    logLevel: read('LOG_LEVEL', oneOf(LOG_LEVELS, 'info')) ?? 'info',
    requestLog: read('SVC_REQUEST_LOG', oneOf(REQUEST_LOGS, 'failed')) ?? 'failed',
    timeouts: readTimeouts(read),
    load: readLoad(read),
    ...present(readTracing(read)),
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
      tls,
      networkTls: filesOf('NETWORK_TLS_CERT', 'NETWORK_TLS_KEY') ?? tls,
      bank: bank && { url: bank[0].replace(/\/+$/, ''), token: bank[1] },
      googleWallet: google && { issuerId: google[0], serviceAccount: google[1] },
    }),
  }
  checkPorts(settings, problems)
  if (production && settings.roles.has('network') && !settings.networkTls) {
    const problem = 'is missing: the network listener requires a certificate in production'
    problems.push({ variable: 'NETWORK_TLS_CERT', problem })
  }
  const all = [...findUnknown(given), ...nameFiles(secrets, problems)]
  if (all.length > 0) throw new SettingsError(all)
  return settings
}

function checkPorts(
  {
    roles,
    sandboxPort,
    livePort,
    consolePort,
    networkPort = 0,
    isoPort = 0,
    revealPort = 0,
    metricsPort = 0,
  }: Settings,
  problems: SettingProblem[],
): void {
  const network = roles.has('network') ? [networkPort, isoPort] : []
  const ports = [sandboxPort, livePort, consolePort, ...network, revealPort, metricsPort].filter(
    (port) => port !== 0,
  )
  if (new Set(ports).size === ports.length) return
  problems.push({
    variable:
      'SANDBOX_PORT, LIVE_PORT, CONSOLE_PORT, NETWORK_PORT, NETWORK_ISO8583_PORT, REVEAL_PORT, METRICS_PORT',
    problem: `must be different ports, but are ${ports.join(', ')}: change one of them`,
  })
}

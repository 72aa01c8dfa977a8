import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { beforeAll, beforeEach, expect } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import type { DryRun, Operate } from '../../runtime/api/operate.ts'
import { createCardKeys } from '../../runtime/cards/card-keys/card-keys.ts'
import { createLocalVault } from '../../runtime/cards/card-keys/vault.ts'
import { openSanctions, type Sanctions } from '../../runtime/cards/sanctions/list-in-use.ts'
import { createWakeUps, type WakeUps } from '../../runtime/events/emit/wake-ups.ts'
import type { Outbound } from '../../runtime/events/outbound/outbound.ts'
import { openOutbound } from '../../runtime/events/outbound/outbound.ts'
import { createObservability, type Observability } from '../../runtime/operator/metrics/observability.ts'
import { openGoogleSigner } from '../../runtime/passes/wallets/render/google/signer.ts'
import { ENVIRONMENTS, type Environment } from '../../runtime/platform/environment.ts'
import { readSettings } from '../../runtime/platform/settings.ts'
import { type ApiParts, type Apis, createApis } from '../../runtime/process/apis.ts'
import { listenOn, type PortListener } from '../../runtime/process/listeners.ts'
import type { Operator } from '../../runtime/tenants/admin/change.ts'
import { createKey, type KeyInput } from '../../runtime/tenants/admin/keys.ts'
import { setPin } from '../../runtime/tenants/admin/pins.ts'
import { createTenant, type Plan } from '../../runtime/tenants/admin/tenants.ts'
import type { Clock } from '../../runtime/tenants/clock/clock.ts'
import { createLimiter } from '../../runtime/tenants/limits/limiter.ts'
import { createUsageMeter } from '../../runtime/tenants/usage/meter.ts'
import type { Tracer } from '../../runtime/tracing/span.ts'
import { checkAnswer } from './contract.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { expectAgreement, guard } from './guard.ts'
import { NO_NAMES, UNHURRIED } from './programs.ts'

/**
 * The clocks of a test: service time stands still until the test moves it. Machine time only refills buckets.
 */
export interface TestClock extends Clock {
  /** Service time of both environments, in milliseconds since the epoch. */
  now: number
  /** Milliseconds that never decrease, for buckets and caches. */
  monotonic: number
}

/** The real app on its own ports and database. */
export interface TestService {
  readonly database: TestDatabase
  readonly operator: Operator
  readonly clock: TestClock
  readonly urls: Readonly<Record<Environment, string>>
  readonly operate: Operate
  readonly dryRun: DryRun
  readonly streams: Apis['streams']
  /** Drops caches, as a node does when the control revision changes. */
  forget(): void
  /** Writes the request logs and usage counts. */
  flush(): Promise<void>
  /** Undefined unless `watched` is set. */
  readonly observability: Observability | undefined
  readonly outbound: Readonly<Record<Environment, Outbound>>
  readonly sanctions: Sanctions
  /** Receives wake-ups for due deliveries only. */
  readonly wakeUps: WakeUps
  stop(): Promise<void>
}

/** 1 June 2026: both deprecated versions still work. */
export const START = Date.parse('2026-06-01T12:00:00.000Z')

export interface ServiceOptions {
  readonly poolSize?: number
  readonly trustedProxies?: ApiParts['settings']['trustedProxies']
  readonly database?: TestDatabase
  /** Settings as environment variables. */
  readonly env?: Readonly<Record<string, string>>
  readonly log?: Logger
  readonly tracer?: Tracer
  readonly limiter?: ApiParts['limiter']
  /** Whether to count, measure and shed requests, as a real process does. */
  readonly watched?: boolean
  /** Whether to write request logs, as a real process does. */
  readonly logsRequests?: boolean
  /** Whether to count requests and the version changes that affect them. */
  readonly countsUse?: boolean
  /** False to skip the contract guard, for tests that call every operation. */
  readonly guarded?: boolean
}

export async function startTestService(options: ServiceOptions = {}): Promise<TestService> {
  const database = options.database ?? (await openTestDatabase({ poolSize: options.poolSize ?? 8 }))
  const clock: TestClock = { now: START, monotonic: 0, machine: () => Date.now(), service: () => clock.now }
  const directory = mkdtempSync(join(tmpdir(), 'svc-wallet-'))
  const settings = readSettings({
    SANDBOX_PORT: '0',
    LIVE_PORT: '0',
    SVC_PEPPER: database.pepper,
    SVC_DNS_SERVERS: NO_NAMES,
    ...UNHURRIED,
    ...options.env,
  })
  const log = options.log ?? pino({ level: process.env.LOG_LEVEL ?? 'silent' })
  const watching = {
    settings,
    database,
    log,
    limiter: undefined,
    deliveries: () => ({}),
    wallets: () => ({ apple: {}, google: {} }),
    work: () => [],
    clock,
    verification: () => undefined,
    isLeaving: () => false,
  }
  const observability = options.watched ? createObservability(watching) : undefined
  const wakeUps = createWakeUps()
  const outbound = openOutbound(settings)
  let leaving = false
  const listeners = {
    sandbox: await listenOn(settings, { variable: 'SANDBOX_PORT', port: 0 }),
    live: await listenOn(settings, { variable: 'LIVE_PORT', port: 0 }),
  }
  const urls = { sandbox: listeners.sandbox.url, live: listeners.live.url }
  const sanctions = await openSanctions(database.control, settings.sanctionsList, Date.now)
  const usage = options.countsUse ? createUsageMeter(database, clock) : undefined
  const room = database.cards!
  const apis = createApis({
    vault: createLocalVault(room, createCardKeys(room, clock)),
    sanctions,
    settings: { ...settings, trustedProxies: options.trustedProxies ?? 0, dataDir: directory },
    google: { signer: openGoogleSigner({ ...settings, dataDir: directory }) },
    database,
    clock,
    log,
    tracer: options.tracer,
    usage,
    limiter: options.limiter ?? createLimiter(() => clock.monotonic),
    baseUrls: { ...urls, console: 'http://127.0.0.1:4000' },
    outbound,
    wakeUps,
    wakeUpChannel: { publish: wakeUps.notify },
    isLeaving: () => leaving,
    watch: options.guarded === false ? undefined : guard.watch,
    observability,
    logsRequests: options.logsRequests ?? false,
  })
  for (const environment of ENVIRONMENTS) listeners[environment].attach(apis.listeners[environment])
  return {
    database,
    operator: { control: database.control, clock, pepper: database.pepper },
    clock,
    urls,
    operate: apis.operate,
    dryRun: apis.dryRun,
    streams: apis.streams,
    forget: apis.forget,
    async flush() {
      await apis.flush()
      await usage?.flush()
    },
    observability,
    outbound,
    sanctions,
    wakeUps,
    stop: async () => {
      leaving = true
      observability?.stop()
      await Promise.all(Object.values(listeners).map((listener: PortListener) => listener.drain(0)))
      for (const each of Object.values(outbound)) each.close()
      await apis.stop()
      await database.close()
      rmSync(directory, { recursive: true })
    },
  }
}

export interface FixtureOptions extends ServiceOptions {
  /**
   * True if each test continues with the clock of the previous one. False to start each test at `START`, with all rate
   * limits unused.
   */
  readonly keepsTime?: boolean
}

/**
 * Starts the service before the first test of the file or `describe` that calls this, and stops it after the last one.
 * The returned object is empty until the service has started.
 */
export function useService(options: FixtureOptions | (() => Promise<FixtureOptions>) = {}): TestService {
  const service = {} as TestService
  let keepsTime = false
  beforeAll(async () => {
    const given = typeof options === 'function' ? await options() : options
    keepsTime = given.keepsTime ?? false
    Object.assign(service, await startTestService(given))
    return () => service.stop()
  })
  beforeEach(() => {
    if (keepsTime) return
    service.clock.now = START
    service.clock.monotonic += 240_000
  })
  return service
}

/** Creates a tenant for the test, pinned to the current version. */
export async function makeTenant(
  service: TestService,
  plan: Plan = 'enterprise',
  version = current,
): Promise<string> {
  const { id } = await createTenant(service.operator, { name: 'Harbour Coffee', plan }, current)
  if (version !== current) {
    for (const environment of ['sandbox', 'live'] as const) {
      await setPin(service.operator, { tenantId: id, environment, version }, versions)
    }
  }
  return id
}

export async function makeKey(
  service: TestService,
  tenantId: string,
  options: Partial<Omit<KeyInput, 'tenantId'>> = {},
): Promise<{ readonly id: string; readonly secret: string }> {
  return createKey(service.operator, { tenantId, environment: 'sandbox', ...options })
}

export interface Call {
  readonly method?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | Uint8Array
  /** Null removes a header that would be sent by default. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the call, and tests assert it
  readonly body: any
}

export type Send = (path: string, call?: Call) => Promise<Answer>

/**
 * Creates a client for one version of the API. A POST has a new Idempotency-Key by default. Every response under /v1 is
 * validated against the document of its version and must have the headers common to all responses.
 */
export function speak(
  url: string,
  { secret, version }: { readonly secret?: string | undefined; readonly version?: string | undefined },
): Send {
  return async (path, call = {}) => {
    const method = call.method ?? (call.body === undefined && call.raw === undefined ? 'GET' : 'POST')
    const headers = new Headers()
    if (secret !== undefined) headers.set('Authorization', `Bearer ${secret}`)
    if (version !== undefined) headers.set('Service-Version', version)
    if (method === 'POST') headers.set('Idempotency-Key', randomUUID())
    if (call.body !== undefined) headers.set('Content-Type', 'application/json')
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      if (value === null) headers.delete(name)
      else headers.set(name, value)
    }
    const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
      ...(call.signal ? { signal: call.signal } : {}),
    })
    const text = await response.text()
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    }
    if (path.startsWith('/v1')) {
      expectContract(answer, method, path)
      await expectAgreement()
    }
    return answer
  }
}

const ALWAYS = [
  'Request-Id',
  'Service-Version',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Resource',
]

function expectContract(answer: Answer, method: string, path: string): void {
  expect(ALWAYS.filter((name) => !answer.headers.has(name))).toEqual([])
  if (answer.text === '') return
  const request = { method, path: path.split('?')[0]! }
  expect(checkAnswer(answer.headers.get('Service-Version')!, request, answer.status, answer.body)).toEqual([])
}

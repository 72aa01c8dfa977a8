/** A service, a server in place of Apple's push service, workers between them, and devices that do what a phone does. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { expect } from 'vitest'
import { createDevices, type Devices } from '../../../runtime/passes/passes/registrations.ts'
import { type ApplePush, startApplePush } from '../../../runtime/passes/wallets/fakes/apple-push.ts'
import { openPassTokens, type PassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import { type ApnsOptions, createApns } from '../../../runtime/passes/wallets/sync/apple/apns.ts'
import { fanOutToApple } from '../../../runtime/passes/wallets/sync/apple/fan-out.ts'
import { createAppleSender } from '../../../runtime/passes/wallets/sync/apple/sender.ts'
import {
  createUpdateWorker,
  type UpdateWorker,
  type UpdateWorkerOptions,
} from '../../../runtime/passes/wallets/sync/apple/worker.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import { createLeaseClock } from '../../../runtime/work/lease-clock.ts'
import { createSetAside } from '../../../runtime/work/set-aside.ts'
import { issuePass, makeTemplate } from '../../api/fixtures.ts'
import {
  makeKey,
  makeTenant,
  type Send,
  speak,
  startTestService,
  type TestService,
} from '../../support/service.ts'

/** Of an installation for development. */
export const TOPIC = 'pass.development.invalid'

export interface WalletStage {
  readonly service: TestService
  readonly push: ApplePush
  readonly devices: Devices
  readonly tokens: PassTokens
  readonly auth: ApnsOptions['auth']
  work(options?: Partial<UpdateWorkerOptions>): UpdateWorker
  /** Lets so many updates of a tenant be sent. The others wait until the returned function is called. */
  hold(tenantId: string, after: number): () => void
  /** A tenant with a template. */
  tenant(): Promise<Tenant>
  phone(): Phone
  rows<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Whether nothing waits for anybody. */
  isQuiet(): Promise<boolean>
  close(): Promise<void>
}

export interface Tenant {
  readonly id: string
  readonly send: Send
  readonly templateId: string
  issue(): Promise<string>
}

/** A pass as a phone keeps it. */
interface Kept {
  readonly space: string
  etag: string
  modified: string
  /** The .pkpass file. */
  file: Buffer
}

export interface Phone {
  readonly id: string
  readonly pushToken: string
  readonly kept: ReadonlyMap<string, Kept>
  /** Statuses of everything it asked. */
  readonly statuses: readonly number[]
  ask(method: string, path: string, token?: string, body?: unknown, headers?: object): Promise<Response>
  /** Downloads a pass and registers it; gives the status. */
  add(space: string, passId: string): Promise<number>
  remove(passId: string): Promise<number>
  /** What a push makes it do; gives the passes that it was told of. */
  refresh(): Promise<readonly string[]>
  tag: string | undefined
}

export async function openWalletStage(environment: Environment = 'sandbox'): Promise<WalletStage> {
  const service = await startTestService({ guarded: false })
  const { database, clock } = service
  const tokens = openPassTokens(database.pepper)[environment]
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = { KEY: { teamId: 'TEAM', key: publicKey } }
  const push = await startApplePush({ topics: [TOPIC], keys })
  const auth = { provider: { keyId: 'KEY', teamId: 'TEAM', key: privateKey } }
  const pool = database[environment]
  const devices = createDevices({
    environment,
    pool,
    control: database.control,
    clock,
    baseUrls: { ...service.urls, console: '' },
    wakeUpChannel: { publish: () => {} },
    passTokens: openPassTokens(database.pepper),
  })
  const closing: (() => unknown)[] = []
  const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' })

  const gates = new Map<string, { left: number; readonly opened: Promise<void> }>()
  const passGate = async (space: string) => {
    const gate = gates.get(space)
    if (gate && gate.left-- <= 0) await gate.opened
  }
  const hold = (tenantId: string, after: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.set(tenantId, { left: after, opened: promise })
    return () => {
      gates.delete(tenantId)
      resolve()
    }
  }

  const work = (options: Partial<UpdateWorkerOptions> = {}) => {
    const apns = createApns({ url: push.url, topic: TOPIC, auth, now: clock.machine, timeoutMs: 1000 })
    const sender = createAppleSender({ db: pool, apns, devices, now: clock.machine, log })
    const worker = createUpdateWorker({
      environment,
      platform: 'apple',
      pool,
      leaseClock: createLeaseClock(pool, clock.machine),
      setAside: createSetAside({ control: database.control, clock, log }, 'apple_pushes', environment),
      sender: {
        prepare: async (space, updates) => {
          const send = await sender.prepare(space, updates)
          return async (update) => {
            await passGate(space)
            return send(update)
          }
        },
      },
      fanOut: (space, lease) => fanOutToApple(pool, space, lease),
      log,
      pollMs: 20,
      retryMs: 20,
      ...options,
    })
    closing.push(async () => {
      await worker.stop()
      apns.close()
    })
    return worker
  }

  const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await pool.query<Row>({ text }, values)).rows

  return {
    service,
    push,
    devices,
    tokens,
    auth,
    work,
    hold,
    rows,
    phone: () => createPhone(service, tokens, environment),
    async tenant() {
      const id = await makeTenant(service, 'enterprise')
      const { secret } = await makeKey(service, id, { environment, scope: 'admin' })
      const send = speak(service.urls[environment], { secret })
      const templateId = await makeTemplate(send)
      return { id, send, templateId, issue: async () => (await issuePass(send, templateId)).id }
    },
    async isQuiet() {
      const [left] = await rows<{ n: number }>(
        'SELECT (SELECT count(*) FROM wallet_changes) + (SELECT count(*) FROM wallet_updates) AS n',
      )
      return left!.n === 0
    },
    async close() {
      for (const close of closing.reverse()) await close()
      await push.close()
      await service.stop()
    },
  }
}

function createPhone(service: TestService, tokens: PassTokens, environment: Environment): Phone {
  const id = randomBytes(16).toString('hex')
  const pushToken = randomBytes(32).toString('hex')
  const kept = new Map<string, Kept>()
  const statuses: number[] = []
  const base = `${service.urls[environment]}/apple/v1`
  const ask: Phone['ask'] = async (method, path, token, body, headers = {}) => {
    service.clock.monotonic += 1000 // so many devices are not at one address
    const response = await fetch(base + path, {
      method,
      headers: { ...(token && { Authorization: `ApplePass ${token}` }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    statuses.push(response.status)
    return response
  }
  const tokenOf = (space: string, passId: string) => tokens.write('apple', { space, passId })
  const download = async (space: string, passId: string) => {
    const before = kept.get(passId)
    const headers = before ? { 'If-Modified-Since': before.modified } : {}
    const response = await ask(
      'GET',
      `/passes/${TOPIC}/${passId}`,
      tokenOf(space, passId),
      undefined,
      headers,
    )
    const file = Buffer.from(await response.arrayBuffer())
    if (response.status === 304) return
    expect(response.status).toBe(200)
    const [etag, modified] = [response.headers.get('etag')!, response.headers.get('last-modified')!]
    kept.set(passId, { space, etag, modified, file })
  }
  const registration = (passId: string) => `/devices/${id}/registrations/${TOPIC}/${passId}`
  const phone: Phone = {
    id,
    pushToken,
    kept,
    statuses,
    ask,
    tag: undefined,
    async add(space, passId) {
      await download(space, passId)
      return (await ask('POST', registration(passId), tokenOf(space, passId), { pushToken })).status
    },
    async remove(passId) {
      const { space } = kept.get(passId)!
      kept.delete(passId)
      return (await ask('DELETE', registration(passId), tokenOf(space, passId))).status
    },
    async refresh() {
      const since = phone.tag === undefined ? '' : `?passesUpdatedSince=${encodeURIComponent(phone.tag)}`
      const response = await ask('GET', `/devices/${id}/registrations/${TOPIC}${since}`)
      if (response.status === 204) return []
      const { serialNumbers, lastUpdated } = (await response.json()) as {
        readonly serialNumbers: string[]
        readonly lastUpdated: string
      }
      for (const passId of serialNumbers) {
        const known = kept.get(passId)
        if (known) await download(known.space, passId)
      }
      phone.tag = lastUpdated
      return serialNumbers
    },
  }
  return phone
}

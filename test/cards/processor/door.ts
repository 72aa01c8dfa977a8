/** A network listener on its own database and socket, and a processor that speaks to it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Network, unavailableAnswer } from '../../../runtime/cards/network/network.ts'
import { answerInTime } from '../../../runtime/cards/processor/in-time.ts'
import { createNetworkListener } from '../../../runtime/cards/processor/listener.ts'
import type { NetworkKind, NetworkMessage } from '../../../runtime/cards/processor/message-routes.ts'
import {
  addCertificate,
  createSigningKey,
  nameProcessor,
} from '../../../runtime/cards/processor/processors.ts'
import { openRegistry } from '../../../runtime/cards/processor/registry.ts'
import { networkTls } from '../../../runtime/cards/processor/server-certificate.ts'
import { createNetworkCounter, type NetworkCounter } from '../../../runtime/cards/processor/tally.ts'
import { watchRevision } from '../../../runtime/database/revision.ts'
import { signBody } from '../../../runtime/events/outbound/signing.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import { readSettings } from '../../../runtime/platform/settings.ts'
import { listenOn, type PortListener } from '../../../runtime/process/listeners.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { type ClientCertificate, makeCertificate } from './certificates.ts'

/** One call of `Network.exchange`. */
export interface ExchangeCall {
  readonly environment: Environment
  readonly kind: NetworkKind
  readonly message: NetworkMessage
  /** Milliseconds from the call to its deadline. */
  readonly leftMs: number
}

export interface TestDoor {
  readonly database: TestDatabase
  readonly directory: string
  readonly port: PortListener
  readonly counter: NetworkCounter
  readonly processor: Processor
  readonly certificateId: string
  readonly keyId: string
  /** Milliseconds that the listener's clock is ahead. */
  aheadMs: number
  overloaded: string | undefined
  /** Replaces the network's answer. Reset by tests that set it. */
  network: Network
  readonly calls: ExchangeCall[]
  /** Lines of the log. */
  readonly lines: string[]
  stop(): Promise<void>
}

/** Approves everything at once. */
export const approving: Network = {
  exchange: async (_environment, kind, { message_id }) =>
    'decision' in unavailableAnswer(kind, message_id)
      ? { message_id, decision: 'approved', amount: 1250, approval_code: 'A1B2C3' }
      : { message_id, outcome: 'applied' },
}

/**
 * @param env settings as environment variables.
 * @param given the database of a test that closes it itself.
 */
export async function startDoor(
  env: Readonly<Record<string, string>> = {},
  given?: TestDatabase,
): Promise<TestDoor> {
  const opened = given ?? (await openTestDatabase())
  const directory = mkdtempSync(join(tmpdir(), 'svc-network-'))
  const { operator, control, pepper } = opened
  const certificate = makeCertificate(directory, 'processor')
  await nameProcessor(operator, 'live', 'Test Processor')
  const { id: certificateId } = await addCertificate(operator, 'live', certificate.cert)
  const { id: keyId, secret } = await createSigningKey(operator, 'live')
  const settings = readSettings({ DATA_DIR: directory, ...env })
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const processors = await openRegistry(control, pepper, log)
  const revision = await watchRevision(control, processors.refresh)
  const place = { variable: 'NETWORK_PORT', port: 0, tls: networkTls(settings, Date.now()) }
  const port = await listenOn(settings, place)
  const counter = createNetworkCounter()
  const ca = readFileSync(join(directory, 'network', 'server.pem'), 'utf8')
  const door: TestDoor = {
    database: opened,
    directory,
    port,
    counter,
    certificateId,
    keyId,
    processor: createProcessor(port.url, ca, certificate, [secret]),
    aheadMs: 0,
    overloaded: undefined,
    network: approving,
    calls: [],
    lines,
    async stop() {
      await port.drain(0)
      await revision.stop()
      if (!given) await opened.close()
      rmSync(directory, { recursive: true })
    },
  }
  const recorded: Network = {
    exchange(environment, kind, message, deadline) {
      door.calls.push({ environment, kind, message, leftMs: deadline - performance.now() })
      return door.network.exchange(environment, kind, message, deadline)
    },
  }
  const { networkMs: deadlineMs } = settings.timeouts
  const mostRequests = settings.load.requests
  const overloaded = () => door.overloaded
  port.attach(
    createNetworkListener({
      network: answerInTime(recorded, { counter, deadlineMs, mostRequests, overloaded, log }),
      processors,
      counter,
      deadlineMs,
      isReady: async () => true,
      now: () => Date.now() + door.aheadMs,
      requestLog: 'all',
      log,
    }),
  )
  return door
}

export interface NetworkResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the call, and tests assert it
  readonly body: any
  readonly text: string
  readonly signature: string | undefined
  readonly ms: number
}

export interface NetworkCall {
  readonly method?: string
  /** Sent instead of the message. */
  readonly raw?: string | Buffer
  /** Seconds by which the timestamp of the signature is off. */
  readonly lateS?: number
  /** Null sends no signature. */
  readonly signature?: string | null
  readonly type?: string
  /** Sends the headers and this part of the body only. */
  readonly unfinished?: string
}

export interface Processor {
  /** Sends a message on a kept-alive connection. */
  send(path: string, message: object, call?: NetworkCall): Promise<NetworkResponse>
  sign(body: string | Buffer, seconds?: number): string
  /** The same service with a different certificate or keys. */
  with(certificate: ClientCertificate | undefined, secrets?: readonly string[]): Processor
  close(): void
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

export function createProcessor(
  url: string,
  ca: string,
  certificate: ClientCertificate | undefined,
  secrets: readonly string[],
): Processor {
  const pair = certificate && { cert: certificate.cert, key: certificate.key }
  const agent = new Agent({ keepAlive: true, ca, ...pair })
  const sign = (body: string | Buffer, seconds = nowSeconds()) => signBody(secrets, body, seconds)
  return {
    sign,
    send(
      path,
      message,
      { method = 'POST', raw, signature, type = 'application/json', unfinished, lateS = 0 } = {},
    ) {
      const body = raw ?? JSON.stringify(message)
      const signed = signature === undefined ? sign(body, nowSeconds() + lateS) : signature
      const began = performance.now()
      return new Promise((resolve, reject) => {
        const headers = {
          'Content-Type': type,
          'Content-Length': Buffer.byteLength(body),
          ...(signed !== null && { 'Network-Signature': signed }),
        }
        const sent = request(url + path, { method, agent, headers }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
          })
          response.once('error', reject)
          response.once('end', () => {
            const { 'network-signature': answered } = response.headers
            resolve({
              status: response.statusCode ?? 0,
              body: text.startsWith('{') ? JSON.parse(text) : undefined,
              text,
              signature: answered?.toString(),
              ms: performance.now() - began,
            })
          })
        })
        sent.once('error', reject)
        if (unfinished === undefined) sent.end(body)
        else sent.write(unfinished)
      })
    },
    with: (other, keys = secrets) => createProcessor(url, ca, other, keys),
    close: () => agent.destroy(),
  }
}

let count = 0

/** Returns an authorization with identifiers of its own. */
export function authorization(more: object = {}) {
  count += 1
  return {
    message_id: `m-${count}`,
    transaction_id: `t-${count}`,
    sent_at: new Date().toISOString(),
    card_number: '4000001234567899',
    amount: 1250,
    currency: 'usd',
    merchant: { name: 'Harbour Coffee', category_code: '5812' },
    ...more,
  }
}

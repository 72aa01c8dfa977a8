/** A real server on loopback that answers by a script and remembers what it was sent; and a client of it. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Call, ListCall } from '../../generators/client-runtime/call.ts'
import type { RetryClock } from '../../generators/client-runtime/clock.ts'
import {
  type AnyInput,
  type ClientOptions,
  call,
  connect,
  list,
  type ServiceConnection,
} from '../../generators/client-runtime/connect.ts'
import { ResponseError } from '../../generators/client-runtime/errors.ts'
import { encodeForm, encodeMultipart, encodeRaw } from '../../generators/client-runtime/request-body.ts'
import type { OperationRow, Service } from '../../generators/client-runtime/service.ts'
import { wireOf } from '../../generators/emit/wire/wire.ts'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** One answer: what to send, or a function that does as it likes with the response. */
export type Scripted =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | ((response: ServerResponse) => void)

export interface ScriptedServer {
  readonly baseUrl: string
  readonly received: readonly Received[]
}

/** Gives the answers in turn, the last one again and again. Ends with the test. */
export async function serve(...script: readonly Scripted[]): Promise<ScriptedServer> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray()
    const { method = '', url = '', headers } = request
    received.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    const answer = script[Math.min(received.length, script.length) - 1]!
    if (typeof answer === 'function') return answer(response)
    const { status, headers: extra = {}, body } = answer
    response.writeHead(status, { 'Content-Type': 'application/json', ...extra })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

export class NotFoundError extends ResponseError {}

export const service: Service = {
  version: '2030-01-01',
  wire: wireOf({ versionHeader: 'Api-Version' }),
  schemes: { key: { in: 'header', name: 'Authorization', prefix: 'Bearer ' } },
  security: [['key']],
  errors: { not_found: NotFoundError },
}

const operation = (row: OperationRow) => (connection: ServiceConnection, input?: AnyInput) =>
  call(connection, row, input)

export const functions = {
  getThing: operation({ method: 'GET', path: '/things/{id}' }),
  listThings: (connection: ServiceConnection, input?: AnyInput) =>
    list(connection, { method: 'GET', path: '/things' }, input),
  createThing: operation({ method: 'POST', path: '/things', keyed: true }),
  pingThing: operation({ method: 'POST', path: '/things/ping' }),
  updateThing: operation({ method: 'PATCH', path: '/things/{id}' }),
  deleteThing: operation({ method: 'DELETE', path: '/things/{id}' }),
  watchThings: operation({ method: 'GET', path: '/things/watch', streamed: true }),
  sendForm: operation({
    method: 'POST',
    path: '/form',
    media: 'application/x-www-form-urlencoded',
    encode: encodeForm,
  }),
  sendParts: operation({
    method: 'POST',
    path: '/parts',
    media: 'multipart/form-data',
    encode: encodeMultipart,
  }),
  sendBytes: operation({
    method: 'PUT',
    path: '/bytes',
    media: 'application/octet-stream',
    encode: encodeRaw,
  }),
}

export interface Thing {
  readonly id: string
}

export interface Page {
  readonly data: readonly Thing[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** Loose on purpose: what the types hold is tested where they are emitted. */
type Method<Result> = (input?: Readonly<Record<string, unknown>>) => Result

export interface Client {
  readonly getThing: Method<Call<Thing>>
  readonly listThings: Method<ListCall<Page, Thing>>
  readonly createThing: Method<Call<Thing>>
  readonly pingThing: Method<Call<Thing>>
  readonly updateThing: Method<Call<Thing>>
  readonly deleteThing: Method<Call<undefined>>
  readonly watchThings: Method<Call<ReadableStream<Uint8Array>>>
  readonly sendForm: Method<Call<Thing>>
  readonly sendParts: Method<Call<Thing>>
  readonly sendBytes: Method<Call<Thing>>
}

/** Does not wait, but notes for how long it would have. Its chance is always a half. */
export interface NotedClock extends RetryClock {
  readonly slept: number[]
}

export function notedClock(): NotedClock {
  const slept: number[] = []
  return {
    slept,
    now: () => Date.UTC(2030, 0, 1),
    random: () => 0.5,
    async sleep(ms, signal) {
      slept.push(ms)
      signal?.throwIfAborted()
    },
  }
}

export function clientOf({ baseUrl }: ScriptedServer, options: Partial<ClientOptions> = {}): Client {
  const connection = connect(service, { baseUrl, apiKey: 'key_1', clock: notedClock(), ...options })
  const methods = Object.entries(functions).map(([name, operation]) => [
    name,
    (input?: AnyInput) => operation(connection, input),
  ])
  return Object.fromEntries(methods) as Client
}

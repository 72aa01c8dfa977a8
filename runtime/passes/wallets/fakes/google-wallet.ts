/**
 * A fake of Google Wallet: its REST API for the six kinds of classes and objects, the token endpoint, and the root keys
 * for callbacks. It listens on loopback, keeps everything in memory, and refuses what Google refuses.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CallbackSigner, createCallbackSigner } from './google-callbacks.ts'
import {
  createGoogleAnswers,
  type FakeGoogleAnswer,
  type FakeResource,
  type ResourcesOptions,
  refusal,
} from './google-resources.ts'
import { type Accounts, createTokens } from './google-tokens.ts'

export interface GoogleStandInOptions extends ResourcesOptions {
  readonly accounts: Accounts
  /** Lifetime of a token in seconds. */
  readonly tokenSeconds?: number
}

/** A request, with the status of its response. */
export interface StandInRequest {
  readonly method: string
  readonly path: string
  readonly status: number
}

/** A fault that replaces the regular response. `hang`: no response. */
export type GoogleFault = { readonly status: number; readonly retryAfter?: string } | 'hang' | undefined

export interface GoogleStandIn {
  /** Origin of the REST API, and URLs of the token endpoint and the root keys. */
  readonly urls: { readonly wallet: string; readonly token: string; readonly keys: string }
  readonly callbacks: CallbackSigner
  readonly requests: readonly StandInRequest[]
  /** Returns the current class or object. @param path for example `loyaltyClass/123.tpl_…`. */
  resource(path: string): FakeResource | undefined
  /** Deletes everything, to simulate a loss. */
  forget(): void
  revokeTokens(): void
  /** Called for each request, except for root keys. A returned fault replaces the response. */
  fault: (method: string, path: string) => GoogleFault
  /** Called after a request has taken effect; can suppress the response. */
  afterTaken: (method: string, path: string) => 'hang' | undefined
  close(): Promise<void>
}

const MAX_BODY = 256 * 1024

export async function startGoogleStandIn(options: GoogleStandInOptions): Promise<GoogleStandIn> {
  const { accounts, tokenSeconds = 3599, remembered = Number.POSITIVE_INFINITY } = options
  const tokens = createTokens(accounts, tokenSeconds)
  const callbacks = createCallbackSigner()
  const resources = new Map<string, FakeResource>()
  const requests: StandInRequest[] = []
  const answerApi = createGoogleAnswers(options, tokens, () => standIn.urls.token, resources)

  const answer = async (request: IncomingMessage, path: string): Promise<FakeGoogleAnswer> => {
    if (path === '/keys') {
      return { status: 200, body: callbacks.published, headers: { 'Cache-Control': 'public, max-age=600' } }
    }
    const { authorization } = request.headers
    return answerApi({ method: request.method ?? '', path, authorization, body: await readBody(request) })
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    const method = request.method ?? ''
    const fault = path === '/keys' ? undefined : standIn.fault(method, path)
    if (fault === 'hang') return
    const { status, body, headers } = fault
      ? {
          ...refusal(fault.status, 'UNAVAILABLE', 'backendError', 'The service is currently unavailable.'),
          headers: fault.retryAfter === undefined ? {} : { 'Retry-After': fault.retryAfter },
        }
      : await answer(request, path)
    if (requests.length < remembered) requests.push({ method, path, status })
    if (standIn.afterTaken(method, path) === 'hang') return
    response.writeHead(status, { 'Content-Type': 'application/json; charset=UTF-8', ...headers })
    response.end(JSON.stringify(body))
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  server.unref()
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const standIn: GoogleStandIn = {
    urls: { wallet: origin, token: `${origin}/token`, keys: `${origin}/keys` },
    callbacks,
    requests,
    resource: (path) => resources.get(path),
    forget: () => resources.clear(),
    revokeTokens: tokens.revoke,
    fault: () => undefined,
    afterTaken: () => undefined,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return standIn
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/**
 * Sends requests to URLs from tenants or settings. Checks the URL and every address of its host before each
 * request.
 */
import type { Environment } from '../../platform/environment.ts'
import { type Networks, parseNetworks } from '../../platform/networks.ts'
import type { Settings } from '../../platform/settings.ts'
import { recordChild, type Span, type SpanAttributes, type SpanStart } from '../../tracing/span.ts'
import { checkAddress } from './address-ranges.ts'
import { closeIdle, createAgents } from './agents.ts'
import { type CheckedUrl, checkUrl, type Destination, NOT_PUBLIC, type UrlPolicy } from './destination.ts'
import { type ExchangeFailure, type ExchangeResponse, exchange } from './exchange.ts'
import type { FailureReason } from './failures.ts'
import { createResolver, Unresolved } from './resolver.ts'

export interface OutboundPost {
  /** As the tenant wrote it. It is checked again before each request. */
  readonly url: string
  /**
   * Headers in addition to `Host`, `Content-Length`, `User-Agent`, `Accept-Encoding` and `Connection`, which are set
   * here.
   */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Cancels the request. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

export interface OutboundRequest extends OutboundPost {
  /** A GET must have an empty body. */
  readonly method: 'GET' | 'POST' | 'PATCH'
}

/** A response with any status. Redirects are responses too, and are not followed. */
export interface OutboundResponse extends ExchangeResponse {
  readonly durationMs: number
}

/** A request that got no response, and why, in words for the tenant. */
export interface OutboundFailure extends FailureReason {
  readonly durationMs: number
}

/** The result of a request: if it has an `error`, it is a failure. */
export type OutboundResult = OutboundResponse | OutboundFailure

/** Sends requests to URLs from tenants. */
export interface Outbound {
  /**
   * Checks a URL at its registration: syntax, scheme, port, name, and all addresses that DNS returns within 1.5 s.
   * Resolves with undefined if the URL is acceptable, otherwise with the fault, as text for `details[].issue`.
   */
  check(url: string): Promise<string | undefined>
  /**
   * Sends one POST within the total deadline. Rejects only if the caller's signal aborts, or with a TypeError for an
   * invalid header.
   */
  post(request: OutboundPost): Promise<OutboundResult>
  /** Closes all connections; requests in progress fail. */
  close(): void
}

/** Sends requests to servers that settings name: wallets, the bank, the signer. */
export interface PeerOutbound {
  /** Sends one request within the total deadline. Rejects as `post` does. */
  send(request: OutboundRequest): Promise<OutboundResult>
  /** Closes all connections; requests in progress fail. */
  close(): void
}

export interface OutboundOptions {
  /** Whether URLs may begin with http://. Otherwise they must begin with https://. */
  readonly allowPlainHttp: boolean
  /** Networks that are allowed although they are not public (SVC_WEBHOOK_ALLOW). */
  readonly allow?: Networks
  /** Name servers as `address` or `address:port`, instead of the machine's own. */
  readonly dnsServers?: readonly string[]
  /** Certificates (PEM) to trust instead of the usual roots. */
  readonly ca?: string
  /** Milliseconds for the whole request, from DNS to the last byte of the response. */
  readonly deadlineMs?: number
  readonly userAgent?: string
}

/** From DNS to the last byte of the response. */
const DEADLINE_MS = 10_000

/** Milliseconds that a registration waits for DNS. Each request checks the addresses again. */
const CHECK_MS = 1500

/** Maximum number of addresses tried for one name, and milliseconds to connect to each except the last. */
const MAX_ADDRESSES = 4
const CONNECT_MS = 2500

const USER_AGENT = 'svc-webhooks/1'

const spanOf = ({ method, url }: OutboundRequest): SpanStart => ({
  name: method,
  kind: 'client',
  attributes: { 'http.request.method': method, 'server.address': URL.parse(url)?.hostname },
})

const describe = (result: OutboundResult): SpanAttributes =>
  'error' in result ? { 'error.type': result.kind } : { 'http.response.status_code': result.status }

/** Returns the headers as sent: names and values alternate. */
function headersOf(
  { method, headers, body }: OutboundRequest,
  host: string,
  userAgent: string,
  span: Span | undefined,
): string[] {
  const all = ['Host', host, 'User-Agent', userAgent, 'Accept-Encoding', 'identity']
  for (const name in headers) all.push(name, headers[name]!)
  if (span) all.push('traceparent', span.traceparent)
  // RFC 9110 §8.6: a request without a body has no length if its method does not expect a body.
  if (method !== 'GET') all.push('Content-Length', String(Buffer.byteLength(body)))
  all.push('Connection', 'keep-alive')
  return all
}

/**
 * Maximum number of cached results of URL checks. A result depends only on the text of the URL, so it never changes.
 */
const MAX_URLS = 1000

function rememberUrls(policy: UrlPolicy): (url: string) => CheckedUrl {
  const checked = new Map<string, CheckedUrl>()
  return (url) => {
    const known = checked.get(url)
    if (known) return known
    const result = checkUrl(url, policy)
    if (checked.size >= MAX_URLS) checked.clear()
    checked.set(url, result)
    return result
  }
}

/** Runs the work with a signal that aborts after `ms`, or earlier with the caller's signal. */
async function withDeadline<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, ms)
  signal?.addEventListener('abort', abort)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** Resolves with the promise's value, or with undefined if the deadline passes first. */
function beforeDeadline<T>(promise: Promise<T>, deadline: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    deadline.addEventListener('abort', () => resolve(undefined))
    promise.then(resolve, reject)
  })
}

/**
 * Creates the client for outbound requests. The host of a URL is checked at registration, and again for each request:
 * every address that DNS then returns must be allowed, and one of exactly these addresses is dialed. So no DNS
 * response, redirect or reused connection can lead to an address that is not public.
 */
export function createOutbound(options: OutboundOptions): Outbound & PeerOutbound {
  const {
    allowPlainHttp,
    allow = [],
    dnsServers,
    ca,
    deadlineMs = DEADLINE_MS,
    userAgent = USER_AGENT,
  } = options
  const checkText = rememberUrls({ allowPlainHttp, allow })
  const resolver = createResolver(dnsServers)
  const agents = createAgents(ca)

  /** Returns all addresses of the destination, or why none may be dialed. */
  const locate = async (
    { name, address }: Destination,
    deadline: AbortSignal,
  ): Promise<readonly string[] | FailureReason> => {
    if (address) return [address]
    try {
      const addresses = await beforeDeadline(resolver.resolve(name), deadline)
      if (!addresses) return { kind: 'timeout', error: 'the host name was not resolved in time' }
      const closed = addresses.some((each) => checkAddress(each, allow))
      return closed ? { kind: 'blocked', error: `the URL ${NOT_PUBLIC}` } : addresses
    } catch (error) {
      if (error instanceof Unresolved) return { kind: 'dns', error: error.message }
      throw error
    }
  }

  /**
   * Sends the request to the first address that accepts a connection. A request is sent again only if the server closed
   * a kept connection before its response began, and only once, on a new connection.
   */
  const attempt = async (
    request: OutboundRequest,
    deadline: AbortSignal,
    span: Span | undefined,
  ): Promise<ExchangeResponse | ExchangeFailure> => {
    const destination = checkText(request.url)
    if ('fault' in destination) return { kind: 'blocked', error: `the URL ${destination.fault}` }
    const addresses = await locate(destination, deadline)
    if ('error' in addresses) return addresses
    const { name: servername, port, path, authority } = destination
    const protocol = destination.secure ? 'https:' : 'http:'
    const agent = agents[protocol]
    const { method, body } = request
    const headers = headersOf(request, authority, userAgent, span)
    const last = Math.min(addresses.length, MAX_ADDRESSES) - 1
    for (let at = 0; ; at += 1) {
      const [host, connectMs] = [addresses[at]!, at < last ? CONNECT_MS : undefined]
      const options = { agent, protocol, host, port, servername, method, path, headers, connectMs } as const
      let result = await exchange(options, body, deadline)
      if ('unsent' in result && result.unsent === 'stale') {
        closeIdle(agent, options)
        result = await exchange(options, body, deadline)
      }
      const isUnreachable = 'unsent' in result && result.unsent === 'unreachable'
      if (!isUnreachable || at === last || deadline.aborted) return result
    }
  }

  const sendIn = async (request: OutboundRequest, span: Span | undefined): Promise<OutboundResult> => {
    const { signal } = request
    signal?.throwIfAborted()
    const start = performance.now()
    const result = await withDeadline(deadlineMs, signal, (deadline) => attempt(request, deadline, span))
    const durationMs = Math.round(performance.now() - start)
    if ('status' in result) return { ...result, durationMs }
    signal?.throwIfAborted()
    return { error: result.error, kind: result.kind, durationMs }
  }

  const send = (request: OutboundRequest): Promise<OutboundResult> =>
    recordChild(
      () => spanOf(request),
      (span) => sendIn(request, span),
      describe,
    )

  return {
    check: async (url) => {
      const destination = checkText(url)
      if ('fault' in destination) return destination.fault
      const addresses = await withDeadline(CHECK_MS, undefined, (deadline) => locate(destination, deadline))
      // A name without addresses yet, or with slow name servers, is checked before each request.
      return 'error' in addresses && addresses.kind === 'blocked' ? NOT_PUBLIC : undefined
    },
    post: (request) => send({ ...request, method: 'POST' }),
    send,
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
      resolver.close()
    },
  }
}

/** Creates the client of each environment. Only the sandbox may use plain HTTP and the allowed private networks. */
export function openOutbound({
  webhookAllow,
  dnsServers,
}: Pick<Settings, 'webhookAllow' | 'dnsServers'>): Readonly<Record<Environment, Outbound>> {
  return {
    sandbox: createOutbound({ allowPlainHttp: true, dnsServers, allow: parseNetworks(webhookAllow) }),
    live: createOutbound({ allowPlainHttp: false, dnsServers }),
  }
}

import type { Environment } from '../../platform/environment.ts'
import { type Networks, parseNetworks } from '../../platform/networks.ts'
import type { Settings } from '../../platform/settings.ts'
import { checkAddress } from './address-ranges.ts'
import { createConnections } from './connections.ts'
import { type CheckedUrl, checkUrl, type Destination, NOT_PUBLIC, type Policy } from './destination.ts'
import { type Deadline, dial, type Ending, startDeadline } from './dial.ts'
import type { Failure } from './failures.ts'
import { createResolver, Unresolved } from './resolver.ts'

/** What is sent to one address at one time. */
export interface SendRequest extends PostRequest {
  /** Nothing but its length tells whether there is a body: a GET has an empty one. */
  readonly method: 'GET' | 'POST' | 'PATCH'
}

/** What is sent to one endpoint at one time. */
export interface PostRequest {
  /** As the tenant wrote it; checked again before it is dialled. */
  readonly url: string
  /** Beside `Host`, `Content-Length`, `User-Agent` and `Accept-Encoding`, which are set here. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The caller's own wish to stop: says nothing about the endpoint, so the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/**
 * Why there is no answer. `timeout`: not done within the total deadline; `connection`: refused, reset or unreachable;
 * `tls`: no handshake or no valid certificate; `dns`: the name has no address; `blocked`: the destination is not allowed;
 * `response`: what came back is no complete HTTP answer.
 */
export type FailureKind = 'timeout' | 'connection' | 'tls' | 'dns' | 'blocked' | 'response'

/** An answer, of whatever status: redirects are answers too, and are not followed. */
export interface Answered {
  readonly status: number
  /** The first 4 KiB as text: what is not UTF-8, and NUL, is U+FFFD. */
  readonly body: string
  /** `Retry-After` and `Cache-Control`, where they came. */
  readonly retryAfter?: string
  readonly cacheControl?: string
  readonly durationMs: number
}

/** No answer, and why, in words for the tenant. */
export interface Failed {
  readonly error: string
  readonly kind: FailureKind
  readonly durationMs: number
}

/** Told apart by `'error' in outcome`. */
export type Outcome = Answered | Failed

/** The only way out for URLs that tenants give. */
export interface Outbound {
  /**
   * Checks a URL at its registration: syntax, scheme, port, name and, as far as they can be had within 1.5 s, all its
   * addresses. Undefined when it is acceptable, otherwise what is wrong, as prose for `details[].issue`.
   */
  check(url: string): Promise<string | undefined>
  /** One POST within the total deadline. Rejects only when the caller's signal aborts, or where a header is none. */
  post(request: PostRequest): Promise<Outcome>
  /** Closes all connections; posts under way fail. */
  close(): void
}

/** The way out to servers of wallets: the same, for addresses that stand in the settings. */
export interface WalletOutbound {
  /** One request within the total deadline. Rejects as `post` does. */
  send(request: SendRequest): Promise<Outcome>
  close(): void
}

export interface OutboundOptions {
  /** Live sends over https only. */
  readonly environment: Environment
  /** Networks that are allowed though not public (SVC_WEBHOOK_ALLOW). */
  readonly allow?: Networks
  /** Name servers as `address` or `address:port`, instead of the machine's own. */
  readonly dnsServers?: readonly string[]
  /** Certificates (PEM) to trust instead of the usual roots. */
  readonly ca?: string
  /** Milliseconds for everything, from DNS to the last byte of the answer. */
  readonly deadlineMs?: number
  /** What the service calls itself. */
  readonly userAgent?: string
}

/** From DNS to the last byte of the answer. */
const DEADLINE_MS = 10_000

/** How long a registration waits for name servers; the dial will check what came later. */
const CHECK_MS = 1500

const USER_AGENT = 'svc-webhooks/1'

/** What a header may consist of (RFC 9110 §5.5), but for what is not ASCII. */
const NOT_A_HEADER = /[^\t\x20-\x7e]/

/** The request as it goes on the wire, the caller's headers last. */
function compose({ authority, path }: Destination, request: SendRequest, userAgent: string): string {
  const { method, headers, body } = request
  let head = `${method} ${path} HTTP/1.1\r\nHost: ${authority}\r\nUser-Agent: ${userAgent}\r\nAccept-Encoding: identity\r\n`
  for (const name in headers) {
    const line = `${name}: ${headers[name]}`
    if (NOT_A_HEADER.test(line)) throw new TypeError(`${name} cannot be sent as a header`)
    head += `${line}\r\n`
  }
  // RFC 9110, 8.6: a request whose method has no meaning for a body does not tell a length of none.
  if (method !== 'GET') head += `Content-Length: ${Buffer.byteLength(body)}\r\n`
  return `${head}Connection: keep-alive\r\n\r\n${body}`
}

/** URLs that are remembered as checked: what a URL says itself never changes. */
const MAX_URLS = 1000

function rememberUrls(policy: Policy): (url: string) => CheckedUrl {
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

/** The promise's value; undefined when the deadline passes first. */
function beforeDeadline<T>(promise: Promise<T>, deadline: Deadline): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    deadline.stopWith(() => resolve(undefined))
    promise.then(resolve, reject)
  })
}

/**
 * Opens the way out. What a URL leads to is checked at its registration and, from nothing but the URL, again at each dial: every
 * address that its name has then, one of which is dialled itself. So no answer of a name server, no redirect and no connection
 * from earlier reaches what is not public.
 */
export function createOutbound(options: OutboundOptions): Outbound & WalletOutbound {
  const {
    environment,
    allow = [],
    dnsServers,
    ca,
    deadlineMs = DEADLINE_MS,
    userAgent = USER_AGENT,
  } = options
  const checkOwn = rememberUrls({ environment, allow })
  const resolver = createResolver(dnsServers)
  const connections = createConnections(ca)

  /** All addresses of the destination, or why none may be dialled. */
  const locate = async (
    { name, address }: Destination,
    deadline: Deadline,
  ): Promise<readonly string[] | Failure> => {
    if (address) return [address]
    try {
      const addresses = await beforeDeadline(resolver.resolve(name), deadline)
      if (!addresses) return { kind: 'timeout', error: 'the host name was not resolved in time' }
      const closed = addresses.some((each) => checkAddress(each, allow))
      return closed ? { kind: 'blocked', error: NOT_PUBLIC } : addresses
    } catch (error) {
      if (error instanceof Unresolved) return { kind: 'dns', error: error.message }
      throw error
    }
  }

  const exchange = async (request: SendRequest, deadline: Deadline): Promise<Ending | Failure> => {
    const destination = checkOwn(request.url)
    if ('fault' in destination) return { kind: 'blocked', error: destination.fault }
    const addresses = await locate(destination, deadline)
    if ('error' in addresses) return addresses
    return dial(connections, destination, addresses, compose(destination, request, userAgent), deadline)
  }

  const send = async (request: SendRequest): Promise<Outcome> => {
    const { signal } = request
    signal?.throwIfAborted()
    const began = performance.now()
    const deadline = startDeadline(deadlineMs, signal)
    try {
      const ending = await exchange(request, deadline)
      const durationMs = Math.round(performance.now() - began)
      if ('status' in ending) return { ...ending, durationMs }
      signal?.throwIfAborted()
      const { kind } = ending
      return { error: kind === 'blocked' ? `the URL ${ending.error}` : ending.error, kind, durationMs }
    } finally {
      deadline.end()
    }
  }

  return {
    check: async (url) => {
      const destination = checkOwn(url)
      if ('fault' in destination) return destination.fault
      const deadline = startDeadline(CHECK_MS, undefined)
      try {
        const addresses = await locate(destination, deadline)
        // A name without addresses yet, or with slow name servers, is checked when it is dialled.
        return 'error' in addresses && addresses.kind === 'blocked' ? addresses.error : undefined
      } finally {
        deadline.end()
      }
    },
    post: (request) => send({ ...request, method: 'POST' }),
    send,
    close: () => {
      connections.close()
      resolver.close()
    },
  }
}

/** The way out of each environment. Private networks are open, where they are at all, to the sandbox alone. */
export function openOutbound({
  webhookAllow,
  dnsServers,
}: Pick<Settings, 'webhookAllow' | 'dnsServers'>): Readonly<Record<Environment, Outbound>> {
  return {
    sandbox: createOutbound({ environment: 'sandbox', dnsServers, allow: parseNetworks(webhookAllow) }),
    live: createOutbound({ environment: 'live', dnsServers }),
  }
}

/**
 * A fake of Apple's push service: an HTTP/2 server with the same checks and error reasons (Apple, "Sending notification
 * requests to APNs", "Handling notification responses from APNs"). For tests, and for installations without Apple
 * settings.
 */
import { type KeyObject, randomUUID, verify } from 'node:crypto'
import { once } from 'node:events'
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'

export interface ApplePushOptions {
  /** The team's pass types. */
  readonly topics: readonly string[]
  /** Public keys for provider tokens, by key ID. */
  readonly keys?: Readonly<Record<string, { readonly teamId: string; readonly key: KeyObject }>>
  /** PEM. `ca` signs client certificates, whose UID is the topic. If absent, the server does not use TLS. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string }
  /** Machine time in milliseconds since the epoch. */
  readonly now?: () => number
  /** Maximum concurrent streams of a connection. */
  readonly streams?: number
  readonly port?: number
  /** How many pushes and refusals the server remembers in `pushes` and `refused`: the first ones. Default: all. */
  readonly remembered?: number
}

/** A scripted response instead of the regular one. `silence`: no response. `reset`: the stream is reset. */
export type Scripted =
  | { readonly status: number; readonly reason: string; readonly timestamp?: number }
  | 'silence'
  | 'reset'

export interface Push {
  readonly token: string
  readonly topic: string
}

export interface ApplePush {
  readonly url: string
  /** Accepted pushes, oldest first. */
  readonly pushes: readonly Push[]
  readonly refused: readonly string[]
  readonly connections: number
  /** Scripts the responses to the next pushes to a device, or to any device. */
  script(answers: readonly Scripted[], token?: string): void
  /** Simulates the removal of the app: pushes to the device get 410 with this time, in milliseconds. */
  unregister(token: string, at: number): void
  /** Registers a listener for accepted pushes. */
  onPush(listener: (push: Push) => void): void
  /** Sends GOAWAY on all connections; streams in progress finish. */
  goAway(): void
  /** Closes all connections immediately. */
  disconnect(): void
  close(): Promise<void>
}

interface PushRefusal {
  readonly status: number
  readonly reason: string
  readonly timestamp?: number
}

const HOUR_MS = 3_600_000
const RENEWED_AFTER_MS = 20 * 60_000
const MAX_PAYLOAD = 4096
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const refusal = (status: number, reason: string): PushRefusal => ({ status, reason })

export async function startApplePush(options: ApplePushOptions): Promise<ApplePush> {
  const { topics, keys = {}, tls, now = Date.now, streams = 1000, port = 0 } = options
  const { remembered = Number.POSITIVE_INFINITY } = options
  const pushes: Push[] = []
  const refused: string[] = []
  const scripts = new Map<string, Scripted[]>()
  const unregistered = new Map<string, number>()
  const listeners: ((push: Push) => void)[] = []
  const sessions = new Set<ServerHttp2Session>()
  const settings = { settings: { maxConcurrentStreams: streams } }
  const server: Http2Server = tls
    ? createSecureServer({ ...settings, ...tls, requestCert: true, rejectUnauthorized: false })
    : createServer(settings)
  let connections = 0
  /** The last provider token of each connection, its time of issue, and when the connection first used it. */
  const shown = new WeakMap<ServerHttp2Session, { token: string; issued: number; at: number }>()

  const checkSender = (
    session: ServerHttp2Session,
    headers: IncomingHttpHeaders,
  ): PushRefusal | undefined => {
    const certified = tls && topicOfCertificate(session.socket as TLSSocket)
    if (certified !== undefined) {
      const topic = headers['apns-topic'] ?? certified
      return topic === certified ? undefined : refusal(400, 'BadTopic')
    }
    const [scheme, token] = String(headers.authorization ?? '').split(' ')
    if (scheme?.toLowerCase() !== 'bearer' || !token) return refusal(403, 'MissingProviderToken')
    const before = shown.get(session)
    const issued = before?.token === token ? before.issued : readToken(token, keys)
    if (issued === undefined) return refusal(403, 'InvalidProviderToken')
    if (Math.abs(now() - issued) > HOUR_MS) return refusal(403, 'ExpiredProviderToken')
    if (before && before.token !== token && now() - before.at < RENEWED_AFTER_MS)
      return refusal(429, 'TooManyProviderTokenUpdates')
    if (before?.token !== token) shown.set(session, { token, issued, at: now() })
    const topic = headers['apns-topic']
    if (topic === undefined) return refusal(400, 'MissingTopic')
    return topics.includes(String(topic)) ? undefined : refusal(400, 'TopicDisallowed')
  }

  const answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, body: string): void => {
    const token = /^\/3\/device\/([^/]*)$/.exec(String(headers[':path']))?.[1]
    const fault =
      checkRequest(headers, token, body) ?? checkSender(stream.session as ServerHttp2Session, headers)
    const [scripted] = [...(scripts.get(token ?? '')?.splice(0, 1) ?? []), ...takeAny(scripts, fault)]
    const gone = unregistered.get(token ?? '')
    const outcome =
      fault ??
      scripted ??
      (gone === undefined ? undefined : { status: 410, reason: 'Unregistered', timestamp: gone })
    if (outcome === 'silence') return
    if (outcome === 'reset') {
      stream.close(8) // CANCEL (RFC 9113, 7)
      return
    }
    const id = String(headers['apns-id'] ?? randomUUID())
    if (outcome) {
      const { status, ...said } = outcome
      if (refused.length < remembered) refused.push(outcome.reason)
      stream.respond({ ':status': status, 'apns-id': id, 'content-type': 'application/json' })
      stream.end(JSON.stringify(said))
      return
    }
    const push = { token: token!, topic: String(headers['apns-topic'] ?? '') }
    if (pushes.length < remembered) pushes.push(push)
    stream.respond({ ':status': 200, 'apns-id': id })
    stream.end()
    for (const listener of listeners) listener(push)
  }

  server.on('session', (session) => {
    connections += 1
    sessions.add(session)
    session.on('error', () => {}) // the client has disconnected
    session.on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream, headers) => {
    let body = ''
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => {
      body = (body + chunk).slice(0, MAX_PAYLOAD + 1)
    })
    stream.on('error', () => {}) // the client has disconnected
    stream.on('end', () => answer(stream, headers, body))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://${tls ? 'localhost' : '127.0.0.1'}:${taken}`,
    pushes,
    refused,
    get connections() {
      return connections
    },
    script: (answers, token = ANY) => void scripts.set(token, [...(scripts.get(token) ?? []), ...answers]),
    unregister: (token, at) => void unregistered.set(token, at),
    onPush: (listener) => void listeners.push(listener),
    goAway: () => {
      for (const session of sessions) session.close()
    },
    disconnect: () => {
      for (const session of sessions) session.destroy()
    },
    close: async () => {
      for (const session of sessions) session.destroy()
      server.close()
      if (server.listening) await once(server, 'close')
    },
  }
}

const ANY = '*'

function takeAny(scripts: Map<string, Scripted[]>, fault: PushRefusal | undefined): Scripted[] {
  return fault ? [] : (scripts.get(ANY)?.splice(0, 1) ?? [])
}

function checkRequest(
  headers: IncomingHttpHeaders,
  token: string | undefined,
  body: string,
): PushRefusal | undefined {
  const header = (name: string) => (headers[name] === undefined ? undefined : String(headers[name]))
  if (headers[':method'] !== 'POST') return refusal(405, 'MethodNotAllowed')
  if (token === undefined) return refusal(404, 'BadPath')
  if (token === '') return refusal(400, 'MissingDeviceToken')
  if (!/^([0-9a-f]{2}){32,100}$/i.test(token)) return refusal(400, 'BadDeviceToken')
  if (!UUID.test(header('apns-id') ?? randomUUID())) return refusal(400, 'BadMessageId')
  if (!/^\d+$/.test(header('apns-expiration') ?? '0')) return refusal(400, 'BadExpirationDate')
  if (!['1', '5', '10'].includes(header('apns-priority') ?? '10')) return refusal(400, 'BadPriority')
  if (Buffer.byteLength(header('apns-collapse-id') ?? '') > 64) return refusal(400, 'BadCollapseId')
  if (!PUSH_TYPES.has(header('apns-push-type') ?? 'alert')) return refusal(400, 'InvalidPushType')
  if (Buffer.byteLength(body) > MAX_PAYLOAD) return refusal(413, 'PayloadTooLarge')
  return isObject(body) ? undefined : refusal(400, 'PayloadEmpty')
}

const PUSH_TYPES = new Set(
  'alert background location voip complication fileprovider mdm liveactivity pushtotalk'.split(' '),
)

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Returns the topic of the client certificate (its UID), if the configured authority signed it. */
function topicOfCertificate(socket: TLSSocket): string | undefined {
  const { subject } = socket.getPeerCertificate() ?? {}
  if (!socket.authorized || !subject) return undefined
  return (subject as unknown as Record<string, string | undefined>).UID
}

/** Returns the time of issue in milliseconds; undefined if no known key signed the token. */
function readToken(token: string, keys: NonNullable<ApplePushOptions['keys']>): number | undefined {
  const [header = '', claims = '', signature = ''] = token.split('.')
  try {
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const { iss, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const known = keys[kid]
    if (alg !== 'ES256' || !known || known.teamId !== iss || !Number.isInteger(iat)) return undefined
    const proof = { key: known.key, dsaEncoding: 'ieee-p1363' } as const
    const text = Buffer.from(`${header}.${claims}`)
    return verify('sha256', text, proof, Buffer.from(signature, 'base64url')) ? iat * 1000 : undefined
  } catch {
    return undefined // not a JWT
  }
}

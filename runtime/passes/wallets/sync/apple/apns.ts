/** Notifies devices of changed passes over APNs (Apple, "Sending notification requests to APNs"). */
import { createProviderTokens, type ProviderKey } from './provider-token.ts'
import { type ApnsAnswer, type ApnsSessionOptions, openSession, Unreachable } from './session.ts'

export interface ApnsOptions extends Pick<ApnsSessionOptions, 'url'> {
  /** The pass type identifier. */
  readonly topic: string
  /** Authenticates with a provider token, or with the client certificate of the connection. */
  readonly auth: { readonly provider: ProviderKey } | { readonly tls: NonNullable<ApnsSessionOptions['tls']> }
  /** PEM certificates to trust instead of the default roots. */
  readonly ca?: string | undefined
  /** Machine time, milliseconds since the epoch. */
  readonly now: () => number
  readonly timeoutMs?: number
  readonly streams?: number
}

export type Pushed =
  | { readonly kind: 'sent' }
  /** The push token is no longer valid; `since` is the time that Apple reports, in milliseconds of machine time. */
  | { readonly kind: 'gone'; readonly since?: number }
  /** A later attempt may succeed. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** All other pushes would fail too: Apple is unreachable or refuses the sender. */
  | { readonly kind: 'stopped'; readonly reason: string }

export interface Apns {
  /** Sends a push. Never rejects. @param token device token in hexadecimal. */
  push(token: string): Promise<Pushed>
  close(): void
}

const TIMEOUT_MS = 10_000
const STREAMS = 500

/** How long Apple stores a push for a device that is offline. Apple stores only the last one. */
const KEPT_S = 30 * 24 * 3600

export function createApns(options: ApnsOptions): Apns {
  const { url, topic, auth, ca, now, timeoutMs = TIMEOUT_MS, streams = STREAMS } = options
  const own = 'tls' in auth ? auth.tls : {}
  const session = openSession({ url, tls: { ...own, ...(ca && { ca }) }, timeoutMs, streams })
  const tokens = 'provider' in auth ? createProviderTokens(auth.provider, now) : undefined

  const post = (token: string): Promise<ApnsAnswer> =>
    session.request(
      {
        ':method': 'POST',
        ':path': `/3/device/${token}`,
        'apns-topic': topic,
        'apns-expiration': String(Math.floor(now() / 1000) + KEPT_S),
        ...(tokens && { authorization: `bearer ${tokens.current()}` }),
      },
      '{}', // the push is empty: the device then asks the web service what changed
    )
  return {
    async push(token) {
      try {
        const pushed = readAnswer(await post(token))
        const isExpired = pushed.kind === 'stopped' && pushed.reason === EXPIRED
        return isExpired && tokens?.renew() ? readAnswer(await post(token)) : pushed
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        return { kind: error instanceof Unreachable ? 'stopped' : 'failed', reason }
      }
    },
    close: session.close,
  }
}

const EXPIRED = 'ExpiredProviderToken'

/**
 * APNs reasons that concern the sender or the topic, so every push would fail. An operator must fix them; the pushes
 * stay in the queue.
 */
const STOPS = new Set([
  'BadCertificate',
  'BadCertificateEnvironment',
  EXPIRED,
  'Forbidden',
  'InvalidProviderToken',
  'MissingProviderToken',
  'UnrelatedKeyIdInToken',
  'BadEnvironmentKeyIdInToken',
  'TooManyProviderTokenUpdates',
  'BadTopic',
  'MissingTopic',
  'TopicDisallowed',
  'DeviceTokenNotForTopic',
  'Shutdown',
])

/** Interprets an APNs response (Apple, "Handling notification responses from APNs"). */
export function readAnswer({ status, body }: Pick<ApnsAnswer, 'status' | 'body'>): Pushed {
  if (status === 200) return { kind: 'sent' }
  const { reason, timestamp } = readBody(body)
  if (status === 410) return { kind: 'gone', ...(timestamp !== undefined && { since: timestamp }) }
  if (reason === 'BadDeviceToken') return { kind: 'gone' }
  const said = reason ?? `status ${status}`
  return { kind: status === 403 || STOPS.has(said) ? 'stopped' : 'failed', reason: said }
}

function readBody(text: string): { readonly reason?: string; readonly timestamp?: number } {
  try {
    const { reason, timestamp } = JSON.parse(text) as Record<string, unknown>
    return {
      ...(typeof reason === 'string' && { reason }),
      ...(typeof timestamp === 'number' && { timestamp }),
    }
  } catch {
    return {} // the body is not from APNs; the caller uses the status
  }
}

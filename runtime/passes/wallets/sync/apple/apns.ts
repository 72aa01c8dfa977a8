/** Tells devices over Apple's push service that passes have changed (Apple, "Sending notification requests to APNs"). */
import { createProviderTokens, type ProviderKey } from './provider-token.ts'
import { type ApnsAnswer, type ApnsSessionOptions, openSession, Unreachable } from './session.ts'

export interface ApnsOptions extends Pick<ApnsSessionOptions, 'url'> {
  /** The pass type identifier. */
  readonly topic: string
  /** Proves who sends by a token; or by the certificate of the connection. */
  readonly auth: { readonly provider: ProviderKey } | { readonly tls: NonNullable<ApnsSessionOptions['tls']> }
  /** Certificates (PEM) to trust instead of the usual roots. */
  readonly ca?: string | undefined
  /** Machine time, milliseconds since the epoch. */
  readonly now: () => number
  readonly timeoutMs?: number
  readonly streams?: number
}

/** What became of a push. */
export type Pushed =
  | { readonly kind: 'sent' }
  /** The push token is none any more; `since` when, machine time in milliseconds, where Apple says so. */
  | { readonly kind: 'gone'; readonly since?: number }
  /** Another attempt may succeed. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** So will be all others for now: nobody answers, or who sends is refused. */
  | { readonly kind: 'stopped'; readonly reason: string }

export interface Apns {
  /** Never rejects. @param token of the device, hexadecimal. */
  push(token: string): Promise<Pushed>
  close(): void
}

const TIMEOUT_MS = 10_000
const STREAMS = 500

/** Apple keeps a push for a device that is off for so long; only the last one counts. */
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
      '{}', // the device then asks what is new
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
 * Refusals that concern all pushes alike, by their reasons: something is wrong with who sends or with the topic, which an
 * operator has to mend. Nothing is given up for them.
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

/** What Apple's answer means ("Handling notification responses from APNs"). */
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
    return {} // an answer that is not Apple's: its status has to do
  }
}

/** Forwards an event to a local address, in the form of a webhook delivery. */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { testHeaders as sign_2025_06_01 } from '../../generated/client/src/2025-06-01/index.ts'
import { testHeaders as sign_2025_11_01 } from '../../generated/client/src/2025-11-01/index.ts'
import { testHeaders as sign_2026_02_01 } from '../../generated/client/src/2026-02-01/index.ts'
import { testHeaders } from '../../generated/client/src/2026-05-19/index.ts'
import { reasonOf } from './terminal/reasons.ts'

/** The event members that are used. The body is forwarded unchanged. */
export interface ForwardedEvent {
  readonly id: string
  readonly type: string
  readonly version: string
  readonly created: string
}

/** The response of the local address, or the reason why there is none. */
export type ForwardResult =
  | { readonly status: number; readonly duration_ms: number }
  | { readonly error: string; readonly duration_ms: number }

export interface Forwarding {
  readonly to: URL
  readonly secret: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Read at most this many bytes of a response, as real deliveries do. */
const MAX_BYTES = 65_536

/** Signing functions for older API versions, which use different header names. The newest version uses `testHeaders`. */
const OLDER: Readonly<Record<string, typeof testHeaders>> = {
  '2025-06-01': sign_2025_06_01,
  '2025-11-01': sign_2025_11_01,
  '2026-02-01': sign_2026_02_01,
}

/** Sends the event and returns the result. Rejects only with the signal's reason. */
export async function forwardEvent(
  event: ForwardedEvent,
  body: string,
  { to, secret, timeoutMs, signal }: Forwarding,
): Promise<ForwardResult> {
  const startedAt = performance.now()
  const duration = () => ({ duration_ms: Math.round(performance.now() - startedAt) })
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const headers = await headersOf(event, body, secret)
    const status = await post(to, headers, body, AbortSignal.any([signal, timeout]))
    return { status, ...duration() }
  } catch (error) {
    signal.throwIfAborted()
    const reason = timeout.aborted ? `no response within ${timeoutMs / 1000} s` : reasonOf(error)
    return { error: reason, ...duration() }
  }
}

/** Returns the delivery headers, with the names that the event's API version uses. */
export async function headersOf(
  { id, version }: Pick<ForwardedEvent, 'id' | 'version'>,
  body: string,
  secret: string,
): Promise<Record<string, string>> {
  const sign = OLDER[version] ?? testHeaders
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'User-Agent': 'svc-webhooks/1',
    'Accept-Encoding': 'identity',
    ...(await sign(body, secret)),
    'Service-Event-Id': id,
    'Service-Delivery-Attempt': '1',
  }
}

/**
 * Sends the request without following redirects. Returns the status once the response is complete or the size limit is
 * reached.
 */
function post(to: URL, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<number> {
  const open = to.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    // Use a new connection for each event: the server could close a kept-alive connection just when it is used again.
    const request = open(to, { method: 'POST', headers, signal, agent: false })
    request.on('error', reject)
    request.on('response', (response) => {
      const done = () => resolve(response.statusCode ?? 0)
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes < MAX_BYTES) return
        done()
        request.destroy()
      })
      response.on('end', done)
      response.on('error', reject)
    })
    request.end(body)
  })
}

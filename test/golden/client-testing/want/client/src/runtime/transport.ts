/** Sends a request: each attempt has a timeout and is retried if that is safe. */
import type { RetryClock } from './clock.ts'
import { ClientError, ConnectionError, TimeoutError } from './errors.ts'
import { type AttemptOutcome, readRetryAfter, retryDelay } from './retry.ts'

/** Statuses whose responses cannot have a body (Fetch standard, "null body status"). */
const BODYLESS = new Set([101, 204, 205, 304])

/** A completed attempt of a call. */
export interface Attempt {
  readonly method: string
  readonly url: string
  /** 1 for the first attempt. */
  readonly attempt: number
  /** Time until the last byte of the response, in milliseconds. */
  readonly durationMs: number
  /** Absent if no response arrived; `error` then contains the reason. */
  readonly status?: number
  readonly headers?: Headers
  readonly error?: ClientError
  /** Delay before the next attempt in milliseconds; absent after the last one. */
  readonly retryInMs?: number | undefined
}

export interface Transport {
  readonly fetch: (request: Request, init: RequestInit) => Promise<Response>
  readonly clock: RetryClock
  /** Timeout of one attempt in milliseconds, until the last byte of the body. */
  readonly timeoutMs: number
  readonly maxRetries: number
  /** Whether the request has an idempotency key, so that it is safe to repeat. */
  readonly keyed: boolean
  /** Whether the body is returned as a stream. The timeout then covers only the status and headers. */
  readonly streamed: boolean
  readonly signal: AbortSignal | undefined
  /** Reads the retry delay from an error body, in milliseconds. */
  readonly wishOf: (body: string) => number | undefined
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined
}

/**
 * Sends a request, with retries.
 *
 * @returns the last response. Its body is in memory, unless it is a stream.
 * @throws ConnectionError or TimeoutError if the last attempt got no response; the signal's reason after an abort.
 */
export async function send(request: Request, transport: Transport): Promise<Response> {
  const { clock, maxRetries, signal } = transport
  for (let retries = 0; ; retries++) {
    const started = clock.now()
    const result = await attempt(request.clone(), transport)
    const durationMs = clock.now() - started
    const outcome = await check(request, result, transport)
    const delay = outcome && retries < maxRetries ? retryDelay(outcome, retries, clock) : undefined
    const { method, url } = request
    const end =
      result instanceof ClientError ? { error: result } : { status: result.status, headers: result.headers }
    transport.onAttempt?.({ method, url, attempt: retries + 1, durationMs, ...end, retryInMs: delay })
    if (delay === undefined) {
      if (result instanceof ClientError) throw result
      return result
    }
    await clock.sleep(delay, signal)
  }
}

async function attempt(request: Request, transport: Transport): Promise<Response | ClientError> {
  const { fetch, timeoutMs, signal, streamed } = transport
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  const either = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
  try {
    const response = await fetch(request, { signal: either })
    if (streamed && response.ok) return response
    const bytes = await response.arrayBuffer()
    const { status, statusText, headers } = response
    return new Response(BODYLESS.has(status) ? null : bytes, { status, statusText, headers })
  } catch (cause) {
    signal?.throwIfAborted()
    if (timeout.signal.aborted) return new TimeoutError(timeoutMs)
    return new ConnectionError(`${request.method} ${request.url} got no response`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Classifies a result for the retry decision. @returns undefined if the attempt succeeded. */
async function check(
  request: Request,
  result: Response | ClientError,
  { clock, keyed, wishOf }: Transport,
): Promise<AttemptOutcome | undefined> {
  const { method } = request
  if (result instanceof ClientError) return { method, keyed }
  const { ok, status, headers } = result
  if (ok) return undefined
  const wish = wishOf(await result.clone().text())
  const retryAfterMs = wish ?? readRetryAfter(headers.get('Retry-After'), clock.now())
  return { method, keyed, status, retryAfterMs }
}

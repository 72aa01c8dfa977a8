/** One request over the wire: attempts under a timeout, retried as far as that is safe. */
import type { RetryClock } from './clock.ts'
import { ClientError, ConnectionError, TimeoutError } from './errors.ts'
import { type AttemptOutcome, readRetryAfter, retryDelay } from './retry.ts'

/** Statuses whose responses cannot have a body (Fetch standard, "null body status"). */
const BODYLESS = new Set([101, 204, 205, 304])

/** One attempt of a call, after its end. */
export interface Attempt {
  readonly method: string
  readonly url: string
  /** 1 for the first. */
  readonly attempt: number
  /** From its start to the last byte of its answer, in milliseconds. */
  readonly durationMs: number
  /** Absent when no answer arrived; `error` then says why. */
  readonly status?: number
  readonly headers?: Headers
  readonly error?: ClientError
  /** The pause until the next attempt, in milliseconds; absent after the last one. */
  readonly retryInMs?: number | undefined
}

export interface Transport {
  readonly fetch: typeof globalThis.fetch
  readonly clock: RetryClock
  /** For one attempt, from its start to the last byte of its body. */
  readonly timeoutMs: number
  readonly maxRetries: number
  /** Whether repeating the request cannot repeat its effect. */
  readonly keyed: boolean
  /** Hand the body on as it arrives; the timeout then ends with the head. */
  readonly streamed: boolean
  readonly signal: AbortSignal | undefined
  /** The wait that an error body asks for, in milliseconds. */
  readonly wishOf: (body: string) => number | undefined
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined
}

/**
 * Sends a request until it is answered for good.
 * @returns the last answer, its body read (but for a stream).
 * @throws ConnectionError or TimeoutError when no attempt was answered; the signal's reason after an abort.
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
  // A method call would give a browser's fetch the wrong `this`.
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
    return new ConnectionError(`${request.method} ${request.url} was not answered`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** @returns undefined for a success. */
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

/** Reads error responses. */
import { type Refusal, type ResponseError, refuse } from './errors.ts'
import { readRetryAfter } from './retry.ts'
import type { Service, Wire } from './service.ts'

/** Creates the error to throw for an error response. */
export function refusalOf(
  { status, headers }: Response,
  body: unknown,
  { wire, errors }: Service,
  now: number,
): ResponseError {
  const error = errorOf(body, wire)
  const refusal: Refusal = {
    status,
    headers,
    body,
    error,
    requestId: headers.get(wire.requestIdHeader) ?? undefined,
    retryAfterMs: waitOf(error, wire) ?? readRetryAfter(headers.get('Retry-After'), now),
  }
  return refuse(refusal, errors)
}

/**
 * Reads the retry delay from an error body, in milliseconds. It is more precise than `Retry-After`, which has seconds.
 */
export function wishOf(body: string, wire: Wire): number | undefined {
  try {
    return waitOf(errorOf(JSON.parse(body), wire), wire)
  } catch {
    // The response may be HTML from a proxy. The caller then uses the Retry-After header.
    return undefined
  }
}

function errorOf(body: unknown, { error: { envelope } }: Wire): Readonly<Record<string, unknown>> {
  const inside = isObject(body) ? body[envelope] : undefined
  return isObject(inside) ? inside : {}
}

function waitOf(error: Readonly<Record<string, unknown>>, wire: Wire): number | undefined {
  const wait = error[wire.error.retryAfterMs]
  return typeof wait === 'number' && wait >= 0 ? wait : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'

/** Each type has one status, except `api_error` (500, 501) and `idempotency_error` (409, 422). */
export type ErrorType = components['schemas']['ErrorType']
export type ErrorCode = components['schemas']['ErrorCode']

export interface ErrorParts {
  readonly param?: string
  readonly details?: readonly Detail[]
  readonly retryAfterMs?: number
  /** Additional members of the error object. */
  readonly extras?: Readonly<Record<string, string>>
  /** Response headers; names and values alternate. */
  readonly headers?: readonly string[]
  readonly isFree?: boolean
  /** Whether the details name fields in the caller's version, not in the canonical version. */
  readonly asSent?: boolean
}

/** An error response of the contract. The caller sees its message. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly type: ErrorType
  readonly code: ErrorCode
  readonly parts: ErrorParts

  constructor(status: number, type: ErrorType, code: ErrorCode, message: string, parts: ErrorParts = {}) {
    super(message)
    this.status = status
    this.type = type
    this.code = code
    this.parts = parts
  }
}

/** An error in the form of the API. */
export interface ErrorBody {
  readonly type: ErrorType
  readonly code: ErrorCode
  readonly message: string
  readonly param?: string
  readonly details?: Detail[]
  readonly retry_after_ms?: number
  readonly request_id: string
}

/** Returns an error in the form of the API, without `doc_url`, which depends on the version of the reader. */
export function describeError(error: ApiError, requestId: string): ErrorBody {
  const { param, details, retryAfterMs, extras } = error.parts
  return {
    type: error.type,
    code: error.code,
    message: error.message,
    ...(param === undefined ? {} : { param }),
    ...(details === undefined ? {} : { details: [...details] }),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...extras,
    request_id: requestId,
  }
}

/** The stored error of a batch item, which `wordResults` translates for each version. */
export interface ItemError extends ErrorBody {
  readonly as_sent?: true
  readonly doc_url: string
}

/** Describes the error of a batch item. `wordResults` translates it and sets `doc_url` when the answer is sent. */
export function describeItemError(error: ApiError, requestId: string): ItemError {
  return {
    ...describeError(error, requestId),
    ...(error.parts.asSent ? { as_sent: true as const } : {}),
    doc_url: '',
  }
}

export function invalidParameter(code: ErrorCode, param: string, message: string): ApiError {
  return new ApiError(400, 'invalid_parameter', code, message, { param })
}

export function malformedJson(message: string): ApiError {
  return new ApiError(400, 'invalid_parameter', 'malformed_json', message)
}

/** @param challenge value of `WWW-Authenticate` (RFC 6750, section 3). */
export function unauthenticated(code: ErrorCode, message: string, challenge = 'Bearer'): ApiError {
  return new ApiError(401, 'authentication_error', code, message, {
    headers: ['WWW-Authenticate', challenge],
  })
}

export function forbidden(
  code: ErrorCode,
  message: string,
  extras?: Readonly<Record<string, string>>,
  headers?: readonly string[],
): ApiError {
  return new ApiError(403, 'permission_error', code, message, {
    ...(extras && { extras }),
    ...(headers && { headers }),
  })
}

/** Returns the same error whether the object does not exist or the caller must not know that it does. */
export function notFound(message = 'There is no such object.'): ApiError {
  return new ApiError(404, 'not_found', 'not_found', message)
}

export function invalidState(message: string): ApiError {
  return new ApiError(409, 'conflict', 'invalid_state', message)
}

export function insufficientBalance(message: string): ApiError {
  return new ApiError(409, 'conflict', 'insufficient_balance', message)
}

export const MAX_DETAILS = 50

/** Returns the error for an invalid body. `faults` must not be empty; the details hold the first 50. */
export function validationFailed(
  faults: readonly Detail[],
  parts: Pick<ErrorParts, 'asSent'> = {},
): ApiError {
  const details = faults.slice(0, MAX_DETAILS).map(({ field, issue }) => ({ field, issue }))
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  const message = `The request body is not valid${sayFirst(details)}${more}.`
  return new ApiError(422, 'invalid_request', 'validation_failed', message, { ...parts, details })
}

/** Returns the part of the message that describes the first fault. */
function sayFirst([first]: readonly Detail[]): string {
  return first ? `: ${first.field === '' ? 'it' : first.field} ${first.issue}` : ''
}

/** Returns the error with its fields renamed, in its details and in its message. */
export function renameFields<E extends ErrorBody>(error: E, rename: (field: string) => string): E {
  if (!error.details) return error
  const details = error.details.map((detail) => ({ ...detail, field: rename(detail.field) }))
  const message = error.message.replace(sayFirst(error.details), () => sayFirst(details))
  return { ...error, message, details }
}

/** Returns the error with its parameter renamed, also at the beginning of its message. */
export function renameParameter<E extends ErrorBody>(error: E, names: Readonly<Record<string, string>>): E {
  const { param, message } = error
  const name = param === undefined || !Object.hasOwn(names, param) ? undefined : names[param]
  if (param === undefined || name === undefined) return error
  const worded = message.startsWith(`${param} `) ? `${name}${message.slice(param.length)}` : message
  return { ...error, param: name, message: worded }
}

/** Returns the error for an exceeded rate limit. After `retryAfterMs`, a request can succeed. */
export function rateLimited(message: string, retryAfterMs: number): ApiError {
  return new ApiError(429, 'rate_limited', 'tenant_limit', message, {
    retryAfterMs,
    headers: ['Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000)))],
  })
}

/** Returns the error for a dependency that is temporarily unavailable. */
export function unavailable(
  message = 'The service is temporarily unavailable. Try again in a moment.',
  parts: Pick<ErrorParts, 'isFree'> = {},
): ApiError {
  return new ApiError(503, 'unavailable', 'unavailable', message, {
    retryAfterMs: 1000,
    headers: ['Retry-After', '1'],
    ...parts,
  })
}

/** Returns the error for a fault of the service. The cause is only in the log. */
export function internalError(): ApiError {
  return new ApiError(
    500,
    'api_error',
    'internal_error',
    'An internal error occurred. If it persists, contact support with the request_id.',
  )
}

/** Throws the error for an operation that the document describes and the service does not implement. */
export function notImplemented(message = 'This operation is not available yet.'): never {
  throw new ApiError(501, 'api_error', 'not_implemented', message)
}

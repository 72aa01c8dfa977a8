import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'

/** Each type has one status; `api_error` for 500 and 501, `idempotency_error` for 409 and 422. */
export type ErrorType = components['schemas']['ErrorType']
export type ErrorCode = components['schemas']['ErrorCode']

export interface ErrorParts {
  readonly param?: string
  readonly details?: readonly Detail[]
  readonly retryAfterMs?: number
  /** Named members of the error object beside the common ones. */
  readonly extras?: Readonly<Record<string, string>>
  /** Names and values in turn. */
  readonly headers?: readonly string[]
  /** The refusal costs no token. */
  readonly isFree?: boolean
  /** The details name fields of the body as it was sent, not as the newest version does. */
  readonly asSent?: boolean
}

/** An answer that is not a success, in the shape of the contract. Its message reaches the caller. */
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

/** An error as the interface writes it. */
export interface ErrorBody {
  readonly type: ErrorType
  readonly code: ErrorCode
  readonly message: string
  readonly param?: string
  readonly details?: Detail[]
  readonly retry_after_ms?: number
  readonly request_id: string
}

/** An error as the interface writes it, but for `doc_url`, which depends on the version that reads it. */
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

/** What a batch answers for a failed item until it is worded for a version, and what is stored. */
export interface ItemError extends ErrorBody {
  readonly as_sent?: true
  readonly doc_url: string
}

/** An item's error, to be worded by `wordResults` for each version that reads it; `doc_url` is filled in there too. */
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

/** @param challenge what `WWW-Authenticate` says (RFC 6750, 3). */
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

/** Nothing there, or nothing that this caller may know of: the two read the same. */
export function notFound(message = 'There is no such object.'): ApiError {
  return new ApiError(404, 'not_found', 'not_found', message)
}

export function invalidState(message: string): ApiError {
  return new ApiError(409, 'conflict', 'invalid_state', message)
}

export function insufficientBalance(message: string): ApiError {
  return new ApiError(409, 'conflict', 'insufficient_balance', message)
}

/** The most entries that an error's `details` hold. */
export const MAX_DETAILS = 50

/** A body that does not fit. At least one fault; those beyond fifty are left out. */
export function validationFailed(
  faults: readonly Detail[],
  parts: Pick<ErrorParts, 'asSent'> = {},
): ApiError {
  const details = faults.slice(0, MAX_DETAILS).map(({ field, issue }) => ({ field, issue }))
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  const message = `The request body is not valid${sayFirst(details)}${more}.`
  return new ApiError(422, 'invalid_request', 'validation_failed', message, { ...parts, details })
}

/** What the message of a body that does not fit says of its first fault. */
function sayFirst([first]: readonly Detail[]): string {
  return first ? `: ${first.field === '' ? 'it' : first.field} ${first.issue}` : ''
}

/** The same error with its fields named otherwise, in its details and in its message. */
export function renameFields<E extends ErrorBody>(error: E, rename: (field: string) => string): E {
  if (!error.details) return error
  const details = error.details.map((detail) => ({ ...detail, field: rename(detail.field) }))
  const message = error.message.replace(sayFirst(error.details), () => sayFirst(details))
  return { ...error, message, details }
}

/** The same error with its parameter named otherwise, also where its message begins with it. */
export function renameParameter<E extends ErrorBody>(error: E, names: Readonly<Record<string, string>>): E {
  const { param, message } = error
  const name = param === undefined || !Object.hasOwn(names, param) ? undefined : names[param]
  if (param === undefined || name === undefined) return error
  const worded = message.startsWith(`${param} `) ? `${name}${message.slice(param.length)}` : message
  return { ...error, param: name, message: worded }
}

/** Too much at once. `retryAfterMs` suffices: a request after it finds what it needs. */
export function rateLimited(message: string, retryAfterMs: number): ApiError {
  return new ApiError(429, 'rate_limited', 'tenant_limit', message, {
    retryAfterMs,
    headers: ['Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000)))],
  })
}

/** Something that the service needs is unavailable for the moment. */
export function unavailable(
  message = 'The service cannot answer at the moment; try again shortly.',
  parts: Pick<ErrorParts, 'isFree'> = {},
): ApiError {
  return new ApiError(503, 'unavailable', 'unavailable', message, {
    retryAfterMs: 1000,
    headers: ['Retry-After', '1'],
    ...parts,
  })
}

/** A fault of the service; what it was is in the log only. */
export function internalError(): ApiError {
  return new ApiError(500, 'api_error', 'internal_error', 'Something went wrong on our side.')
}

/** Throws: an operation that is described but not built answers so. */
export function notImplemented(message = 'This operation is not available yet.'): never {
  throw new ApiError(501, 'api_error', 'not_implemented', message)
}

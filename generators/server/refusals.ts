/** Why a request is refused before its handler runs, and how handlers answer with an error. */
import type { Detail } from '../runtime/contract.ts'

export type RefusalCode =
  | 'unknown_version'
  | 'version_sunset'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_implemented'
  | 'invalid_parameter'
  | 'malformed_body'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'invalid_body'
  | 'internal_error'

/** A request that the API refuses by itself. */
export class RequestRefusal extends Error {
  override readonly name = 'RequestRefusal'
  readonly status: number
  readonly code: RefusalCode
  /** The faults of the request, in the words of the caller's version. */
  readonly details: readonly Detail[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: RefusalCode,
    message: string,
    details: readonly Detail[] = [],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/**
 * An error that a handler throws to answer with it. The body has the shape of the newest version's document, and reaches the caller
 * in the caller's version.
 *
 * @example throw new ErrorReply(404, { error: 'book_not_found' })
 */
export class ErrorReply extends Error {
  override readonly name = 'ErrorReply'
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    super(`answered with ${status}`)
    this.status = status
    this.body = body
  }
}

/** A refusal as problem details (RFC 9457). */
export interface ProblemDetails {
  readonly type: 'about:blank'
  readonly title: string
  readonly status: number
  readonly code: RefusalCode
  readonly errors?: readonly Detail[]
}

/** @returns the problem details of a refusal. */
export const describeProblem = ({ status, code, message, details }: RequestRefusal): ProblemDetails => ({
  type: 'about:blank',
  title: message,
  status,
  code,
  ...(details.length > 0 && { errors: details }),
})

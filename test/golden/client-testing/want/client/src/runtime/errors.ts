/** Errors that the client throws. An aborted call rejects with the reason of its signal instead, as `fetch` does. */

/** Base class of all failures of a call, except aborts. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError'
}

/** Thrown if no response arrives: the connection is refused or reset, or it breaks while the body is read. */
export class ConnectionError extends ClientError {
  override readonly name = 'ConnectionError'
}

/** Thrown if an attempt does not receive the complete response within `timeout`. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError'
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super(`The response was not complete within ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/** Thrown if a complete response does not match the API description: it is not JSON, or the pages of a list repeat. */
export class UnexpectedAnswerError extends ClientError {
  override readonly name = 'UnexpectedAnswerError'
}

/** One problem in a request body. `field` is a path such as `fields[0].key`. */
export interface ErrorDetail {
  readonly field: string
  readonly issue: string
}

export interface Refusal {
  readonly status: number
  readonly headers: Headers
  /** The parsed body if it is JSON, otherwise its text. */
  readonly body: unknown
  /** The error object in the body; empty if the body has none, for example if a proxy has sent it. */
  readonly error: Readonly<Record<string, unknown>>
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
}

/** Thrown if the service responds with an error status. There is a subclass for each error `type`. */
export class ResponseError extends ClientError {
  override readonly name: string = 'ResponseError'
  readonly status: number
  readonly type: string | undefined
  readonly code: string | undefined
  readonly param: string | undefined
  /** The message of the service alone. */
  readonly description: string
  readonly details: readonly ErrorDetail[]
  /** Include this ID when you report the failure. */
  readonly requestId: string | undefined
  /** Page that explains the error code. */
  readonly docUrl: string | undefined
  /** Time to wait before the next attempt, in milliseconds, if the service requires one. */
  readonly retryAfterMs: number | undefined
  readonly headers: Headers
  /** The parsed body if it is JSON, otherwise its text. */
  readonly body: unknown

  constructor(refusal: Refusal) {
    const { status, error } = refusal
    super(messageOf(refusal))
    this.status = status
    this.type = text(error.type)
    this.code = text(error.code)
    this.param = text(error.param)
    this.description = descriptionOf(error)
    this.details = Array.isArray(error.details) ? error.details : []
    this.requestId = refusal.requestId
    this.docUrl = text(error.doc_url)
    this.retryAfterMs = refusal.retryAfterMs
    this.headers = refusal.headers
    this.body = refusal.body
  }
}

/** Writes `409 idempotency_key_reused: The key … (req_…)`. */
function messageOf({ status, error, requestId }: Refusal): string {
  const code = text(error.code) ?? text(error.type)
  return `${status}${code === undefined ? '' : ` ${code}`}: ${descriptionOf(error)}${requestId === undefined ? '' : ` (${requestId})`}`
}

const descriptionOf = (error: Refusal['error']): string =>
  text(error.message) ?? 'the response has no error message'

/** Error classes by error `type`. */
export type ErrorClasses = Readonly<Record<string, new (refusal: Refusal) => ResponseError>>

/**
 * Creates the error for a response. @returns an instance of the class for its type, or of `ResponseError` if the type
 * is unknown.
 */
export function refuse(refusal: Refusal, classes: ErrorClasses): ResponseError {
  const type = text(refusal.error.type)
  const Known = type !== undefined && Object.hasOwn(classes, type) ? classes[type] : undefined
  return Known ? new Known(refusal) : new ResponseError(refusal)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

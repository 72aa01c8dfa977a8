/** What the client throws. An aborted call rejects with the reason of its signal, as `fetch` does. */

/** Every failure of a call but an abort is one of these. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError'
}

/** No answer arrived: the connection was refused, reset, or broke while the body was read. */
export class ConnectionError extends ClientError {
  override readonly name = 'ConnectionError'
}

/** An attempt did not finish, to the last byte of its body, within `timeoutMs`. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError'
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super(`No complete answer within ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/** The answer came whole but is not what the document promises: not JSON, or a list that runs in a circle. */
export class UnexpectedAnswerError extends ClientError {
  override readonly name = 'UnexpectedAnswerError'
}

/** One fault of a request body: `field` reads `fields[0].key`. */
export interface ErrorDetail {
  readonly field: string
  readonly issue: string
}

/** What a refused request came back with. */
export interface Refusal {
  readonly status: number
  readonly headers: Headers
  /** The body: parsed when it is JSON, the text otherwise. */
  readonly body: unknown
  /** The error object of the body; empty when the body has none, as from a proxy in between. */
  readonly error: Readonly<Record<string, unknown>>
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
}

/** The service answered with a status beyond 2xx. Subclasses stand for the `type` of the error. */
export class ResponseError extends ClientError {
  override readonly name: string = 'ResponseError'
  readonly status: number
  readonly type: string | undefined
  readonly code: string | undefined
  readonly param: string | undefined
  readonly details: readonly ErrorDetail[]
  /** Quote it when you ask about this failure. */
  readonly requestId: string | undefined
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  readonly headers: Headers
  /** The body: parsed when it is JSON, the text otherwise. */
  readonly body: unknown

  constructor(refusal: Refusal) {
    const { status, error } = refusal
    super(text(error.message) ?? `The service answered ${status}`)
    this.status = status
    this.type = text(error.type)
    this.code = text(error.code)
    this.param = text(error.param)
    this.details = Array.isArray(error.details) ? error.details : []
    this.requestId = refusal.requestId
    this.retryAfterMs = refusal.retryAfterMs
    this.headers = refusal.headers
    this.body = refusal.body
  }
}

/** The class for each `type` of error. */
export type ErrorClasses = Readonly<Record<string, new (refusal: Refusal) => ResponseError>>

/** @returns an error of the class of its type; of `ResponseError` itself when the type is unknown. */
export function refuse(refusal: Refusal, classes: ErrorClasses): ResponseError {
  const type = text(refusal.error.type)
  const Known = type !== undefined && Object.hasOwn(classes, type) ? classes[type] : undefined
  return Known ? new Known(refusal) : new ResponseError(refusal)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

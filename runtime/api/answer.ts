import { pipeline } from 'node:stream/promises'
import { findAnswerTranslation, shownStatus } from 'dateline/runtime/answer-translation'
import { codeOf, isUnavailable, TookTooLong } from '../database/errors.ts'
import type { Allowance } from '../tenants/limits/limiter.ts'
import { runOutsideSpans } from '../tracing/span.ts'
import { freeAllowance, refusalOf, takeToken } from './capacity.ts'
import { corsHeaders } from './cors.ts'
import {
  ApiError,
  describeError,
  type ErrorBody,
  type ItemError,
  internalError,
  renameFields,
  renameParameter,
  unavailable,
} from './errors/errors.ts'
import type { ApiCall, ApiService, Exchange, WrittenReply } from './exchange.ts'
import { countTouched, translate } from './touched.ts'
import type { ApiRoute } from './version-table.ts'

const NONE: readonly string[] = []

/** An unread body of at most 64 KiB is read to its end, so that the connection can be reused. */
const MAX_DRAINED = 64 * 1024

const REPLAYED = ['Idempotency-Replayed', 'true']

/** Sends the reply in the caller's version. */
export function answer(
  exchange: Exchange,
  call: ApiCall,
  reply: WrittenReply,
  service: ApiService,
): void | Promise<void> {
  if (call.route.operation.stream) return stream(exchange, call, reply, service)
  const headers = reply.replayed ? REPLAYED : NONE
  const text =
    reply.status < 400 ? writeSuccess(call, service, reply) : writeRefusal(exchange, service, reply)
  send(exchange, call.allowance, service, statusFor(call.route, reply.status), text, headers)
}

/** Answers a CORS preflight request. It costs a token of the client address. */
export async function answerPreflight(
  exchange: Exchange,
  service: ApiService,
  headers: readonly string[],
): Promise<void> {
  const allowance = await takeToken(exchange, service)
  exchange.allowance = allowance
  if (!allowance.allowed) throw refusalOf(allowance)
  send(exchange, allowance, service, 204, undefined, headers)
}

/** Returns the status in the caller's version for a status of the canonical version. */
const statusFor = (route: ApiRoute | undefined, status: number) =>
  route ? shownStatus(route.operation, status) : status

function writeSuccess(call: ApiCall, service: ApiService, { status, body, text }: WrittenReply): string {
  const { operation } = call.route
  const { body: described } = operation
  const down = findAnswerTranslation(operation, statusFor(call.route, status))
  if (!down && !described?.each) return text ?? JSON.stringify(body)
  const whole = body ?? JSON.parse(text!)
  const worded = described?.each ? wordResults(call.route, service, whole) : whole
  if (down) return JSON.stringify(translate(call, down, worded))
  return worded === body && text !== undefined ? text : JSON.stringify(worded)
}

/**
 * Writes a stored refusal. Its field names depend on the version that reads it, and `doc_url` on the current
 * dashboard URL.
 */
function writeRefusal(exchange: Exchange, service: ApiService, { status, text }: WrittenReply): string {
  return showError(exchange, service, statusFor(exchange.route, status), JSON.parse(text!) as ErrorBody)
}

/**
 * Writes an error in the caller's version. Errors of handlers name fields as the canonical version does, so they are
 * renamed. If the operation is not known, the error has the newest form, which only adds members to the older ones.
 */
function showError(exchange: Exchange, { versions }: ApiService, status: number, error: ErrorBody): string {
  const { route, reached } = exchange
  const { downField, parameterNames } = (reached ? route?.operation : undefined) ?? {}
  const named = parameterNames ? renameParameter(error, parameterNames) : error
  const worded = downField ? renameFields(named, downField) : named
  const whole = { error: { ...worded, doc_url: versions.docUrl(error.code) } }
  const down = route && findAnswerTranslation(route.operation, status)
  return JSON.stringify(down ? translate(exchange, down, whole) : whole)
}

/** Streams an answer until either side ends it. */
async function stream(
  exchange: Exchange,
  { response, route, allowance }: ApiCall,
  { status, body }: WrittenReply,
  service: ApiService,
): Promise<void> {
  const headers = [...commonHeaders(exchange, allowance, service), 'Content-Type', 'text/event-stream']
  const shown = statusFor(route, status)
  service.traffic?.answered(exchange, shown)
  service.requestLog?.note(exchange, shown, undefined)
  countTouched(exchange, service)
  response.writeHead(shown, headers).flushHeaders()
  try {
    await runOutsideSpans(() => pipeline(body as AsyncIterable<string>, response))
  } catch (error) {
    // The client closed the stream.
    if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

/** Ends a request with an error. The caller always sees an error of the contract, never the thrown error itself. */
export function refuse(exchange: Exchange, service: ApiService, thrown: unknown): void | Promise<void> {
  const { response } = exchange
  if (response.destroyed) return
  if (response.writableEnded) {
    service.log.warn(
      { err: thrown, requestId: exchange.requestId },
      'request failed after its response was sent',
    )
    return
  }
  if (response.headersSent) {
    service.log.error(
      { err: thrown, requestId: exchange.requestId },
      'response aborted after its headers were sent',
    )
    response.destroy()
    return
  }
  const error = toApiError(exchange, service, thrown)
  const known = exchange.allowance ?? (error.parts.isFree ? freeAllowance(service) : undefined)
  if (known) return sendError(exchange, known, service, error)
  // A request that is refused before it took a token costs one too. If the bucket is empty, the caller gets 429
  // instead.
  const sendEither = (taken: Allowance) => {
    exchange.allowance = taken
    sendError(exchange, taken, service, taken.allowed ? error : refusalOf(taken))
  }
  const taken = takeToken(exchange, service)
  return taken instanceof Promise ? taken.then(sendEither) : sendEither(taken)
}

function sendError(exchange: Exchange, allowance: Allowance, service: ApiService, error: ApiError): void {
  if (exchange.response.destroyed || exchange.response.headersSent) return
  exchange.refusal = error.code
  const status = statusFor(exchange.route, error.status)
  const text = showError(exchange, service, status, describeError(error, exchange.requestId))
  send(exchange, allowance, service, status, text, error.parts.headers ?? NONE)
}

function toApiError(
  { requestId, request, path }: Exchange,
  { log, traffic }: ApiService,
  thrown: unknown,
): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof TookTooLong) {
    log.warn({ err: thrown, requestId }, 'database statement took too long')
    return unavailable('The request took too long. Try again in a moment, or request less data.')
  }
  if (isUnavailable(thrown)) {
    traffic?.databaseFailed(thrown)
    log.warn({ err: thrown, requestId }, 'database unavailable')
    return unavailable()
  }
  log.error({ err: thrown, requestId, method: request.method, path }, 'request failed')
  return internalError()
}

function send(
  exchange: Exchange,
  allowance: Allowance,
  service: ApiService,
  status: number,
  text: string | undefined,
  extra: readonly string[],
): void {
  const { response } = exchange
  const headers = [...commonHeaders(exchange, allowance, service), ...extra]
  if (leavesBodyUnread(exchange)) response.shouldKeepAlive = false
  service.traffic?.answered(exchange, status)
  service.requestLog?.note(exchange, status, text)
  countTouched(exchange, service)
  if (text === undefined) {
    response.writeHead(status, headers).end()
    return
  }
  const length = Buffer.byteLength(text)
  headers.push('Content-Type', 'application/json', 'Content-Length', String(length))
  response.writeHead(status, headers)
  // If there are as many bytes as characters, the text is ASCII and needs no encoding.
  response.end(text, length === text.length ? 'latin1' : 'utf8')
}

function commonHeaders(exchange: Exchange, allowance: Allowance, service: ApiService): string[] {
  const { requestId, answerVersion, span, injected } = exchange
  return [
    ...answerVersion.headers,
    'Request-Id',
    requestId,
    'X-RateLimit-Limit',
    String(allowance.limit),
    'X-RateLimit-Remaining',
    String(allowance.remaining),
    'X-RateLimit-Reset',
    String(allowance.reset),
    'X-RateLimit-Resource',
    allowance.resource,
    ...(span ? ['Trace-Id', span.traceId] : NONE),
    ...(injected.length > 0 ? ['Service-Injected-Fault', injected.join(', ')] : NONE),
    ...corsHeaders(exchange, service),
  ]
}

/** Returns whether to close the connection, because the unread rest of the body is too long to read to its end. */
function leavesBodyUnread({ request }: Exchange): boolean {
  if (request.complete) return false
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding !== undefined || Number(length ?? 0) > MAX_DRAINED
}

type BatchResult = { readonly status: 'succeeded' } | { readonly status: 'failed'; readonly error: ItemError }

interface BatchAnswer {
  readonly results: readonly BatchResult[]
}

/**
 * Returns the answer of a batch with the errors of failed items in the caller's version. Errors are stored in
 * canonical form, because a repeated request may use a different version. Returns the same object if no item failed.
 */
function wordResults<Answer extends BatchAnswer>(
  route: ApiRoute,
  service: ApiService,
  answer: Answer,
): Answer {
  if (!answer.results.some(({ status }) => status === 'failed')) return answer
  const results = answer.results.map((result) =>
    result.status === 'failed' ? { ...result, error: wordError(route, service, result.error) } : result,
  )
  return { ...answer, results }
}

function wordError(route: ApiRoute, { versions }: ApiService, { as_sent, ...error }: ItemError): ItemError {
  const rename = route.operation.downField
  const worded = rename && !as_sent ? renameFields(error, rename) : error
  const { param } = worded
  return {
    ...worded,
    ...(rename && param !== undefined && { param: rename(param) }),
    doc_url: versions.docUrl(error.code),
  }
}

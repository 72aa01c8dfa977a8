import { pipeline } from 'node:stream/promises'
import { findAnswerTranslation, shownStatus } from 'dateline/runtime/answer-translation'
import { codeOf, isUnavailable, TookTooLong } from '../database/errors.ts'
import type { Allowance } from '../tenants/limits/limiter.ts'
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

/** An unread body of at most so many bytes is read to its end, so that its connection can be used again. */
const WORTH_READING = 64 * 1024

const REPLAYED = ['Idempotency-Replayed', 'true']

/** The last step: the reply in the caller's version, written in one go. */
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

/** Answers a browser's question whether a page may call a path. It costs a token of the address. */
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

/** The status in the caller's version. */
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

/** A refusal that was stored: the names of its fields depend on who reads it, its `doc_url` on where the console is now. */
function writeRefusal(exchange: Exchange, service: ApiService, { status, text }: WrittenReply): string {
  return showError(exchange, service, statusFor(exchange.route, status), JSON.parse(text!) as ErrorBody)
}

/**
 * An error as the caller's version words it: what a handler refused names its fields as the newest version does. What
 * is refused before its operation is known has the newest shape, which only adds to the older ones.
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

/** An answer that goes on until either side ends it. */
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
    await pipeline(body as AsyncIterable<string>, response)
  } catch (error) {
    // The client has closed the stream.
    if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

/** Ends a request with an error. Whatever was thrown, the caller sees an error of the contract and nothing else. */
export function refuse(exchange: Exchange, service: ApiService, thrown: unknown): void | Promise<void> {
  const { response } = exchange
  if (response.destroyed) return
  if (response.writableEnded) {
    service.log.warn({ err: thrown, requestId: exchange.requestId }, 'a request failed after its answer')
    return
  }
  if (response.headersSent) {
    service.log.error({ err: thrown, requestId: exchange.requestId }, 'an answer broke off')
    response.destroy()
    return
  }
  const error = toApiError(exchange, service, thrown)
  const known = exchange.allowance ?? (error.parts.isFree ? freeAllowance(service) : undefined)
  if (known) return sendError(exchange, known, service, error)
  // What is refused before the buckets costs a token too: where the bucket is empty, the caller gets 429 instead of the error.
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
    log.warn({ err: thrown, requestId }, 'a statement took too long')
    return unavailable('This took too long; ask for less at once, or try again shortly.')
  }
  if (isUnavailable(thrown)) {
    traffic?.databaseFailed(thrown)
    log.warn({ err: thrown, requestId }, 'the database is unavailable')
    return unavailable()
  }
  log.error({ err: thrown, requestId, method: request.method, path }, 'a request failed')
  return internalError()
}

/** Writes headers and body in one go. */
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
  // As many bytes as characters: all ASCII, which needs no encoding.
  response.end(text, length === text.length ? 'latin1' : 'utf8')
}

function commonHeaders(exchange: Exchange, allowance: Allowance, service: ApiService): string[] {
  const { requestId, answerVersion } = exchange
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
    ...corsHeaders(exchange, service),
  ]
}

/** What is left of a body is read to its end before the next request: of a long one the connection is not worth it. */
function leavesBodyUnread({ request }: Exchange): boolean {
  if (request.complete) return false
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding !== undefined || Number(length ?? 0) > WORTH_READING
}

type BatchResult = { readonly status: 'succeeded' } | { readonly status: 'failed'; readonly error: ItemError }

interface BatchAnswer {
  readonly results: readonly BatchResult[]
}

/**
 * The answer of a batch with the errors of failed items as the caller's version words them. They are stored unworded,
 * because a repetition may come in another version. The same object where nothing failed.
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

/**
 * One request to one checked address, and its response. `node:http` writes the request and parses the response.
 *
 * undici was measured as an alternative: it delivered 0.5 to 1.0 times what graphile-worker does, `node:http` 0.7 to
 * 1.15 times (`npm run bench:webhooks -- --only throughput`). It also fails a request on an unrequested `100 Continue`.
 */
import http from 'node:http'
import type { RequestOptions } from 'node:https'
import { StringDecoder } from 'node:string_decoder'
import { type FailureReason, failureOf, NOT_HTTP, type Phase, timeoutIn } from './failures.ts'

/** Maximum number of bytes of a response body that are read. The status counts even if the body is longer. */
const MAX_BODY_BYTES = 65_536

/**
 * Maximum number of bytes of a response on the wire. Bounds parts that no other limit covers, such as extensions of
 * many chunks.
 */
const MAX_WIRE_BYTES = 524_288

/** Maximum number of bytes of one header block, or of all trailers. */
const MAX_HEADER_BYTES = 16_384

/** Interim responses (RFC 9110 §15.2) that are skipped. */
const MAX_INTERIM = 16

const TOO_MANY_INTERIM: FailureReason = {
  kind: 'response',
  error: 'the server sent too many interim responses',
}
const NOT_A_RESPONSE: FailureReason = {
  kind: 'response',
  error: 'the server switched protocols instead of sending a response',
}

export interface ExchangeResponse {
  readonly status: number
  /** The first 4 KiB as text, or the first 64 KiB for a GET. Invalid UTF-8 and NUL are U+FFFD. */
  readonly body: string
  readonly retryAfter?: string
  readonly cacheControl?: string
}

export interface ExchangeFailure extends FailureReason {
  /**
   * Why the server has not seen the request, if so. `stale`: a kept connection died before any byte of a response, most
   * likely because the server closed it while it was idle; `unreachable`: the address accepts no connection.
   */
  readonly unsent?: 'stale' | 'unreachable'
}

export interface ExchangeOptions extends RequestOptions {
  readonly protocol: 'http:' | 'https:'
  /** A checked IP address. No other address is dialed. */
  readonly host: string
  /** Host name that the certificate must be for. Empty: the certificate must be for the address. */
  readonly servername: string
  /** Milliseconds until the TCP connection must be open; undefined: until the deadline. */
  readonly connectMs: number | undefined
}

/**
 * Sends one request, and reads its response to its end or up to the limit. Closes the connection unless the response
 * is complete.
 *
 * @param deadline when it aborts, the request fails with a timeout.
 */
export function exchange(
  options: ExchangeOptions,
  body: string,
  deadline: AbortSignal,
): Promise<ExchangeResponse | ExchangeFailure> {
  return new Promise((resolve) => {
    if (deadline.aborted) return resolve(timeoutIn('connecting'))
    let phase: Phase = 'connecting'
    let [interim, bodyBytes, readBefore] = [0, 0, 0]
    let connecting: NodeJS.Timeout | undefined
    const chunks: Buffer[] = []
    const keptBytes = options.method === 'GET' ? MAX_BODY_BYTES : SHOWN_BYTES
    const isSecure = options.protocol === 'https:'
    const request = http.request({ ...options, maxHeaderSize: MAX_HEADER_BYTES, insecureHTTPParser: false })

    const fail = (failure: ExchangeFailure) => {
      clearTimeout(connecting)
      resolve(failure)
      request.destroy()
    }
    const failWith = (error: Error) => {
      const failure = failureOf(error, phase)
      const isStale = request.reusedSocket && request.socket?.bytesRead === readBefore
      if (phase === 'connecting') fail({ ...failure, unsent: 'unreachable' })
      else if (isStale && failure.kind === 'connection') fail({ ...failure, unsent: 'stale' })
      else fail(failure)
    }
    deadline.addEventListener('abort', () => fail(timeoutIn(phase)))

    request.on('error', failWith)
    request.on('upgrade', () => fail(NOT_A_RESPONSE))
    request.on('information', () => {
      interim += 1
      if (interim > MAX_INTERIM) fail(TOO_MANY_INTERIM)
    })
    request.on('socket', (socket) => {
      readBefore = socket.bytesRead
      if (request.reusedSocket) {
        phase = 'waiting'
        return
      }
      if (options.connectMs !== undefined) {
        connecting = setTimeout(
          () => fail({ ...timeoutIn('connecting'), unsent: 'unreachable' }),
          options.connectMs,
        )
      }
      socket.once('connect', () => {
        clearTimeout(connecting)
        phase = isSecure ? 'handshake' : 'waiting'
      })
      if (isSecure) {
        socket.once('secureConnect', () => {
          phase = 'waiting'
        })
      }
    })
    request.on('response', (response) => {
      phase = 'reading'
      // Node's parser accepts HTTP/0.9 and HTTP/2.0 too, and 101 without a protocol to change to.
      if (response.httpVersionMajor !== 1) return fail(NOT_HTTP)
      if (response.statusCode === 101) return fail(NOT_A_RESPONSE)
      const finish = () => {
        const { statusCode = 0, headers } = response
        resolve({
          status: statusCode,
          body: responseText(chunks, keptBytes),
          ...(headers['retry-after'] !== undefined && { retryAfter: headers['retry-after'] }),
          ...(headers['cache-control'] !== undefined && { cacheControl: headers['cache-control'] }),
        })
      }
      response.on('data', (chunk: Buffer) => {
        if (bodyBytes < keptBytes) chunks.push(chunk)
        bodyBytes += chunk.length
        if (bodyBytes < MAX_BODY_BYTES && response.socket.bytesRead - readBefore < MAX_WIRE_BYTES) return
        finish()
        request.destroy()
      })
      response.on('end', finish)
      response.on('error', failWith)
    })
    request.end(body)
  })
}

/** Maximum number of bytes that are kept of a response body that is only shown. */
const SHOWN_BYTES = 4096

/** PostgreSQL's `text` type cannot hold NUL. */
const NUL = '\0'
const REPLACEMENT = '\uFFFD'

/** Returns the first bytes of the body as text, without a character that the cut would split. */
function responseText(chunks: readonly Buffer[], mostBytes: number): string {
  const [first, ...others] = chunks
  if (!first) return ''
  const bytes = others.length === 0 ? first : Buffer.concat(chunks)
  const text =
    bytes.length <= mostBytes
      ? bytes.toString('utf8')
      : new StringDecoder('utf8').write(bytes.subarray(0, mostBytes))
  return text.includes(NUL) ? text.replaceAll(NUL, REPLACEMENT) : text
}

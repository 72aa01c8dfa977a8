/** The request log. Requests are recorded in memory when they are answered, and written in batches later. */

import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { isUnavailable } from '../database/errors.ts'
import type { Dropped, Exchange, RequestLog } from './exchange.ts'
import { redact, redactSecrets, redactText, sensitiveNames } from './redact.ts'
import { addRequests, type RequestToLog } from './request-log-queries.ts'
import type { Versions } from './version-table.ts'

/** Maximum number of requests of one tenant between two flushes. The others are dropped. */
export const MAX_PER_FLUSH = 100

/** Memory for recorded requests of all tenants of one environment, also while the database is unavailable. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024

/** Estimated size of a request without its body. */
const BASE_BYTES = 4096

/** Estimated bytes in memory for each byte of JSON after parsing. */
const PARSED = 4

/** Estimated size of a chunked body, whose length is unknown. */
const CHUNKED_BYTES = 64 * 1024

const FLUSH_MS = 1000

const BATCH = 250

interface NotedRequest {
  readonly exchange: Exchange
  readonly status: number
  readonly text: string | undefined
  readonly ms: number
  /** Estimated bytes in memory. */
  readonly bytes: number
}

export interface RequestLogParts {
  readonly database: Database
  readonly versions: Versions
  /** Machine time. */
  readonly now: () => number
  readonly log: Logger
  /** Milliseconds between flushes. */
  readonly flushMs?: number
  /** Maximum bytes of requests that wait to be written. */
  readonly maxWaitingBytes?: number
}

/**
 * Successful answers of this operation are not logged. A program that polls the log would fill it with its own
 * requests.
 */
const LIST_OF_THE_LOG = 'listRequestLogs'

/**
 * Creates the request log. Requests without a known key are not logged, nor those of members, which the audit log
 * has.
 */
export function createRequestLog(parts: RequestLogParts): RequestLog {
  const { database, versions, now, log, flushMs = FLUSH_MS, maxWaitingBytes = MAX_WAITING_BYTES } = parts
  let noted: NotedRequest[] = []
  let waitingBytes = 0
  const dropped = new Map<Dropped, number>()
  const drop = (why: Dropped, count = 1) => dropped.set(why, (dropped.get(why) ?? 0) + count)
  const counts = new Map<string, number>()
  let names: ReadonlySet<string> | undefined
  let running: Promise<void> = Promise.resolve()
  let unsure: readonly RequestToLog[] = []
  let unsureBytes = 0
  const forget = () => {
    waitingBytes -= unsureBytes
    unsure = []
    unsureBytes = 0
  }

  const write = async () => {
    while (unsure.length > 0 || noted.length > 0) {
      if (unsure.length === 0) {
        names ??= sensitiveNames(versions.all.map(({ document }) => document))
        const secret = names
        const batch = noted.slice(0, BATCH)
        unsure = batch.map((each) => describe(each, secret))
        unsureBytes = batch.reduce((sum, { bytes }) => sum + bytes, 0)
        noted = noted.slice(BATCH)
      }
      try {
        await addRequests(database, unsure, now())
        forget()
      } catch (error) {
        if (!isUnavailable(error)) {
          // Drop what the database rejects, or it would be sent again forever.
          drop('refused', unsure.length)
          forget()
        }
        throw error
      }
    }
  }
  const flush = () => {
    counts.clear()
    running = running.catch(() => {}).then(write) // the caller of the earlier flush got its error
    return running
  }
  const timer = setInterval(() => {
    flush().catch((err) => log.warn({ err }, 'requests not written to the request log'))
  }, flushMs).unref()
  return {
    note(exchange, status, text) {
      const { credential, member, route } = exchange
      if (!credential || member) return
      if (status === 200 && route?.operation.id === LIST_OF_THE_LOG) return
      const count = counts.get(credential.tenant.id) ?? 0
      if (count >= MAX_PER_FLUSH) return void drop('tenant')
      const bytes = weigh(exchange, text)
      if (waitingBytes + bytes > maxWaitingBytes) return void drop('full')
      counts.set(credential.tenant.id, count + 1)
      waitingBytes += bytes
      noted.push({ exchange, status, text, ms: performance.now() - exchange.beganAt, bytes })
    },
    flush,
    waitingBytes: () => waitingBytes,
    dropped,
    async stop() {
      clearInterval(timer)
      await flush().catch((err) => log.error({ err }, 'last requests not written to the request log'))
    },
  }
}

/** Estimates the bytes of memory that a recorded request occupies. */
function weigh({ request, body }: Exchange, text = ''): number {
  const length = Number(request.headers['content-length'] ?? CHUNKED_BYTES)
  return BASE_BYTES + (body === undefined ? 0 : PARSED * length) + text.length
}

function describe({ exchange, status, text, ms }: NotedRequest, names: ReadonlySet<string>): RequestToLog {
  const { request, route, credential, path, search, body } = exchange
  const mayHoldSecrets = route?.operation.extensions.sensitive === true
  return {
    space: credential!.space,
    id: exchange.requestId,
    created: exchange.now,
    method: request.method!,
    target: redactTarget(search === '' ? path : `${path}?${search}`),
    path: redactTarget(path),
    operation: route?.operation.id ?? null,
    version: exchange.answerVersion.name,
    status: String(status),
    code: exchange.refusal ?? null,
    key_id: credential!.key.id,
    address: exchange.address,
    ms: Math.round(ms * 10) / 10,
    request_body: body === undefined ? null : redact(body, names),
    response_body: text === undefined ? null : redactText(text, mayHoldSecrets, names),
    trace_id: exchange.span?.isSampled ? exchange.span.traceId : null,
  }
}

/** Maximum number of characters of a path or target that are stored, because index entries are limited in size. */
export const MAX_PATH = 500

const redactTarget = (text: string) => redactSecrets(text).slice(0, MAX_PATH)

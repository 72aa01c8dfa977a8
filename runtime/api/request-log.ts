/** The request log: noted as requests are answered, written in batches off their way. */

import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { isUnavailable } from '../database/errors.ts'
import type { Dropped, Exchange, RequestLog } from './exchange.ts'
import { redact, redactSecrets, redactText, sensitiveNames } from './redact.ts'
import { addRequests, type RequestToLog } from './request-log-queries.ts'
import type { Versions } from './version-table.ts'

/** Kept of one tenant's between two flushes; further ones are left out. */
export const MAX_PER_FLUSH = 100

/** Of all tenants and one environment, also while the database is away. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024

/** Of a request without bodies: its exchange, its headers. */
const BYTES_OF_ONE = 4096

/** What parsed JSON takes of memory for each of its bytes. */
const PARSED = 4

/** Of a body in chunks, whose size nobody has said. */
const UNSAID_BYTES = 64 * 1024

const FLUSH_MS = 1000

/** Rows of one statement. */
const BATCH = 250

interface NotedRequest {
  readonly exchange: Exchange
  readonly status: number
  readonly text: string | undefined
  readonly ms: number
  /** About what it holds of memory. */
  readonly bytes: number
}

export interface RequestLogParts {
  readonly database: Database
  readonly versions: Versions
  /** Machine time. */
  readonly now: () => number
  readonly log: Logger
  /** Between flushes. */
  readonly flushMs?: number
  /** Of what waits to be written. */
  readonly maxWaitingBytes?: number
}

/** Its successful answers are not noted: a program that follows the log would fill it with its own requests. */
const LIST_OF_THE_LOG = 'listRequestLogs'

/** Requests without a known key, and those that members make on pages, are not noted: the audit log has the latter. */
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
          // What the database does not take is not sent for ever.
          drop('refused', unsure.length)
          forget()
        }
        throw error
      }
    }
  }
  const flush = () => {
    counts.clear()
    running = running.catch(() => {}).then(write) // who asked before has heard of it
    return running
  }
  const timer = setInterval(() => {
    flush().catch((err) => log.warn({ err }, 'requests could not be written to their log'))
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
      await flush().catch((err) => log.error({ err }, 'the requests of the last second are not in their log'))
    },
  }
}

/** About the bytes of memory that a request keeps while it is noted. */
function weigh({ request, body }: Exchange, text = ''): number {
  const said = Number(request.headers['content-length'] ?? UNSAID_BYTES)
  return BYTES_OF_ONE + (body === undefined ? 0 : PARSED * said) + text.length
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
  }
}

/** Characters of a path or a target that are kept: indexes take no more. */
export const MAX_PATH = 500

const redactTarget = (text: string) => redactSecrets(text).slice(0, MAX_PATH)

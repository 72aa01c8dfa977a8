/** The request log: noted as requests are answered, written in batches off their way. */
import type { Logger } from 'pino'
import type { Database } from '../platform/database/database.ts'
import { isUnavailable } from '../platform/database/errors.ts'
import type { Exchange } from './exchange.ts'
import { redact, redactText, sensitiveNames } from './redact.ts'
import { addRequests, type RequestToLog } from './request-log-queries.ts'
import type { Versions } from './routing.ts'

export interface RequestLog {
  /** A request is being answered. @param text the answer's body; undefined where there is none. */
  note(exchange: Exchange, status: number, text: string | undefined): void
  /** Writes what has been noted. What could not be written while the database is away is kept; either is thrown at. */
  flush(): Promise<void>
  /** Writes at the stop what is left. */
  stop(): Promise<void>
}

/** Kept of one tenant's between two flushes; further ones are left out. */
export const MAX_PER_FLUSH = 100

/** Of all tenants, also while the database is away. */
const MAX_NOTED = 2000

const FLUSH_MS = 1000

/** Rows of one statement. */
const BATCH = 250

interface Noted {
  readonly exchange: Exchange
  readonly status: number
  readonly text: string | undefined
  readonly ms: number
}

export interface RequestLogParts {
  readonly database: Database
  readonly versions: Versions
  /** Machine time. */
  readonly now: () => number
  readonly log: Logger
  /** Between flushes. */
  readonly flushMs?: number
}

/** Requests without a known key, and those that members make on pages, are not noted: the audit log has the latter. */
export function createRequestLog(parts: RequestLogParts): RequestLog {
  const { database, versions, now, log, flushMs = FLUSH_MS } = parts
  let noted: Noted[] = []
  const counts = new Map<string, number>()
  let names: ReadonlySet<string> | undefined
  let running: Promise<void> = Promise.resolve()
  let unsure: readonly RequestToLog[] = []

  const write = async () => {
    while (unsure.length > 0 || noted.length > 0) {
      if (unsure.length === 0) {
        names ??= sensitiveNames(versions.all.map(({ document }) => document))
        const secret = names
        unsure = noted.slice(0, BATCH).map((each) => describe(each, secret))
        noted = noted.slice(BATCH)
      }
      try {
        await addRequests(database, unsure, now())
        unsure = []
      } catch (error) {
        // What the database does not take is not sent for ever.
        if (!isUnavailable(error)) unsure = []
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
      const { credential, member } = exchange
      if (!credential || member || noted.length >= MAX_NOTED) return
      const count = counts.get(credential.tenant.id) ?? 0
      if (count >= MAX_PER_FLUSH) return
      counts.set(credential.tenant.id, count + 1)
      noted.push({ exchange, status, text, ms: performance.now() - exchange.beganAt })
    },
    flush,
    async stop() {
      clearInterval(timer)
      await flush().catch((err) => log.error({ err }, 'the requests of the last second are not in their log'))
    },
  }
}

function describe({ exchange, status, text, ms }: Noted, names: ReadonlySet<string>): RequestToLog {
  const { request, route, credential, path, search, sent, body } = exchange
  const mayHoldSecrets = route?.operation.extensions.sensitive === true
  const asSent = sent ?? body
  return {
    space: credential!.space,
    id: exchange.requestId,
    created: exchange.now,
    method: request.method!,
    target: shorten(search === '' ? path : `${path}?${search}`),
    path: shorten(path),
    operation: route?.operation.id ?? null,
    version: exchange.answerVersion.name,
    status: String(status),
    code: exchange.refusal ?? null,
    key_id: credential!.key.id,
    address: exchange.address,
    ms: Math.round(ms * 10) / 10,
    request_body: asSent === undefined ? null : redact(asSent, names),
    response_body: text === undefined ? null : redactText(text, mayHoldSecrets, names),
  }
}

/** Of a path or a target: indexes take no more. */
const MAX_PATH = 500

const shorten = (text: string) => (text.length > MAX_PATH ? text.slice(0, MAX_PATH) : text)

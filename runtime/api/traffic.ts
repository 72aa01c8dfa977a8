import type { Logger } from 'pino'
import { countDuration, createDurations } from '../platform/durations.ts'
import type { Environment } from '../platform/environment.ts'
import type { RequestLogSetting } from '../platform/settings.ts'
import { unavailable } from './errors/errors.ts'
import type { Exchange, OperationTally, Traffic } from './exchange.ts'

export interface TrafficOptions {
  readonly environment: Environment
  readonly log: Logger
  readonly requestLog: RequestLogSetting
  /** Number of requests in progress above which new requests are refused. */
  readonly mostRequests: number
  /** Milliseconds after which an unanswered request is answered with 503. */
  readonly answerMs: number
  /** Returns why the process is overloaded; undefined if it is not. */
  readonly overloaded: () => string | undefined
  readonly databaseFailed: (error: unknown) => void
  /** Whether too many statements wait for the database, and at least half of them belong to the tenant. */
  readonly crowdedBy: (tenantId: string) => boolean
  readonly refuse: (exchange: Exchange, error: Error) => void | Promise<void>
}

/** The search for requests that take too long runs ten times in `answerMs`, at least once a second. */
const SWEEPS = 10
const MAX_SWEEP_MS = 1000

const UNKNOWN = {}

export function createTraffic(options: TrafficOptions): Traffic {
  const { environment, log, requestLog, mostRequests, answerMs } = options
  const underWay = new Set<Exchange>()
  const tallies = new Map<object, OperationTally>()
  const [shed, limited] = [new Map<string, number>(), new Map<string, number>()]
  let [aborted, expired] = [0, 0]

  const tallyOf = ({ route, answerVersion }: Exchange): OperationTally => {
    const known = tallies.get(route ?? UNKNOWN)
    if (known) return known
    const tally: OperationTally = {
      environment,
      operation: route?.operation.id ?? '',
      version: route ? answerVersion.name : '',
      statuses: new Map(),
      ...createDurations(),
    }
    tallies.set(route ?? UNKNOWN, tally)
    return tally
  }

  const refuse = async (exchange: Exchange) =>
    options.refuse(exchange, unavailable('The request took too long. Try again in a moment.'))

  /**
   * Answers requests that take too long. The set is in order of arrival, so the first younger request ends the
   * search.
   */
  const expire = () => {
    const before = performance.now() - answerMs
    for (const exchange of underWay) {
      if (exchange.beganAt > before) return
      underWay.delete(exchange)
      if (exchange.response.headersSent || exchange.response.destroyed) continue
      expired += 1
      log.warn({ requestId: exchange.requestId, answerMs }, 'request took too long')
      refuse(exchange).catch((err) =>
        log.error({ err, requestId: exchange.requestId }, 'request that took too long not answered'),
      )
    }
  }
  const sweep = setInterval(expire, Math.min(MAX_SWEEP_MS, answerMs / SWEEPS)).unref()

  const countShed = (reason: string) => void shed.set(reason, (shed.get(reason) ?? 0) + 1)

  return {
    underWay,
    databaseFailed: options.databaseFailed,
    shed,
    limited,
    tallies: () => tallies.values(),
    aborted: () => aborted,
    expired: () => expired,
    stop: () => clearInterval(sweep),
    overload() {
      const reason = underWay.size > mostRequests ? 'requests' : options.overloaded()
      if (reason !== undefined) countShed(reason)
      return reason
    },
    crowdedBy(tenantId) {
      const crowded = options.crowdedBy(tenantId)
      if (crowded) countShed('database')
      return crowded
    },
    enter(exchange) {
      underWay.add(exchange)
    },
    leave(exchange) {
      underWay.delete(exchange)
      if (!exchange.response.headersSent) aborted += 1
    },
    answered(exchange, status) {
      const ms = performance.now() - exchange.beganAt
      const tally = tallyOf(exchange)
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
      countDuration(tally, ms)
      if (status === 429) {
        const bucket = exchange.allowance?.resource ?? ''
        limited.set(bucket, (limited.get(bucket) ?? 0) + 1)
      }
      if (requestLog === 'all' || (status >= 400 && requestLog === 'failed')) {
        log.info(describeRequest(exchange, status, ms), 'request answered')
      }
    },
  }
}

/**
 * Describes a request for the log, without its headers, query, body or identifiers: the path is the template in the
 * document.
 */
function describeRequest(exchange: Exchange, status: number, ms: number): object {
  const { requestId, request, route, answerVersion, credential, address, refusal } = exchange
  return {
    requestId,
    method: request.method,
    path: route?.operation.path,
    operation: route?.operation.id,
    version: answerVersion.name,
    status,
    code: refusal,
    ms: Math.round(ms * 10) / 10,
    tenantId: credential?.tenant.id,
    keyId: credential?.key.id,
    address,
  }
}

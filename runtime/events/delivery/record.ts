/** Records how an attempt ended, and schedules the next one. */

import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import { byIndex, useIndexes } from '../../database/pool/by-index.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { createBatches } from '../../work/batches.ts'
import type { OutboundResult } from '../outbound/outbound.ts'
import { type Exhausted, type ExhaustionOptions, exhaust } from './exhaustion.ts'
import type { LeasedAttempt } from './queries/attempts.ts'
import {
  completeAttempts,
  completeOfOne,
  type EndpointResult,
  MAX_TIMEOUTS,
  recordEndpointResults,
  releaseAttempt,
} from './queries/completions.ts'
import {
  type AttemptCompletion,
  showAttempts,
  showOfOne,
  succeedAttempts,
  succeedOfOne,
} from './queries/successes.ts'

/**
 * How an attempt was recorded.
 *
 * - `stale`: not recorded, because a different worker holds it.
 * - `disabled`: the last attempt failed, which disabled the endpoint and emitted an event.
 */
export type RecordedStatus = AttemptCompletion['status'] | 'stale' | 'disabled'

export interface Recorder {
  /** @param outcome undefined if the attempt was not to be sent. @param attemptedAt service time. */
  record(
    claimed: LeasedAttempt,
    token: string,
    outcome: OutboundResult | undefined,
    attemptedAt: number,
  ): Promise<RecordedStatus>
  /** Returns an attempt that was not sent to the queue. */
  release(claimed: LeasedAttempt, token: string): Promise<unknown>
  /** Writes first attempts in progress as pending, if they are not written yet. */
  show(attempts: readonly UnderWay[]): void
  /** Stops retrying failed writes. */
  abandon(): void
}

export interface UnderWay {
  readonly claimed: LeasedAttempt
  readonly token: string
}

export interface RecorderOptions extends ExhaustionOptions {
  readonly environment: Environment
  readonly clock: Clock
  readonly log: Logger
  readonly pauseMs: number
}

/** Batches written at the same time. If each batch is for one tenant, there are more and smaller batches. */
const CONCURRENT_BATCHES = { together: 2, byTenant: 8 }

const BATCH = 200

/** Number of waiting items that start a batch while a different batch is being written. */
const WORTH_A_BATCH = 100

/** Maximum number of failures of last attempts that are written at the same time. Each write locks its endpoint. */
const CONCURRENT_LAST_BATCHES = 4

const REDIRECTED = 'the endpoint redirects; redirects are not followed'

/** Returns the end of an attempt, and the next attempt if the schedule has one. */
export function complete(
  claimed: LeasedAttempt,
  token: string,
  outcome: OutboundResult | undefined,
  attemptedAt: number,
): AttemptCompletion {
  const base = idsOf({ claimed, token })
  if (!outcome) return { ...base, status: 'canceled' }
  const outcomeClass = classifyOutcome(outcome)
  const ended = { ...base, attemptedAt, durationMs: outcome.durationMs, ...answerOf(outcome) }
  if (outcomeClass === 'delivered') return { ...ended, status: 'succeeded' }
  // An ordered endpoint must not miss an event, so a refusal is repeated too. Its events may be old, so their delays begin now.
  const isOrdered = claimed.delivery === 'fifo'
  const dueAt =
    (outcomeClass === 'failed' || isOrdered) && claimed.trigger === 'schedule'
      ? nextDue(claimed, isOrdered ? attemptedAt - (delayOf(claimed) ?? 0) : claimed.emitted_at, attemptedAt)
      : undefined
  if (dueAt === undefined) return { ...ended, status: 'failed' }
  const next = { id: newId('wdla', attemptedAt), dueAt, generation: claimed.generation }
  return { ...ended, status: 'failed', next }
}

function idsOf({ claimed, token }: UnderWay) {
  return { tenantId: claimed.tenant_id, attemptId: claimed.attempt_id, token }
}

function answerOf(
  outcome: OutboundResult,
): Pick<AttemptCompletion, 'responseStatus' | 'responseBody' | 'error'> {
  if ('error' in outcome) return { error: outcome.error }
  const { status, body } = outcome
  const answer = { responseStatus: status, responseBody: body }
  return status >= 300 && status <= 399 ? { ...answer, error: REDIRECTED } : answer
}

/** Returns what an attempt reveals about its endpoint; undefined if it is nothing new. */
function endpointResultOf(
  claimed: LeasedAttempt,
  outcome: OutboundResult | undefined,
): EndpointResult | undefined {
  if (!outcome) return undefined
  const about = { tenantId: claimed.tenant_id, endpointId: claimed.endpoint_id }
  if (!('error' in outcome)) {
    return claimed.timeouts === 0 ? undefined : { ...about, answered: true, timeouts: 0 }
  }
  if (outcome.kind !== 'timeout' || claimed.timeouts >= MAX_TIMEOUTS) return undefined
  return { ...about, answered: false, timeouts: 1 }
}

/** Merges the results of each endpoint into one. A response outweighs timeouts. */
function mergeEndpointResults(endpointResults: readonly EndpointResult[]): EndpointResult[] {
  const merged = new Map<string, EndpointResult>()
  for (const endpointResult of endpointResults) {
    const index = `${endpointResult.tenantId} ${endpointResult.endpointId}`
    const known = merged.get(index)
    merged.set(index, {
      ...endpointResult,
      answered: endpointResult.answered || (known?.answered ?? false),
      timeouts: endpointResult.timeouts + (known?.timeouts ?? 0),
    })
  }
  return [...merged.values()]
}

interface Ended {
  readonly completion: AttemptCompletion
  readonly endpointResult: EndpointResult | undefined
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { environment, pool, clock, log, pauseMs, distributed } = options
  const db = byIndex(pool)

  const note = (endpointResults: readonly EndpointResult[]) => {
    if (endpointResults.length === 0) return
    recordEndpointResults(db, mergeEndpointResults(endpointResults)).catch((err) =>
      log.warn({ err, environment }, 'results of endpoints not recorded; their next attempts record them'),
    )
  }
  const endsWith = (
    write: (completions: readonly AttemptCompletion[], now: number) => Promise<ReadonlySet<string>>,
  ) =>
    createBatches<Ended, ReadonlySet<string>>({
      write: async (batch) => {
        const completions = batch.map(({ completion }) => completion)
        const written = await write(completions, clock.service(environment))
        note(batch.flatMap(({ endpointResult }) => endpointResult ?? []))
        return written
      },
      size: BATCH,
      atOnce: distributed ? CONCURRENT_BATCHES.byTenant : CONCURRENT_BATCHES.together,
      worth: distributed ? 1 : WORTH_A_BATCH,
      ...(distributed && { groupOf: ({ completion }: Ended) => completion.tenantId }),
      pauseMs,
    })
  const byTenant = <T>(write: (tx: Database) => Promise<T>) =>
    pool.transaction((tx) => {
      useIndexes(tx)
      return write(tx)
    })
  const successes = endsWith((completions, now) =>
    distributed
      ? byTenant((tx) => succeedOfOne(tx, completions, now))
      : succeedAttempts(db, completions, now),
  )
  const ends = endsWith((completions, now) =>
    distributed
      ? byTenant((tx) => completeOfOne(tx, completions, now))
      : completeAttempts(db, completions, now),
  )
  const shows = createBatches<UnderWay, unknown>({
    write: (batch) => {
      const sent = batch.map(idsOf)
      return distributed ? byTenant((tx) => showOfOne(tx, sent)) : showAttempts(db, sent)
    },
    size: BATCH,
    atOnce: 1,
    ...(distributed && { groupOf: ({ claimed }: UnderWay) => claimed.tenant_id }),
    pauseMs,
  })
  const lasts = createBatches<Parameters<typeof exhaust>[1], Exhausted>({
    write: ([last]) => exhaust(options, last!),
    size: 1,
    atOnce: CONCURRENT_LAST_BATCHES,
    pauseMs,
  })
  return {
    async record(claimed, token, outcome, attemptedAt) {
      const completion = complete(claimed, token, outcome, attemptedAt)
      const isLast = claimed.trigger === 'schedule' && claimed.attempt >= LAST_ATTEMPT
      if (isLast && completion.status === 'failed') {
        const { endpoint_id: endpointId, generation } = claimed
        const exhausted = await lasts.add({ completion, endpointId, generation })
        return exhausted === 'noted' ? 'failed' : exhausted
      }
      const isPlain = completion.status === 'succeeded' && claimed.trigger === 'schedule'
      const written = await (isPlain ? successes : ends).add({
        completion,
        endpointResult: endpointResultOf(claimed, outcome),
      })
      return written.has(claimed.attempt_id) ? completion.status : 'stale'
    },
    release: ({ tenant_id, attempt_id }, token) => releaseAttempt(db, tenant_id, attempt_id, token),
    show(attempts) {
      for (const attempt of attempts) {
        shows
          .add(attempt)
          .catch((err) =>
            log.warn({ err, environment, ...idsOf(attempt) }, 'delivery attempt in progress not shown'),
          )
      }
    },
    abandon() {
      successes.abandon()
      ends.abandon()
      shows.abandon()
      lasts.abandon()
    },
  }
}

const MINUTE_MS = 60_000

/** Number of the attempt whose failure disables the endpoint. */
const LAST_ATTEMPT = 5

/**
 * Delays in minutes between the event and each attempt. Standard: none, 5 minutes, 30 minutes, 2 hours, 5 hours. Extended: none,
 * 5 minutes, 2 hours, 1 day, 3 days.
 */
const DELAYS = {
  standard: [0, 5, 30, 120, 300],
  extended: [0, 5, 120, 1440, 4320],
}

type Scheduled = Pick<LeasedAttempt, 'attempt' | 'retry_schedule'>

/** Returns the delay between the event and an attempt, in milliseconds. Undefined after the last attempt. */
function delayOf({ attempt, retry_schedule }: Scheduled): number | undefined {
  const minutes = DELAYS[retry_schedule][attempt - 1]
  return minutes === undefined ? undefined : minutes * MINUTE_MS
}

/**
 * Minimum time between attempts of one delivery. It matters after an outage of the service, when several are overdue.
 */
const MIN_INTERVAL_MS = MINUTE_MS

/**
 * Returns when the attempt after this one is due: a fixed delay after the event, but at least 1 minute after the failed attempt.
 * Undefined after the last attempt. Service time, milliseconds since the epoch.
 */
export function nextDue(
  { attempt, retry_schedule }: Scheduled,
  emittedAt: number,
  attemptedAt: number,
): number | undefined {
  const delay = delayOf({ attempt: attempt + 1, retry_schedule })
  return delay === undefined ? undefined : Math.max(emittedAt + delay, attemptedAt + MIN_INTERVAL_MS)
}

/** What an outcome means. `refused` is a deliberate answer that a retry would not change. */
export type OutcomeClass = 'delivered' | 'refused' | 'failed'

const RETRIED = new Set([408, 409, 425, 429])

/** Classifies an outcome. Any 2xx is a success. 408, 409, 425, 429, any 5xx, and a missing response are retried. */
export function classifyOutcome(outcome: OutboundResult): OutcomeClass {
  if ('error' in outcome) return 'failed'
  const { status } = outcome
  if (status >= 200 && status <= 299) return 'delivered'
  return RETRIED.has(status) || (status >= 500 && status <= 599) ? 'failed' : 'refused'
}

/** How an attempt ended, what follows on it by the schedule, and how that is written. */

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
} from './queries/completions.ts'
import {
  type AttemptCompletion,
  showAttempts,
  showOfOne,
  succeedAttempts,
  succeedOfOne,
} from './queries/successes.ts'

/** How an attempt was recorded; `stale`: not at all, because another worker holds it; `disabled`: failed for the last time, which disabled its endpoint and was emitted. */
export type RecordedStatus = AttemptCompletion['status'] | 'stale' | 'disabled'

/** Records how attempts ended. */
export interface Recorder {
  /** @param outcome undefined: it was not to be sent. @param attemptedAt service time. */
  record(
    claimed: LeasedAttempt,
    token: string,
    outcome: OutboundResult | undefined,
    attemptedAt: number,
  ): Promise<RecordedStatus>
  /** Writes first attempts that are still under way, of which nothing was written yet. */
  show(attempts: readonly UnderWay[]): void
  /** Stops trying again what cannot be written. */
  abandon(): void
}

/** An attempt that is being sent, and the token of its lease. */
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

/** Batches under way at once; of one tenant each there are more and smaller ones. */
const ENDS_AT_ONCE = { together: 2, byTenant: 8 }

const BATCH = 200

/** So many make a batch beside another. */
const WORTH_A_BATCH = 100

/** Failures of last attempts that are written at once: each locks its endpoint. */
const LAST_BATCHES_AT_ONCE = 4

const REDIRECTED = 'the endpoint redirects, which is not followed'

/** The attempt's end, and what follows on it by the schedule. */
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
  const dueAt =
    outcomeClass === 'failed' && claimed.trigger === 'schedule'
      ? nextDue(claimed.attempt, claimed.emitted_at, attemptedAt)
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

/** What an attempt shows of its endpoint; undefined where that is known already. */
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

/** One for each endpoint: an answer outweighs time-outs. */
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
      log.warn(
        { err, environment },
        'how endpoints react could not be noted; their next attempts tell again',
      ),
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
      atOnce: distributed ? ENDS_AT_ONCE.byTenant : ENDS_AT_ONCE.together,
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
    atOnce: LAST_BATCHES_AT_ONCE,
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
    show(attempts) {
      for (const attempt of attempts) {
        shows
          .add(attempt)
          .catch((err) =>
            log.warn({ err, environment, ...idsOf(attempt) }, 'an attempt under way is not shown'),
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

/** From the event's emission to each attempt: at once, 5 minutes, 30 minutes, 2 hours, 5 hours. */
const DELAYS_MS = [0, 5, 30, 120, 300].map((minutes) => minutes * MINUTE_MS)

/** The attempt after whose failure the endpoint is disabled. */
const LAST_ATTEMPT = DELAYS_MS.length

/** After an outage of ours all that is overdue comes at once; attempts of one delivery keep this distance. */
const DISTANCE_MS = MINUTE_MS

/**
 * When the attempt after `attempt` is due: measured from the emission, but not right after the one that failed. Undefined
 * after the last. Service time, milliseconds since the epoch.
 */
export function nextDue(attempt: number, emittedAt: number, attemptedAt: number): number | undefined {
  const delay = DELAYS_MS[attempt]
  return delay === undefined ? undefined : Math.max(emittedAt + delay, attemptedAt + DISTANCE_MS)
}

/** What an outcome means: `refused` is a deliberate answer that another attempt would not change. */
export type OutcomeClass = 'delivered' | 'refused' | 'failed'

const RETRIED = new Set([408, 409, 425, 429])

/** Success is any 2xx. Another attempt follows on 408, 409, 425, 429, any 5xx and whatever gave no answer. */
export function classifyOutcome(outcome: OutboundResult): OutcomeClass {
  if ('error' in outcome) return 'failed'
  const { status } = outcome
  if (status >= 200 && status <= 299) return 'delivered'
  return RETRIED.has(status) || (status >= 500 && status <= 599) ? 'failed' : 'refused'
}

import type { Logger } from 'pino'
import type { Outcome } from '../outbound/outbound.ts'
import type { Clock } from '../platform/clock/clock.ts'
import { byIndex, useIndexes } from '../platform/database/pool/by-index.ts'
import type { Environment } from '../platform/environment.ts'
import { newId } from '../platform/ids.ts'
import { createBatches } from './batches.ts'
import { type Exhausted, type ExhaustionOptions, exhaust } from './exhaustion.ts'
import {
  type Completion,
  completeAttempts,
  completeOfOne,
  type EndpointResult,
  MAX_TIMEOUTS,
  recordEndpointResults,
} from './queries/deliveries.ts'
import type { Claimed } from './queries/ready.ts'
import { showAttempts, succeedAttempts } from './queries/successes.ts'
import { checkOutcome, LAST_ATTEMPT, nextDue } from './schedule.ts'

/** How an attempt was recorded; `stale`: not at all, because another worker holds it. */
export type Recorded = Completion['status'] | 'stale' | 'disabled'

/** Records how attempts ended. */
export interface Recorder {
  /** @param outcome undefined: it was not to be sent. @param attemptedAt service time. */
  record(
    claimed: Claimed,
    token: string,
    outcome: Outcome | undefined,
    attemptedAt: number,
  ): Promise<Recorded>
  /** Writes first attempts that are still under way, of which nothing was written yet. */
  show(attempts: readonly UnderWay[]): void
  /** Stops trying again what cannot be written. */
  abandon(): void
}

/** An attempt that is being sent, and the token of its lease. */
export interface UnderWay {
  readonly claimed: Claimed
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
  claimed: Claimed,
  token: string,
  outcome: Outcome | undefined,
  attemptedAt: number,
): Completion {
  const base = idsOf({ claimed, token })
  if (!outcome) return { ...base, status: 'canceled' }
  const verdict = checkOutcome(outcome)
  const ended = { ...base, attemptedAt, durationMs: outcome.durationMs, ...answerOf(outcome) }
  if (verdict === 'delivered') return { ...ended, status: 'succeeded' }
  const dueAt =
    verdict === 'failed' && claimed.trigger === 'schedule'
      ? nextDue(claimed.attempt, claimed.emitted_at, attemptedAt)
      : undefined
  if (dueAt === undefined) return { ...ended, status: 'failed' }
  const next = { id: newId('wdla', attemptedAt), dueAt, generation: claimed.generation }
  return { ...ended, status: 'failed', next }
}

function idsOf({ claimed, token }: UnderWay) {
  return { tenantId: claimed.tenant_id, attemptId: claimed.attempt_id, token }
}

function answerOf(outcome: Outcome): Pick<Completion, 'responseStatus' | 'responseBody' | 'error'> {
  if ('error' in outcome) return { error: outcome.error }
  const { status, body } = outcome
  const answer = { responseStatus: status, responseBody: body }
  return status >= 300 && status <= 399 ? { ...answer, error: REDIRECTED } : answer
}

/** What an attempt shows of its endpoint; undefined where that is known already. */
function endpointResultOf(claimed: Claimed, outcome: Outcome | undefined): EndpointResult | undefined {
  if (!outcome) return undefined
  const about = { tenantId: claimed.tenant_id, endpointId: claimed.endpoint_id }
  if (!('error' in outcome)) {
    return claimed.timeouts === 0 ? undefined : { ...about, answered: true, timeouts: 0 }
  }
  if (outcome.kind !== 'timeout' || claimed.timeouts >= MAX_TIMEOUTS) return undefined
  return { ...about, answered: false, timeouts: 1 }
}

/** One for each endpoint: an answer outweighs time-outs. */
export function mergeEndpointResults(endpointResults: readonly EndpointResult[]): EndpointResult[] {
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
  readonly completion: Completion
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
    write: (completions: readonly Completion[], now: number) => Promise<ReadonlySet<string>>,
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
  const of = distributed ? 'one' : 'many'
  const successes = endsWith((completions, now) => succeedAttempts(db, of, completions, now))
  const ends = endsWith((completions, now) =>
    distributed
      ? pool.transaction((tx) => {
          useIndexes(tx)
          return completeOfOne(tx, completions, now)
        })
      : completeAttempts(db, completions, now),
  )
  const shows = createBatches<UnderWay, unknown>({
    write: (batch) => showAttempts(db, of, batch.map(idsOf)),
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

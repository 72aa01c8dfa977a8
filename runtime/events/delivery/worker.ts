import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import { liesInRows } from '../../database/errors.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { countDuration, createDurations, type DurationCounts } from '../../platform/durations.ts'
import type { Environment } from '../../platform/environment.ts'
import { createEventLoopTicks } from '../../platform/fairness/event-loop-ticks.ts'
import type { Seals } from '../../platform/secrets.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { runInSpan, type Tracer } from '../../tracing/span.ts'
import { createLeaseClock, type LeaseClock } from '../../work/lease-clock.ts'
import { createSetAside } from '../../work/set-aside.ts'
import { createSlots } from '../../work/slots.ts'
import { createWakeUp } from '../../work/wake-up.ts'
import type { Outbound, OutboundResult } from '../outbound/outbound.ts'
import { createAgenda } from './agenda.ts'
import { createDeliveryFaults } from './faults.ts'
import type { LeasedAttempt } from './queries/attempts.ts'
import { createDeliveryRates } from './rates.ts'
import { createRecorder, type RecordedStatus, type UnderWay } from './record.ts'
import { createRounds } from './rounds.ts'
import { createSender, spanOfAttempt } from './sender.ts'
import { createShowing } from './showing.ts'
import { createTurns } from './turns.ts'

export interface WorkerOptions {
  readonly environment: Environment
  /** Pool of the environment, which connects with the role of the environment. */
  readonly pool: Pool
  /** Owner's connection, for items that are set aside and for rate lifts. */
  readonly control: Database
  readonly clock: Clock
  readonly outbound: Outbound
  readonly seals: Seals
  readonly log: Logger
  readonly tracer?: Tracer | undefined
  /** Reads the version that a tenant is pinned to in the environment; null if there is no pin. */
  readonly readPin: (space: string) => Promise<string | null>
  /**
   * Called after the worker emitted an event, to wake workers and streams. Default: they find the event when they
   * poll.
   */
  readonly deliveriesDue?: (space: string) => void
  /** Called when a manual attempt has ended, so that a recovery of its endpoint can continue. */
  readonly recoveryDue?: (endpointId: string) => void
  /** Maximum number of attempts in progress at the same time. */
  readonly concurrency?: number
  /** Length of a lease in milliseconds. Must be longer than an attempt can take. */
  readonly leaseMs?: number
  /** Milliseconds between polls, which find work whose wake-up was lost. */
  readonly pollMs?: number
  /** Milliseconds that `stop` waits for attempts in progress. */
  readonly drainMs?: number
  /** Clock for leases. Default: the clock of the database. */
  readonly leaseClock?: LeaseClock
  /** Whether each statement must be for one tenant. Default: whether tables are distributed by tenant. */
  readonly distributed?: boolean
}

/** Statistics of a worker since it started, and its current load. */
export interface WorkerStats {
  readonly underWay: number
  readonly capacity: number
  readonly claims: number
  /** Counts by recorded status. `lost`: not sent, or sent but not recorded; made again when the lease ends. */
  readonly attempts: Readonly<Record<RecordedStatus | 'lost', number>>
  /** Milliseconds between the due time of the attempt claimed last and its claim; service time. */
  readonly latenessMs: number
  /** The same time of all claimed attempts. */
  readonly lateness: DurationCounts
  readonly failing: boolean
}

export interface Worker {
  /** Looks for work immediately, because an event was emitted for the tenant. Without a tenant: for any tenant. */
  wake(tenantId?: string): void
  stats(): WorkerStats
  /**
   * Stops claiming, and waits up to `drainMs` for attempts in progress. Aborts the rest, whose leases then expire.
   * Resolves soon after that, even if the database does not respond.
   */
  stop(): Promise<void>
}

/**
 * Longest duration of an attempt (10 s) and of recording it. If its lease has less time left, an attempt is not
 * started.
 */
const ATTEMPT_MS = 11_000

/** Share of the lease that must be left if leases are short, as in tests. */
const SHARE_OF_LEASE = 0.6

/** A first attempt that takes longer becomes visible as pending in the API. */
const SHOWN_AFTER_MS = 200

/**
 * After each look, the worker rests as long as the look took, at most 10 ms, to handle wake-ups of that time
 * together.
 */
const MAX_REST_MS = 10

const TENANTS_PER_STATEMENT = 64

/**
 * When fewer than 64 slots are free, wait 5 ms before claiming, so that one large claim replaces several small ones.
 */
const MIN_CLAIM = 64
const GATHER_MS = 5

/**
 * Planning and claiming statements that run at the same time, and the share of all slots that each may fill. While
 * one statement waits for the database, the worker sends the attempts of the other.
 */
const CONCURRENT_STATEMENTS = 2
const STATEMENT_SHARE = 1 / 2

/** Largest share of the time that polling takes, independent of the number of tenants. */
const FIND_SHARE = 0.2

/**
 * Cost of starting an attempt, in rows (the unit of `event-loop-ticks.ts`). Limits how many start in one tick of the
 * event loop.
 */
const ROWS_PER_ATTEMPT = 12

/** Error that the tenant sees on an attempt whose request cannot be built or signed. */
const UNSENDABLE = "the request cannot be signed: rotate the endpoint's secret, then retry the attempt"

/** Milliseconds that `stop` waits for the last look at the queue, in addition to `drainMs`. */
const LAST_LOOK_MS = 1000

/** Milliseconds that `stop` waits, after aborting attempts, for them to be recorded or given up. */
const ABANDONED_MS = 2000

/**
 * Starts a worker that delivers events of one environment. Any number of workers may run for the same environment.
 */
export function createWorker(options: WorkerOptions): Worker {
  const { environment, pool, clock, log } = options
  const {
    concurrency = 1024,
    leaseMs = 20_000,
    pollMs = 500,
    drainMs = 12_000,
    distributed = pool.distributed,
  } = options
  const leaseClock = options.leaseClock ?? createLeaseClock(pool, clock.machine)
  const recorder = createRecorder({ ...options, leaseClock, distributed, pauseMs: pollMs })
  const showing = createShowing<UnderWay>({ afterMs: SHOWN_AFTER_MS, show: recorder.show })
  const sender = createSender(options)
  const faults = createDeliveryFaults(options)
  const setAside = createSetAside(options, 'deliveries', environment)
  const slots = createSlots(concurrency)
  const wakeUp = createWakeUp()
  const agenda = createAgenda({ atOnce: distributed ? 1 : TENANTS_PER_STATEMENT, notify: wakeUp.notify })
  const ticks = createEventLoopTicks()
  const aborted = new AbortController()
  const underWay = new Set<Promise<void>>()
  const turns = createTurns()
  const attempts = { succeeded: 0, failed: 0, canceled: 0, stale: 0, disabled: 0, lost: 0 }
  const lateness = createDurations()
  let [latenessMs, failing, stopping] = [0, false, false]

  /** Resolves with `late` if the lease has too little time left: the attempt waited for others, or the process was suspended. */
  const send = async (
    claimed: LeasedAttempt,
    leaseUntil: number,
    flushed: Promise<void>,
  ): Promise<OutboundResult | 'late' | undefined> => {
    try {
      await flushed
      const isLate = claimed.wanted && (await faults.delay(claimed, aborted.signal))
      await new Promise<void>((go) => ticks.hand(environment, ROWS_PER_ATTEMPT, go))
      // If the process was suspended, the lease may have expired and a different worker may be sending the same
      // attempt.
      if (leaseClock.now() > leaseUntil - Math.min(ATTEMPT_MS, leaseMs * SHARE_OF_LEASE)) return 'late'
      return claimed.wanted ? await sendOrFail(claimed, isLate ? 'late' : undefined) : undefined
    } finally {
      slots.give(claimed.tenant_id)
    }
  }

  /**
   * If an attempt cannot be made, it counts as failed: the tenant sees the reason, and the schedule ends after its
   * last attempt.
   */
  const sendOrFail = async (claimed: LeasedAttempt, injected?: string): Promise<OutboundResult> => {
    const endpoint = { space: claimed.tenant_id, id: claimed.endpoint_id }
    try {
      const span = options.tracer?.resume(claimed.trace, spanOfAttempt(claimed))
      const outcome = await runInSpan(span, () => sender(claimed, aborted.signal, injected))
      await setAside.succeeded(endpoint)
      return outcome
    } catch (error) {
      if (aborted.signal.aborted) throw error
      await setAside.take(endpoint, error)
      return { error: UNSENDABLE, kind: 'connection', durationMs: 0 }
    }
  }

  const attempt = async (
    claimed: LeasedAttempt,
    token: string,
    leaseUntil: number,
    flushed: Promise<void>,
    before: Promise<unknown> | undefined,
  ) => {
    const sending = (async () => {
      await before
      return { attemptedAt: clock.service(environment), outcome: await send(claimed, leaseUntil, flushed) }
    })()
    if (claimed.in_turn) turns.follow(claimed.endpoint_id, sending)
    const { attemptedAt, outcome } = await sending
    if (outcome === 'late') {
      await recorder.release(claimed, token)
      agenda.claim(claimed.tenant_id)
      return
    }
    const recorded = await recorder.record(claimed, token, outcome, attemptedAt)
    attempts[recorded] += 1
    if (recorded === 'succeeded' && faults.isDuplicate(claimed))
      await sender(claimed, aborted.signal, 'duplicate')
    if (recorded === 'disabled') options.deliveriesDue?.(claimed.tenant_id)
  }

  const begin = (claimed: LeasedAttempt, token: string, leaseUntil: number, flushed: Promise<void>) => {
    const { tenant_id, endpoint_id, attempt_id, attempt: number } = claimed
    latenessMs = Math.max(0, clock.service(environment) - claimed.due_at)
    countDuration(lateness, latenessMs)
    slots.take(tenant_id)
    const sent = { claimed, token }
    if (number === 1) showing.began(sent)
    const ending = attempt(claimed, token, leaseUntil, flushed, turns.last(endpoint_id))
      .catch(async (err) => {
        attempts.lost += 1
        if (aborted.signal.aborted) return
        log.error(
          { err, tenant_id, endpoint_id, attempt_id },
          'delivery attempt lost; it is made again when its lease ends',
        )
        if (liesInRows(err)) await setAside.take({ space: tenant_id, id: attempt_id }, err)
      })
      .catch((err) => log.error({ err, tenant_id, attempt_id }, 'lost delivery attempt not set aside'))
      .finally(() => {
        underWay.delete(ending)
        if (claimed.trigger === 'manual') options.recoveryDue?.(endpoint_id)
        showing.ended(sent)
        rounds.ended(tenant_id) // its partition has a free place again
        if (claimed.delivery === 'fifo') agenda.plan(tenant_id, 1) // the next event waited for this one
        if (!agenda.isEmpty) wakeUp.notify()
      })
    underWay.add(ending)
  }

  const of = distributed ? 'one' : 'many'
  const rounds = createRounds({
    environment,
    pool,
    clock,
    leaseClock,
    leaseMs,
    of,
    agenda,
    slots,
    setAside,
    readPin: options.readPin,
    deliveriesDue: (tenantId) => {
      if (options.deliveriesDue) options.deliveriesDue(tenantId)
      else agenda.plan(tenantId, 1)
    },
    rates: createDeliveryRates({ environment, control: options.control, leaseClock }),
    begin,
  })
  /**
   * Attempts that may be started. Counts attempts not recorded yet, or they would pile up while the database is slow.
   */
  const room = () => Math.min(slots.free, 2 * concurrency - underWay.size) - promised
  /** Attempts that running statements may still start. */
  let promised = 0

  const serve = async (): Promise<boolean> => {
    const share = Math.max(MIN_CLAIM, Math.floor(concurrency * STATEMENT_SHARE))
    const limit = Math.min(room(), share)
    promised += limit
    try {
      return await rounds.serve(limit)
    } finally {
      promised -= limit
    }
  }

  const serveAll = async () => {
    while (!stopping && !agenda.isEmpty && room() > 0 && performance.now() < findAt) {
      await gatherRoom()
      if (room() <= 0 || !(await serve())) return
    }
  }

  const gatherRoom = async () => {
    if (room() < Math.min(MIN_CLAIM, slots.taken)) await wait(GATHER_MS)
  }

  let findAt = Number.NEGATIVE_INFINITY
  const find = async () => {
    const began = performance.now()
    if (began < findAt) return
    findAt = began + pollMs
    await rounds.find()
    findAt = began + Math.max(pollMs, (performance.now() - began) / FIND_SHARE)
  }

  const look = async () => {
    try {
      await leaseClock.refresh()
      await faults.refresh()
      await find()
      const served = await Promise.allSettled(Array.from({ length: CONCURRENT_STATEMENTS }, serveAll))
      const failed = served.find((each) => each.status === 'rejected')
      if (failed) throw failed.reason
      if (failing) log.info({ environment }, 'webhook deliveries resumed')
      failing = false
    } catch (err) {
      if (!failing) log.warn({ err, environment }, 'delivery queue not readable; the worker tries again')
      failing = true
      findAt = performance.now() + pollMs // finds the work that was taken from the agenda
      wakeUp.clear() // attempts that end now must not cause an earlier retry
    }
  }

  const run = async () => {
    while (!stopping) {
      const began = performance.now()
      await look()
      await wait(Math.min(MAX_REST_MS, performance.now() - began))
      await wakeUp.wait(Math.max(0, findAt - performance.now()))
    }
  }
  const running = run()
  return {
    wake: (tenantId) => {
      if (tenantId === undefined) findAt = Number.NEGATIVE_INFINITY
      else agenda.plan(tenantId, 1)
      wakeUp.notify()
    },
    stats: () => ({
      underWay: slots.taken,
      capacity: concurrency,
      claims: rounds.looks,
      attempts: { ...attempts },
      latenessMs,
      lateness,
      failing,
    }),
    stop: async () => {
      stopping = true
      agenda.stop()
      wakeUp.notify()
      const ended = () => running.then(() => Promise.all(underWay))
      await within(drainMs + LAST_LOOK_MS, ended())
      aborted.abort()
      showing.stop()
      recorder.abandon()
      await within(ABANDONED_MS, ended())
    },
  }
}

/** Waits for the promise, at most `ms` milliseconds. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  await Promise.race([promise, wait(ms, undefined, { signal: over.signal }).catch(() => {})]) // the promise was in time
  over.abort()
}

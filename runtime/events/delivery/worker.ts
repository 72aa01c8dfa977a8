import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import { liesInRows } from '../../database/errors.ts'
import type { Pool } from '../../database/pool/pool.ts'
import type { Environment } from '../../platform/environment.ts'
import { createEventLoopTicks } from '../../platform/fairness/event-loop-ticks.ts'
import type { Seals } from '../../platform/secrets.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { createLeaseClock, type LeaseClock } from '../../work/lease-clock.ts'
import { createSetAside } from '../../work/set-aside.ts'
import { createSlots } from '../../work/slots.ts'
import { createWakeUp } from '../../work/wake-up.ts'
import type { Outbound, OutboundResult } from '../outbound/outbound.ts'
import { createAgenda } from './agenda.ts'
import type { LeasedAttempt } from './queries/attempts.ts'
import { createDeliveryRates } from './rates.ts'
import { createRecorder, type RecordedStatus, type UnderWay } from './record.ts'
import { createRounds } from './rounds.ts'
import { createSender } from './sender.ts'
import { createShowing } from './showing.ts'

export interface WorkerOptions {
  readonly environment: Environment
  /** Of the environment, under its own role. */
  readonly pool: Pool
  /** For the rows that are set aside. */
  readonly control: Database
  readonly clock: Clock
  readonly outbound: Outbound
  readonly seals: Seals
  readonly log: Logger
  /** The version that a tenant is pinned to in the environment; null where it has no pin. */
  readonly readPin: (space: string) => Promise<string | null>
  /** Wakes workers and streams: the worker has emitted an event of its own. Without it the poll finds that. */
  readonly deliveriesDue?: (space: string) => void
  /** Attempts under way at once. */
  readonly concurrency?: number
  /** How long a lease is, in milliseconds; more than an attempt may take. */
  readonly leaseMs?: number
  /** How late something is found whose wake-up was lost, in milliseconds. */
  readonly pollMs?: number
  /** How long `stop` waits for attempts under way. */
  readonly drainMs?: number
  /** Default: the database's clock. */
  readonly leaseClock?: LeaseClock
  /** Whether each statement has to be for one tenant. Default: where tables are distributed by tenant. */
  readonly distributed?: boolean
}

/** What a worker has done since it started, and what it has to do. */
export interface WorkerStats {
  readonly underWay: number
  readonly capacity: number
  readonly claims: number
  /** By how they were recorded; `lost`: not sent, or sent and not recorded: their leases run out. */
  readonly attempts: Readonly<Record<RecordedStatus | 'lost', number>>
  /** How long after it was due the attempt claimed last was claimed; service time. */
  readonly latenessMs: number
  /** Whether the last look at the queue failed. */
  readonly failing: boolean
}

export interface Worker {
  /** Something was emitted for the tenant: look at once. Without a tenant: for any. */
  wake(tenantId?: string): void
  stats(): WorkerStats
  /**
   * Claims nothing more, lets attempts under way end within `drainMs`, gives up the others: their leases run out. Resolves
   * soon after that whatever the database does.
   */
  stop(): Promise<void>
}

/** What an attempt takes at most, and a little for writing it down: with less left of its lease it is not begun. */
const ATTEMPT_MS = 11_000

/** As much of a short lease, which only tests have. */
const SHARE_OF_LEASE = 0.6

/** A first attempt under way for longer is to be seen by those who ask for attempts. */
const SHOWN_AFTER_MS = 200

/** After a look comes a rest as long as it took, at most so long: wakes that come meanwhile are answered together. */
const MAX_REST_MS = 10

/** Tenants that one statement plans or claims for. */
const TENANTS_AT_ONCE = 64

/** With little room, and more than that under way, a claim waits so long for more: a few large ones cost less than many. */
const ROOM_WORTH_A_CLAIM = 64
const GATHER_MS = 5

/**
 * Statements that plan and claim under way at once, and the share of all attempts that each may begin: while one is
 * answered, what others have begun is sent.
 */
const SERVED_AT_ONCE = 2
const SERVED_SHARE = 1 / 2

/** Looking for what wake-ups have lost takes at most this share of the time, however many tenants there are. */
const FIND_SHARE = 0.2

/** Rows whose showing takes as long as sending one attempt: of a claim a few are sent in each tick of the event loop. */
const ROWS_OF_AN_ATTEMPT = 12

const CLOCK_EVERY_MS = 60_000

/** What the tenant sees of an attempt whose request cannot be made or signed. */
const UNSENDABLE = 'the request cannot be signed: rotate the secret of the endpoint, then retry the attempt'

/** The last look at the queue may take so long. */
const LAST_LOOK_MS = 1000

/** What was abandoned gets so long to be written or given up. */
const ABANDONED_MS = 2000

/** Delivers what is due in one environment, next to any number of other workers. Begins at once. */
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
  const setAside = createSetAside(options, 'deliveries', environment)
  const slots = createSlots(concurrency)
  const wakeUp = createWakeUp()
  const agenda = createAgenda({ atOnce: distributed ? 1 : TENANTS_AT_ONCE, notify: wakeUp.notify })
  const ticks = createEventLoopTicks()
  const aborted = new AbortController()
  const underWay = new Set<Promise<void>>()
  const attempts = { succeeded: 0, failed: 0, canceled: 0, stale: 0, disabled: 0, lost: 0 }
  let [latenessMs, failing, stopping] = [0, false, false]

  const send = async (
    claimed: LeasedAttempt,
    leaseUntil: number,
    flushed: Promise<void>,
  ): Promise<OutboundResult | undefined> => {
    try {
      await flushed
      await new Promise<void>((go) => ticks.hand(environment, ROWS_OF_AN_ATTEMPT, go))
      // A process that was stopped meanwhile must not send what another may be sending already.
      if (leaseClock.now() > leaseUntil - Math.min(ATTEMPT_MS, leaseMs * SHARE_OF_LEASE))
        throw new Error('the lease is too short')
      return claimed.wanted ? await sendOrFail(claimed) : undefined
    } finally {
      slots.give(claimed.tenant_id)
    }
  }

  /** An attempt that cannot be made counts as failed, so that its tenant sees why, and the schedule comes to its end. */
  const sendOrFail = async (claimed: LeasedAttempt): Promise<OutboundResult> => {
    const endpoint = { space: claimed.tenant_id, id: claimed.endpoint_id }
    try {
      const outcome = await sender(claimed, aborted.signal)
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
  ) => {
    const attemptedAt = clock.service(environment)
    const outcome = await send(claimed, leaseUntil, flushed)
    const recorded = await recorder.record(claimed, token, outcome, attemptedAt)
    attempts[recorded] += 1
    if (recorded === 'disabled') options.deliveriesDue?.(claimed.tenant_id)
  }

  const begin = (claimed: LeasedAttempt, token: string, leaseUntil: number, flushed: Promise<void>) => {
    const { tenant_id, endpoint_id, attempt_id, attempt: number } = claimed
    latenessMs = Math.max(0, clock.service(environment) - claimed.due_at)
    slots.take(tenant_id)
    const sent = { claimed, token }
    if (number === 1) showing.began(sent)
    const ending = attempt(claimed, token, leaseUntil, flushed)
      .catch(async (err) => {
        attempts.lost += 1
        if (aborted.signal.aborted) return
        log.error({ err, tenant_id, endpoint_id, attempt_id }, 'an attempt was lost; it is made again')
        if (liesInRows(err)) await setAside.take({ space: tenant_id, id: attempt_id }, err)
      })
      .catch((err) => log.error({ err, tenant_id, attempt_id }, 'a lost attempt was not set aside'))
      .finally(() => {
        underWay.delete(ending)
        showing.ended(sent)
        rounds.ended(tenant_id) // its partition has room again
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
    rates: createDeliveryRates({ environment, control: options.control, leaseClock }),
    begin,
  })
  /** What may be begun: answers that are not written down yet count too, or a slow database would let them pile up. */
  const room = () => Math.min(slots.free, 2 * concurrency - underWay.size) - promised
  /** Attempts that statements under way may still begin. */
  let promised = 0

  const serve = async (): Promise<boolean> => {
    const share = Math.max(ROOM_WORTH_A_CLAIM, Math.floor(concurrency * SERVED_SHARE))
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
    if (room() < Math.min(ROOM_WORTH_A_CLAIM, slots.taken)) await wait(GATHER_MS)
  }

  let findAt = Number.NEGATIVE_INFINITY
  const find = async () => {
    const began = performance.now()
    if (began < findAt) return
    findAt = began + pollMs
    await rounds.find()
    findAt = began + Math.max(pollMs, (performance.now() - began) / FIND_SHARE)
  }

  let compared = Number.NEGATIVE_INFINITY
  const compareClocks = async () => {
    if (performance.now() - compared < CLOCK_EVERY_MS) return
    await leaseClock.refresh()
    compared = performance.now()
  }

  const look = async () => {
    try {
      await compareClocks()
      await find()
      const served = await Promise.allSettled(Array.from({ length: SERVED_AT_ONCE }, serveAll))
      const failed = served.find((each) => each.status === 'rejected')
      if (failed) throw failed.reason
      if (failing) log.info({ environment }, 'deliveries go on')
      failing = false
    } catch (err) {
      if (!failing)
        log.warn({ err, environment }, 'the queue of deliveries cannot be read; it is tried again')
      failing = true
      findAt = performance.now() + pollMs // finds again what was taken from the agenda
      wakeUp.clear() // attempts that end now must not make it try again sooner
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

/** Waits for the promise, but not longer than so many milliseconds. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  await Promise.race([promise, wait(ms, undefined, { signal: over.signal }).catch(() => {})]) // aborted: it was in time
  over.abort()
}

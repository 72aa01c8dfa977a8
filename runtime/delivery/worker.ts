import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Seals } from '../auth/secrets.ts'
import type { Clock } from '../clock.ts'
import type { Environment } from '../contract.ts'
import type { Pool } from '../db/pool.ts'
import { type Claimed, claimAttempts, LANE_WIDTH } from '../db/webhook_ready.ts'
import { promoteAttempts } from '../db/webhook_waiting.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { createLeaseClock, type LeaseClock } from './lease-clock.ts'
import { createRecorder, type Recorded } from './record.ts'
import { createSender } from './sender.ts'
import { createSlots } from './slots.ts'

export interface WorkerOptions {
  readonly environment: Environment
  /** Of the environment, under its own role. */
  readonly pool: Pool
  readonly clock: Clock
  readonly outbound: Outbound
  readonly seals: Seals
  readonly log: Logger
  /** The version that a tenant is pinned to in the environment; null where it has no pin. */
  readonly readPin: (tenantId: string) => Promise<string | null>
  /** Attempts under way at once. */
  readonly concurrency?: number
  /** How long an attempt is nobody else's; more than an attempt may take. */
  readonly leaseMs?: number
  /** How late what nobody told of is found. */
  readonly pollMs?: number
  /** How long `stop` waits for attempts under way. */
  readonly drainMs?: number
  /** Default: the database's clock. */
  readonly leaseClock?: LeaseClock
}

/** What a worker has done since it started, and what it has to do. */
export interface WorkerStats {
  readonly underWay: number
  readonly capacity: number
  readonly claims: number
  /** By how they were recorded; `lost`: neither sent nor recorded, or recorded by nobody: their leases run out. */
  readonly attempts: Readonly<Record<Recorded | 'lost', number>>
  /** How long after it was due the attempt claimed last was claimed; service time. */
  readonly latenessMs: number
  /** Whether the last look at the queue failed. */
  readonly failing: boolean
}

export interface Worker {
  /** Something is due: look at once. */
  wake(): void
  stats(): WorkerStats
  /**
   * Claims nothing more, lets attempts under way end within `drainMs`, gives up the others: their leases run out. Resolves
   * soon after that whatever the database does.
   */
  stop(): Promise<void>
}

/** What an attempt takes at most, and a little for writing it down: with less left of its lease it is not begun. */
const ATTEMPT_MS = 11_000

/** After a look comes a rest as long as it took, at most so long: wakes that come meanwhile are answered together. */
const LONGEST_REST_MS = 10

const PROMOTED_AT_ONCE = 500
const CLAIMED_AT_ONCE = 256
const CLOCK_EVERY_MS = 60_000

/** The last look at the queue may take so long. */
const LAST_LOOK_MS = 1000

/** What was abandoned gets so long to be written or given up. */
const LAST_WORDS_MS = 2000

/** Delivers what is due in one environment, next to any number of other workers. Begins at once. */
export function createWorker(options: WorkerOptions): Worker {
  const { environment, pool, clock, log } = options
  const { concurrency = 1024, leaseMs = 20_000, pollMs = 500, drainMs = 12_000 } = options
  const leaseClock = options.leaseClock ?? createLeaseClock(pool, clock.machine)
  const recorder = createRecorder({ ...options, leaseClock, pauseMs: pollMs })
  const send = createSender(options)
  const slots = createSlots(concurrency)
  const alarm = createAlarm()
  const aborted = new AbortController()
  const underWay = new Set<Promise<void>>()
  const attempts = { succeeded: 0, failed: 0, canceled: 0, stale: 0, disabled: 0, lost: 0 }
  let [claims, latenessMs, failing, stopping] = [0, 0, false, false]

  const attempt = async (claimed: Claimed, token: string, leaseUntil: number): Promise<void> => {
    const attemptedAt = clock.service(environment)
    // A process that was stopped meanwhile must not send what another may be sending already.
    if (leaseClock.now() > leaseUntil - Math.min(ATTEMPT_MS, leaseMs / 2))
      throw new Error('the lease is too short')
    const outcome = claimed.wanted ? await send(claimed, aborted.signal) : undefined
    attempts[await recorder.record(claimed, token, outcome, attemptedAt)] += 1
  }

  const begin = (claimed: Claimed, token: string, leaseUntil: number) => {
    const { tenant_id, endpoint_id, attempt_id } = claimed
    slots.take(tenant_id)
    const ending = attempt(claimed, token, leaseUntil)
      .catch((err) => {
        attempts.lost += 1
        if (aborted.signal.aborted) return
        log.error({ err, tenant_id, endpoint_id, attempt_id }, 'an attempt was lost; it is made again')
      })
      .finally(() => {
        slots.give(tenant_id)
        underWay.delete(ending)
        alarm.ring() // its lane and its slot have room again
      })
    underWay.add(ending)
  }

  /** One claim from the cursor on; gives where it ended. */
  const claim = async (after: string) => {
    const token = randomUUID()
    const now = leaseClock.now()
    const leaseUntil = now + leaseMs
    const limit = Math.min(slots.free, CLAIMED_AT_ONCE)
    const shares = slots.allowances(LANE_WIDTH)
    const { rows, reached } = await claimAttempts(pool, { now, leaseUntil, token, after, limit, ...shares })
    claims += 1
    for (const claimed of rows) {
      latenessMs = Math.max(0, clock.service(environment) - claimed.due_at)
      begin(claimed, token, leaseUntil)
    }
    return { found: rows.length > 0, reached }
  }

  let cursor = ''
  /** Claims from tenant to tenant until a whole round has found nothing, or all slots are taken. */
  const claimAll = async () => {
    let found = cursor !== ''
    while (!stopping && slots.free > 0) {
      const claimed = await claim(cursor)
      found ||= claimed.found
      cursor = claimed.reached ?? ''
      if (cursor !== '') continue
      if (!found) return
      found = false
    }
  }

  let promoted = Number.NEGATIVE_INFINITY
  const promote = async () => {
    if (performance.now() - promoted < pollMs) return
    while ((await promoteAttempts(pool, clock.service(environment), PROMOTED_AT_ONCE)) === PROMOTED_AT_ONCE) {
      // as long as there is a whole batch, there may be more
    }
    promoted = performance.now()
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
      await promote()
      await claimAll()
      if (failing) log.info({ environment }, 'deliveries go on')
      failing = false
    } catch (err) {
      if (!failing)
        log.warn({ err, environment }, 'the queue of deliveries cannot be read; it is tried again')
      failing = true
      alarm.silence() // whoever ends now must not make it try faster
    }
  }

  const run = async () => {
    while (!stopping) {
      const began = performance.now()
      await look()
      await wait(Math.min(LONGEST_REST_MS, performance.now() - began))
      await alarm.heard(pollMs)
    }
  }
  const running = run()
  return {
    wake: () => alarm.ring(),
    stats: () => ({
      underWay: slots.taken,
      capacity: concurrency,
      claims,
      attempts: { ...attempts },
      latenessMs,
      failing,
    }),
    stop: async () => {
      stopping = true
      alarm.ring()
      const ended = () => running.then(() => Promise.all(underWay))
      await within(drainMs + LAST_LOOK_MS, ended())
      aborted.abort()
      recorder.abandon()
      await within(LAST_WORDS_MS, ended())
    },
  }
}

/** Waits for the promise, but not longer than so many milliseconds. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  await Promise.race([promise, wait(ms, undefined, { signal: over.signal }).catch(() => {})]) // aborted: it was in time
  over.abort()
}

/** A bell that is heard by whoever waits, or by the next who does. */
function createAlarm() {
  let rung = false
  let answer: (() => void) | undefined
  return {
    ring() {
      rung = true
      answer?.()
    },
    silence() {
      rung = false
    },
    /** Resolves at the next ring, or after so many milliseconds. */
    async heard(ms: number): Promise<void> {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          answer = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      answer = undefined
      rung = false
    },
  }
}

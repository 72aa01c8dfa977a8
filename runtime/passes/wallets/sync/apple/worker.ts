import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../../../database/pool/pool.ts'
import type { Environment } from '../../../../platform/environment.ts'
import { runInSpan, type Tracer } from '../../../../tracing/span.ts'
import { createBatches } from '../../../../work/batches.ts'
import type { LeaseClock } from '../../../../work/lease-clock.ts'
import { createQueueWorker } from '../../../../work/queue-worker.ts'
import type { SetAside } from '../../../../work/set-aside.ts'
import { createSlots } from '../../../../work/slots.ts'
import type { FanOutStep, StepLease } from './fan-out.ts'
import {
  claimUpdates,
  findWork,
  settleUpdates,
  type Update,
  type UpdateEnd,
  type WalletPlatform,
} from './queue-queries.ts'

/** The result of an update. `stopped`: no update can be sent for now. */
export type UpdateOutcome = 'done' | 'failed' | 'stopped'

export interface UpdateSender {
  /** Prepares updates that were claimed together. Returns a function that sends one of them. */
  prepare(space: string, updates: readonly Update[]): Promise<(update: Update) => Promise<UpdateOutcome>>
}

export interface UpdateWorkerOptions {
  readonly environment: Environment
  readonly platform: WalletPlatform
  readonly pool: Pool
  readonly leaseClock: LeaseClock
  readonly sender: UpdateSender
  readonly setAside: SetAside
  /** Performs one fan-out step. The worker sends what the step has leased. */
  readonly fanOut: (space: string, lease: StepLease | undefined) => Promise<FanOutStep>
  readonly log: Logger
  readonly tracer?: Tracer | undefined
  /** Maximum number of concurrent updates. */
  readonly concurrency?: number
  /** Lease duration; must exceed the time that sending can take. In milliseconds, as are the options below. */
  readonly leaseMs?: number
  /** Polling interval; new work is found within this time. */
  readonly pollMs?: number
  /** Delay before the first retry. It doubles for each further retry. */
  readonly retryMs?: number
  /** How long `stop` waits for updates in progress. */
  readonly drainMs?: number
}

export interface UpdateWorkerStats {
  readonly underWay: number
  /** Updates by result. `lost`: the result was not recorded, so the lease expires and the update is sent again. */
  readonly outcomes: Readonly<Record<UpdateOutcome | 'lost', number>>
  /** Number of tenants with pending work in the last poll. */
  readonly tenants: number
  /** How long the oldest change of the last claim has waited; 0 if the queue is empty. */
  readonly waitedMs: number
  /** Whether the last poll failed. */
  readonly failing: boolean
}

export interface UpdateWorker {
  stats(): UpdateWorkerStats
  /**
   * Stops claiming and waits for updates in progress. After their leases expire, other workers take those that did not
   * finish.
   */
  stop(): Promise<void>
}

/** Maximum number of tenants that are processed concurrently. */
const VISITS = 4

/** Updates claimed in one turn of a tenant. */
const CLAIMED_AT_ONCE = 200

const RETRY_MS = 5000
const MAX_RETRY_MS = 30 * 60_000

/** Maximum pause while nothing can be sent. After each pause, the worker tries a single update. */
const MAX_PAUSE_MS = 60_000

const SETTLED_AT_ONCE = 200
const SETTLING = 4

const describeUpdate = (outcome: UpdateOutcome) => ({
  'error.type': outcome === 'done' ? undefined : outcome,
})

/**
 * Sends the queued updates of one environment and platform, and starts immediately. Any number of workers can run in
 * parallel: tenants take turns, each gets a fair share of the slots (work/slots.ts), and claimed updates are under a
 * lease.
 */
export function createUpdateWorker(options: UpdateWorkerOptions): UpdateWorker {
  const { environment, platform, pool, leaseClock, sender, setAside, fanOut, log, tracer } = options
  const { concurrency = 1600, leaseMs = 60_000, pollMs = 500, retryMs = RETRY_MS, drainMs = 12_000 } = options
  const slots = createSlots(concurrency)
  /** Tenants that found no free slot. */
  const blocked = new Set<string>()
  const underWay = new Set<Promise<void>>()
  const outcomes = { done: 0, failed: 0, stopped: 0, lost: 0 }
  let [pauseMs, pausedUntil] = [0, Number.NEGATIVE_INFINITY]
  let [tenants, oldest] = [0, Number.POSITIVE_INFINITY]

  const settling = createBatches<UpdateEnd, void>({
    write: (batch) => settleUpdates(pool, platform, batch),
    size: SETTLED_AT_ONCE,
    atOnce: SETTLING,
    groupOf: ({ space }) => space,
    pauseMs: pollMs,
  })

  const isPaused = () => performance.now() < pausedUntil
  const notePause = (outcome: UpdateOutcome) => {
    if (outcome === 'done') pauseMs = 0
    if (outcome !== 'stopped' || isPaused()) return
    pauseMs = Math.min(MAX_PAUSE_MS, Math.max(pollMs, pauseMs * 2))
    pausedUntil = performance.now() + pauseMs
  }

  /** Returns the time of the next attempt and the new number of failures. */
  const followUp = (outcome: UpdateOutcome, { tries }: Update): Pick<UpdateEnd, 'readyAt' | 'tries'> => {
    if (outcome === 'done') return { readyAt: undefined, tries: 0 }
    if (outcome === 'stopped') return { readyAt: leaseClock.now() + pauseMs, tries }
    return { readyAt: leaseClock.now() + Math.min(MAX_RETRY_MS, retryMs * 2 ** tries), tries: tries + 1 }
  }

  const begin = (
    space: string,
    update: Update,
    token: string,
    leaseUntil: number,
    send: Promise<UpdateOutcome>,
  ) => {
    const ending = send
      .then(async (outcome) => {
        notePause(outcome)
        // Another worker may have claimed it by now.
        if (leaseClock.now() > leaseUntil) throw new Error('the lease has expired')
        const { target, generation } = update
        await settling.add({ space, target, token, generation, ...followUp(outcome, update) })
        outcomes[outcome] += 1
      })
      .catch((err) => {
        outcomes.lost += 1
        const about = { err, platform, tenant_id: space, target: update.target }
        log.error(about, 'the result of a wallet update was not recorded; the update is sent again')
      })
      .finally(() => {
        slots.give(space)
        underWay.delete(ending)
        // Wake up the tenant that freed the slot, and the tenant that has been blocked longest.
        for (const next of [space, ...blocked.values().take(1)]) if (blocked.delete(next)) queue.wake(next)
      })
    underWay.add(ending)
  }

  /** An error counts as a failed attempt, so that the retries back off. */
  const sendOrFail = async (
    space: string,
    update: Update,
    send: (update: Update) => Promise<UpdateOutcome>,
  ) => {
    const item = { space, id: update.target }
    try {
      const attributes = { 'svc.tenant_id': space, 'svc.device_id': update.target }
      const span = tracer?.resume(update.trace, { name: 'push to Apple', kind: 'client', attributes })
      const outcome = await runInSpan(span, () => send(update), describeUpdate)
      await setAside.succeeded(item)
      return outcome
    } catch (error) {
      await setAside.take(item, error)
      return 'failed'
    }
  }

  /** Returns how many updates the tenant may start now. */
  const room = (space: string): number => {
    if (isPaused()) return 0
    const { allowance, allowances } = slots.allowances(CLAIMED_AT_ONCE, [space])
    // After a pause, one update tests whether sending works again.
    return pauseMs > 0 ? 1 : Math.min(slots.free, allowances[space] ?? allowance)
  }
  const newLease = () => {
    const now = leaseClock.now()
    return { now, token: randomUUID(), leaseUntil: now + leaseMs }
  }
  const beginAll = (
    space: string,
    updates: readonly Update[],
    { token, leaseUntil }: ReturnType<typeof newLease>,
  ) => {
    if (updates.length === 0) return
    oldest = Math.min(...updates.map(({ since }) => since))
    for (const _ of updates) slots.take(space)
    const prepared = sender.prepare(space, updates)
    for (const update of updates) {
      const sent = prepared.then((send) => sendOrFail(space, update, send))
      begin(space, update, token, leaseUntil, sent)
    }
  }

  /** Claims updates of the tenant and starts sending them. Returns whether more may be pending. */
  const claim = async (space: string): Promise<boolean> => {
    const limit = room(space)
    if (limit === 0) return false
    const lease = newLease()
    const updates = await claimUpdates(pool, { space, platform, limit, ...lease })
    beginAll(space, updates, lease)
    return updates.length === limit && pauseMs === 0
  }

  /** Performs a fan-out step and starts sending what it queues. Returns whether more may be pending. */
  const goOn = async (space: string): Promise<boolean> => {
    const limit = pauseMs > 0 ? 0 : room(space)
    if (limit === 0 && pauseMs === 0) return false
    const lease = newLease()
    const offered = limit > 0 ? { limit, token: lease.token, until: lease.leaseUntil } : undefined
    const { more, leased } = await fanOut(space, offered)
    beginAll(space, leased, lease)
    return more
  }

  const queue = createQueueWorker<string>({
    ...{ name: 'apple_pushes', environment, setAside, leaseClock, log, pollMs },
    batch: Number.POSITIVE_INFINITY,
    atOnce: VISITS,
    async find({ now }) {
      const found = await findWork(pool, platform, now)
      tenants = found.length
      if (slots.free > 0) blocked.clear() // there may be no update in progress whose end would wake them up
      return found.filter((space) => !blocked.has(space))
    },
    itemOf: (space) => ({ space, id: space }),
    async perform([space]) {
      // Earlier updates first, so that a long fan-out does not delay them.
      const more = [await claim(space!), await goOn(space!)]
      if (more.includes(true)) return 'more'
      if (!isPaused() && room(space!) === 0) blocked.add(space!)
      return 'idle'
    },
  })
  queue.start()
  return {
    stats: () => ({
      underWay: slots.taken,
      outcomes: { ...outcomes },
      tenants,
      waitedMs: tenants > 0 && Number.isFinite(oldest) ? Math.max(0, leaseClock.now() - oldest) : 0,
      failing: queue.stats().failing,
    }),
    stop: async () => {
      const ended = queue.stop().then(() => Promise.all(underWay))
      const over = new AbortController()
      await Promise.race([ended, wait(drainMs, undefined, { signal: over.signal }).catch(() => {})]) // the abort means that everything finished in time
      over.abort()
      settling.abandon()
    },
  }
}

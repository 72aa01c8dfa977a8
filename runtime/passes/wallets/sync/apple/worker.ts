import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../../../database/pool/pool.ts'
import type { Environment } from '../../../../platform/environment.ts'
import { createBatches } from '../../../../work/batches.ts'
import type { LeaseClock } from '../../../../work/lease-clock.ts'
import { createQueueWorker } from '../../../../work/queue-worker.ts'
import type { SetAside } from '../../../../work/set-aside.ts'
import { createSlots } from '../../../../work/slots.ts'
import {
  claimUpdates,
  findWork,
  settleUpdates,
  type Update,
  type UpdateEnd,
  type WalletPlatform,
} from './queue-queries.ts'

/** What became of an update; `stopped`: nothing can be sent to anybody for now. */
export type UpdateOutcome = 'done' | 'failed' | 'stopped'

/** Sends updates of one tenant. */
export interface UpdateSender {
  /** Once for all that were taken together; gives what sends each. */
  prepare(space: string, updates: readonly Update[]): Promise<(update: Update) => Promise<UpdateOutcome>>
}

export interface UpdateWorkerOptions {
  readonly environment: Environment
  readonly platform: WalletPlatform
  /** Of the environment. */
  readonly pool: Pool
  readonly leaseClock: LeaseClock
  readonly sender: UpdateSender
  readonly setAside: SetAside
  /** A bounded step from what has changed to updates; gives whether there may be more to do. */
  readonly fanOut: (space: string) => Promise<boolean>
  readonly log: Logger
  /** Updates under way at once. */
  readonly concurrency?: number
  /** In milliseconds, here and below: more than sending may take. */
  readonly leaseMs?: number
  /** How late something new is found. */
  readonly pollMs?: number
  /** Before the second attempt; before each further one twice as long. */
  readonly retryMs?: number
  /** How long `stop` waits for what is under way. */
  readonly drainMs?: number
}

export interface UpdateWorkerStats {
  readonly underWay: number
  /** By how they ended; `lost`: their leases run out. */
  readonly outcomes: Readonly<Record<UpdateOutcome | 'lost', number>>
  /** Tenants for whom the last look found something to do. */
  readonly tenants: number
  /** How long the oldest change has waited of those taken last; 0 while there is nothing to do. */
  readonly waitedMs: number
  /** Whether the last look at the queue failed. */
  readonly failing: boolean
}

export interface UpdateWorker {
  stats(): UpdateWorkerStats
  /** Takes nothing more and lets what is under way end; what does not is taken by others when its lease is over. */
  stop(): Promise<void>
}

/** Tenants whose turn is at once. */
const VISITS = 4

/** Updates that are taken in one turn of a tenant. */
const CLAIMED_AT_ONCE = 100

const RETRY_MS = 5000
const MAX_RETRY_MS = 30 * 60_000

/** While nothing can be sent, one is tried after a pause that grows up to this. */
const MAX_PAUSE_MS = 60_000

const SETTLED_AT_ONCE = 200
const SETTLING = 4

/**
 * Sends what waits in the queue of one environment and platform, next to any number of other workers: tenants take turns, each
 * has its share of what is under way (work/slots.ts), and what is taken is under a lease. Begins at once.
 */
export function createUpdateWorker(options: UpdateWorkerOptions): UpdateWorker {
  const { environment, platform, pool, leaseClock, sender, setAside, fanOut, log } = options
  const { concurrency = 400, leaseMs = 60_000, pollMs = 500, retryMs = RETRY_MS, drainMs = 12_000 } = options
  const slots = createSlots(concurrency)
  /** Tenants for whom there was no slot. */
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

  /** What follows on an outcome: when it is tried again, and how often it has failed by then. */
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
        // Another worker may have it by now.
        if (leaseClock.now() > leaseUntil) throw new Error('the lease is over')
        const { target, generation } = update
        await settling.add({ space, target, token, generation, ...followUp(outcome, update) })
        outcomes[outcome] += 1
      })
      .catch((err) => {
        outcomes.lost += 1
        const about = { err, platform, tenant_id: space, target: update.target }
        log.error(about, 'an update of a wallet was lost; it is sent again')
      })
      .finally(() => {
        slots.give(space)
        underWay.delete(ending)
        // A slot is free: for the tenant whose it was, and for whom there was none longest.
        for (const next of [space, ...blocked.values().take(1)]) if (blocked.delete(next)) queue.wake(next)
      })
    underWay.add(ending)
  }

  /** An update that cannot be sent counts as failed, so that its attempts come further and further apart. */
  const sendOrFail = async (
    space: string,
    update: Update,
    send: (update: Update) => Promise<UpdateOutcome>,
  ) => {
    const item = { space, id: update.target }
    try {
      const outcome = await send(update)
      await setAside.succeeded(item)
      return outcome
    } catch (error) {
      await setAside.take(item, error)
      return 'failed'
    }
  }

  /** Takes updates of the tenant and begins to send them; gives whether there may be more. */
  const claim = async (space: string): Promise<boolean> => {
    if (isPaused()) return false
    const { allowance, allowances } = slots.allowances(CLAIMED_AT_ONCE, [space])
    // After a pause one is tried, before everything comes.
    const limit = pauseMs > 0 ? 1 : Math.min(slots.free, allowances[space] ?? allowance)
    if (limit === 0) {
      blocked.add(space)
      return false
    }
    const now = leaseClock.now()
    const lease = { token: randomUUID(), leaseUntil: now + leaseMs }
    const updates = await claimUpdates(pool, { space, platform, now, limit, ...lease })
    if (updates.length === 0) return false
    oldest = Math.min(...updates.map(({ since }) => since))
    for (const _ of updates) slots.take(space)
    const prepared = sender.prepare(space, updates)
    for (const update of updates) {
      const sent = prepared.then((send) => sendOrFail(space, update, send))
      begin(space, update, lease.token, lease.leaseUntil, sent)
    }
    return updates.length === limit && pauseMs === 0
  }

  const queue = createQueueWorker<string>({
    ...{ name: 'apple_pushes', environment, setAside, leaseClock, log, pollMs },
    batch: Number.POSITIVE_INFINITY,
    atOnce: VISITS,
    async find({ now }) {
      const found = await findWork(pool, platform, now)
      tenants = found.length
      if (slots.free > 0) blocked.clear() // perhaps no update is left whose end would wake them
      return found.filter((space) => !blocked.has(space))
    },
    itemOf: (space) => ({ space, id: space }),
    async perform([space]) {
      const more = [await fanOut(space!), await claim(space!)]
      return more.includes(true) ? 'more' : 'idle'
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
      await Promise.race([ended, wait(drainMs, undefined, { signal: over.signal }).catch(() => {})]) // aborted: in time
      over.abort()
      settling.abandon()
    },
  }
}

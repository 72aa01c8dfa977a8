import type { Logger } from 'pino'
import type { Pool } from '../../../../database/pool/pool.ts'
import type { Environment } from '../../../../platform/environment.ts'
import type { LeaseClock } from '../../../../work/lease-clock.ts'
import type { SetAside } from '../../../../work/set-aside.ts'
import { createWakeUp } from '../../../../work/wake-up.ts'
import type { SyncOutcome } from './client.ts'
import { findSpaces } from './queries.ts'
import type { Sync } from './sync.ts'
import { createVisitor, type VisitOutcome } from './visit.ts'

export interface FollowerOptions {
  readonly environment: Environment
  /** Of the environment, under its own role. */
  readonly pool: Pool
  readonly sync: Sync
  readonly setAside: SetAside
  readonly leaseClock: LeaseClock
  readonly log: Logger
  readonly leaseMs?: number
  /** How late something is found whose wake-up was lost, in milliseconds. */
  readonly pollMs?: number
}

export interface FollowerStats {
  /** Visits by how they ended. */
  readonly visits: Readonly<Record<VisitOutcome | 'failed', number>>
  /** Resources by what became of them at Google. */
  readonly sent: Readonly<Record<SyncOutcome['outcome'], number>>
  /** Events that Google does not know of, in the spaces that the last look found. */
  readonly behind: number
  /** Whether the last look failed. */
  readonly failing: boolean
}

/** Keeps Google Wallet at what passes and templates of an environment are, next to any number of other nodes. */
export interface Follower {
  /** Something was emitted in the space: look at once. Without a space: in any. */
  wake(space?: string): void
  stats(): FollowerStats
  /** Begins nothing more; requests under way come to their end. */
  stop(): Promise<void>
}

const POLL_MS = 1000

/** Spaces that are visited at once: each has its turn after a visit, however much another has to send. */
const AT_ONCE = 4

/** Spaces that one look finds; the next look goes on behind them. */
const FOUND_AT_ONCE = 200

/** Looking for spaces takes at most this share of the time, however many there are. */
const FIND_SHARE = 0.2

const CLOCK_EVERY_MS = 60_000

/** Begins at once. */
export function createFollower(options: FollowerOptions): Follower {
  const { environment, pool, leaseClock, log, pollMs = POLL_MS } = options
  const wakeUp = createWakeUp()
  const waiting = new Set<string>()
  const underWay = new Map<string, Promise<void>>()
  const counts = { more: 0, done: 0, waits: 0, busy: 0, failed: 0 }
  const sent = { done: 0, refused: 0, later: 0 }
  let behindBy = 0
  let [stopping, failing] = [false, false]
  const sync: Sync = async (target) => {
    const result = await options.sync(target)
    sent[result.outcome] += 1
    return result
  }
  const visit = createVisitor({ ...options, sync, now: leaseClock.now, isStopping: () => stopping })

  const serve = async (space: string) => {
    try {
      const outcome = await visit(space)
      counts[outcome] += 1
      if (outcome === 'more') waiting.add(space)
    } catch (err) {
      counts.failed += 1
      log.warn({ err, environment, space }, 'a visit for Google Wallet failed; it is made again')
    } finally {
      underWay.delete(space)
      wakeUp.notify()
    }
  }

  const serveWaiting = () => {
    for (const space of waiting) {
      if (stopping || underWay.size >= AT_ONCE) return
      if (underWay.has(space)) continue
      waiting.delete(space)
      underWay.set(space, serve(space))
    }
  }

  let after = ''
  let findAt = Number.NEGATIVE_INFINITY
  const find = async () => {
    const began = performance.now()
    if (began < findAt) return
    const found = await findSpaces(pool, leaseClock.now(), after, FOUND_AT_ONCE)
    for (const { space } of found) waiting.add(space)
    behindBy = found.reduce((sum, each) => sum + each.behind, 0)
    after = found.length < FOUND_AT_ONCE ? '' : found.at(-1)!.space
    findAt = began + Math.max(pollMs, (performance.now() - began) / FIND_SHARE)
  }

  let compared = Number.NEGATIVE_INFINITY
  const look = async () => {
    try {
      if (performance.now() - compared > CLOCK_EVERY_MS) {
        await leaseClock.refresh()
        compared = performance.now()
      }
      await find()
      if (failing) log.info({ environment }, 'Google Wallet is followed again')
      failing = false
    } catch (err) {
      if (!failing) log.warn({ err, environment }, 'what to send to Google Wallet cannot be read')
      failing = true
      findAt = performance.now() + pollMs
    }
  }

  const run = async () => {
    while (!stopping) {
      await look()
      serveWaiting()
      await wakeUp.wait(Math.max(0, findAt - performance.now()))
    }
  }
  const running = run()
  return {
    wake: (space) => {
      if (space === undefined) findAt = Number.NEGATIVE_INFINITY
      else waiting.add(space)
      wakeUp.notify()
    },
    stats: () => ({ visits: { ...counts }, sent: { ...sent }, behind: behindBy, failing }),
    stop: async () => {
      stopping = true
      wakeUp.notify()
      await running
      await Promise.all(underWay.values())
    },
  }
}

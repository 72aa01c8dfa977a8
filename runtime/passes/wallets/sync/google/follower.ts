import type { Logger } from 'pino'
import type { Pool } from '../../../../database/pool/pool.ts'
import type { Environment } from '../../../../platform/environment.ts'
import type { Tracer } from '../../../../tracing/span.ts'
import type { LeaseClock } from '../../../../work/lease-clock.ts'
import { createQueueWorker } from '../../../../work/queue-worker.ts'
import type { SetAside } from '../../../../work/set-aside.ts'
import type { SyncOutcome } from './client.ts'
import { type FoundSpace, findSpaces } from './queries.ts'
import type { Sync } from './sync.ts'
import { createVisitor, type VisitOutcome } from './visit.ts'

export interface FollowerOptions {
  readonly environment: Environment
  /** Pool of the environment, with the environment's role. */
  readonly pool: Pool
  readonly sync: Sync
  readonly setAside: SetAside
  readonly leaseClock: LeaseClock
  readonly log: Logger
  readonly tracer?: Tracer | undefined
  readonly leaseMs?: number
  /** Polling interval in milliseconds; it bounds the delay if a wake-up is lost. */
  readonly pollMs?: number
}

export interface FollowerStats {
  /** Visits by result. */
  readonly visits: Readonly<Record<VisitOutcome | 'failed', number>>
  /** Resources by the result at Google. */
  readonly sent: Readonly<Record<SyncOutcome['outcome'], number>>
  /** Events not yet synchronized, in the spaces that the last poll found. */
  readonly behind: number
  /** Whether the last poll failed. */
  readonly failing: boolean
}

/**
 * Synchronizes the passes and templates of an environment to Google Wallet. Any number of nodes can run it in parallel.
 */
export interface Follower {
  /** Wakes up the follower after an event in the space, or in any space if none is given. */
  wake(space?: string): void
  stats(): FollowerStats
  /** Starts no more visits, and waits for requests in progress. */
  stop(): Promise<void>
}

/** Spaces visited concurrently. Each visit is bounded, so a space with much to send does not delay the others. */
const AT_ONCE = 4

/** Maximum number of spaces that one query finds; the next query continues after them. */
const FOUND_AT_ONCE = 200

/** Creates a follower and starts it. */
export function createFollower(options: FollowerOptions): Follower {
  const { pool } = options
  const visits = { more: 0, done: 0, waits: 0, busy: 0 }
  const sent = { done: 0, refused: 0, later: 0 }
  let behindBy = 0
  const sync: Sync = async (target) => {
    const result = await options.sync(target)
    sent[result.outcome] += 1
    return result
  }
  const visit = createVisitor({ ...options, sync })
  const worker = createQueueWorker<Pick<FoundSpace, 'space'>>({
    ...options,
    name: 'google_wallet',
    batch: FOUND_AT_ONCE,
    atOnce: AT_ONCE,
    async find({ limit, after, now }) {
      const found = await findSpaces(pool, now, after?.space ?? '', limit)
      behindBy = found.reduce((sum, { behind }) => sum + behind, 0)
      return found
    },
    itemOf: ({ space }) => ({ space, id: space }),
    async perform([found], turn) {
      const outcome = await visit(found!.space, turn)
      visits[outcome] += 1
      return outcome === 'more' ? 'more' : 'idle'
    },
  })
  worker.start()
  return {
    wake: (space) => worker.wake(space === undefined ? undefined : { space }),
    stats() {
      const { failing, turns } = worker.stats()
      return { visits: { ...visits, failed: turns.failed }, sent: { ...sent }, behind: behindBy, failing }
    },
    stop: worker.stop,
  }
}

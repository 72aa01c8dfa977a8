import type { Logger } from 'pino'
import type { Pool } from '../../../../database/pool/pool.ts'
import type { Environment } from '../../../../platform/environment.ts'
import type { LeaseClock } from '../../../../work/lease-clock.ts'
import { createQueueWorker } from '../../../../work/queue-worker.ts'
import type { SetAside } from '../../../../work/set-aside.ts'
import type { SyncOutcome } from './client.ts'
import { type FoundSpace, findSpaces } from './queries.ts'
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

/** Spaces that are visited at once: each has its turn after a visit, however much another has to send. */
const AT_ONCE = 4

/** Spaces that one search finds; the next search starts after them. */
const FOUND_AT_ONCE = 200

/** Begins at once. */
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

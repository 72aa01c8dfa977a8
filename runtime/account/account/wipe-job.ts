/** The worker that empties wiped spaces. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { forgetCards, relistCopies } from '../../cards/card-keys/directory-queries.ts'
import type { Database } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { WorkTurn } from '../../work/queue-worker.ts'
import { type DeclaredWorker, defineWorker } from '../../work/workers.ts'
import {
  emptySpace,
  forgetDevices,
  forgetNumbers,
  forgetSpace,
  listWipedSpaces,
  type RetiredSpace,
} from './wipe-queries.ts'

export interface WiperOptions {
  readonly database: { readonly control: Database; readonly sandbox: Pool }
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
  readonly batch?: number
  /** Milliseconds after a wipe in which work in progress may still write to the old space. */
  readonly graceMs?: number
}

/** Limits the size of a step, because other commits wait until the step's writes are flushed to disk. */
const BATCH = 500

/** Longer than the lease of a delivery and than any statement may take. */
const GRACE_MS = 60_000

/**
 * Declares the worker that empties wiped spaces. Its transactions have a bounded size, and after each it rests as
 * long as the transaction took. So at least half of the database's time remains for other work. Any number of workers
 * may run.
 */
export function wipeWorker(options: WiperOptions): DeclaredWorker {
  const { database, clock, batch = BATCH, graceMs = GRACE_MS } = options
  const told = new Set<string>()

  const empty = async ({ space, wipedAt }: RetiredSpace, { isStopping }: WorkTurn) => {
    const isOver = clock.machine() - wipedAt >= graceMs
    // If the process that wiped was killed before it notified the other nodes, this notifies them.
    if (!told.has(space)) await bumpRevision(database.control)
    told.add(space)
    let began = performance.now()
    const rest = async () => {
      await wait(performance.now() - began)
      began = performance.now()
      return !isStopping()
    }
    if (!(await emptySpace(database.sandbox, space, batch, isOver, rest))) return
    for (const forget of [forgetNumbers, forgetDevices, forgetCards, relistCopies])
      while (!(await forget(database.control, space, batch))) if (!(await rest())) return
    await forgetSpace(database.sandbox, space)
    told.delete(space)
  }
  return defineWorker<RetiredSpace>(
    { ...options, database: { ...database, live: database.sandbox } },
    {
      name: 'wipes',
      environments: ['sandbox'],
      batch: Number.POSITIVE_INFINITY,
      find: () => listWipedSpaces(database.sandbox),
      itemOf: ({ space }) => ({ space, id: space }),
      async perform([retired], turn) {
        await empty(retired!, turn)
        return 'idle'
      },
    },
  )
}

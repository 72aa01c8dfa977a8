/** Empties the spaces that wipes have left behind. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { createSetAside } from '../../work/set-aside.ts'
import { emptySpace, forgetDevices, forgetSpace, listWipedSpaces, type RetiredSpace } from './wipe-queries.ts'

export interface WiperOptions {
  readonly database: { readonly control: Database; readonly sandbox: Pool }
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
  /** Rows deleted in one transaction. */
  readonly batch?: number
  /** For so long after a wipe, attempts that were under way may still write in the old space. */
  readonly graceMs?: number
}

export interface Wiper {
  /** Empties what there is to empty. */
  look(): Promise<void>
  /** Ends a look under way after the transaction that it is at. */
  stop(): void
}

/** Whoever commits meanwhile waits until what a step has written is on the disk too. */
const BATCH = 500

/** More than a lease of a delivery and than any statement may take. */
const GRACE_MS = 60_000

/**
 * Deletes what stands in wiped spaces, in transactions of a bounded size with a rest as long as each has taken in between, so
 * that whoever else works on the database gets at least half of it. Any number of workers may.
 */
export function createWiper(options: WiperOptions): Wiper {
  const { database, clock, log, batch = BATCH, graceMs = GRACE_MS } = options
  const setAside = createSetAside({ control: database.control, clock, log }, 'wipes', 'sandbox')
  const told = new Set<string>()
  let stopping = false

  const empty = async ({ space, wipedAt }: RetiredSpace) => {
    const isOver = clock.machine() - wipedAt >= graceMs
    // Where the process that wiped was killed before it told the other nodes, they hear of it here.
    if (!told.has(space)) await bumpRevision(database.control)
    told.add(space)
    let began = performance.now()
    const rest = async () => {
      await wait(performance.now() - began)
      began = performance.now()
      return !stopping
    }
    if (!(await emptySpace(database.sandbox, space, batch, isOver, rest))) return
    while (!(await forgetDevices(database.control, space, batch))) if (!(await rest())) return
    await forgetSpace(database.sandbox, space)
    told.delete(space)
  }
  return {
    async look() {
      const spaces = await listWipedSpaces(database.sandbox)
      await setAside.performAll({
        batch: Number.POSITIVE_INFINITY,
        find: async () => spaces,
        itemOf: ({ space }) => ({ space, id: space }),
        groupsOf: (found) => found.map((each) => [each]),
        perform: ([each]) => empty(each!),
      })
    },
    stop() {
      stopping = true
    },
  }
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startWipeJob(options: WiperOptions): PeriodicJob {
  const wiper = createWiper(options)
  const job = runPeriodically(wiper.look, {
    pauseMs: PAUSE_MS,
    failed: (err) => options.log.warn({ err }, 'a wiped space could not be emptied; the next look goes on'),
  })
  return {
    stop: () => {
      wiper.stop()
      return job.stop()
    },
  }
}

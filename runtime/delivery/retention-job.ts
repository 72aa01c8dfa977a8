import type { Logger } from 'pino'
import type { Clock } from '../platform/clock/clock.ts'
import { CHECK_VIOLATION, codeOf } from '../platform/database/errors.ts'
import {
  addPartition,
  beginChange,
  dropPartition,
  listPartitions,
  type Partitioned,
  sweepDefault,
} from '../platform/database/migrate/partitions.ts'
import type { Pool } from '../platform/database/pool/pool.ts'
import { type PeriodicJob, runPeriodically } from '../platform/periodic.ts'

const DAY_MS = 86_400_000

/** A partition holds so much: few enough for lists that look into each of them. */
const SPAN_MS = 7 * DAY_MS

/** Partitions that are there before they are needed. */
const AHEAD = 2

const BATCH = 1000

export interface RetentionOptions {
  /** The owner's pool: partitions are made and dropped by who owns the table. */
  readonly control: Pool
  readonly clock: Clock
  readonly log: Logger
  /** How long live events and attempts are kept; as far as a whole partition goes. */
  readonly days?: number
}

/** The sandbox keeps everything until it is reset. */
const KEPT: readonly Partitioned[] = [
  { environment: 'live', table: 'events', prefix: 'evt' },
  { environment: 'live', table: 'webhook_attempts', prefix: 'wdla' },
]

/**
 * Makes the partitions that will be needed and drops those that are old enough. Any node may, at any time; a
 * table that is busy is left for the next time. Throws what went wrong last, after trying everything.
 */
export async function retain({ control, clock, log, days = 30 }: RetentionOptions): Promise<void> {
  let failure: unknown
  const attempt = async (work: () => Promise<unknown>) => {
    await work().catch((error: unknown) => {
      failure = error
    })
  }
  for (const of of KEPT) {
    const now = clock.service(of.environment)
    const current = Math.floor(now / SPAN_MS) * SPAN_MS
    const oldest = now - days * DAY_MS
    const present = await listPartitions(control, of)
    for (let step = 0; step <= AHEAD; step += 1) {
      const from = current + step * SPAN_MS
      if (!present.includes(from)) await attempt(() => add(control, of, from, log))
    }
    for (const from of present.filter((begin) => begin + SPAN_MS <= oldest)) {
      await attempt(() => drop(control, of, from))
    }
    await attempt(async () => {
      while ((await sweepDefault(control, of, oldest, BATCH)) >= BATCH) {
        // as long as there is a whole batch, there may be more
      }
    })
  }
  if (failure !== undefined) throw failure
}

/** Where rows of the time stand in the default partition already they stay there, and are deleted one by one in the end. */
async function add(control: Pool, of: Partitioned, from: number, log: Logger): Promise<void> {
  try {
    await control.transaction(async (tx) => {
      if (!(await beginChange(tx)) || (await listPartitions(tx, of)).includes(from)) return
      await addPartition(tx, of, from, from + SPAN_MS)
    })
  } catch (err) {
    if (codeOf(err) !== CHECK_VIOLATION) throw err
    log.debug({ table: of.table, from }, 'rows of this week are in the default partition already')
  }
}

async function drop(control: Pool, of: Partitioned, from: number): Promise<void> {
  await control.transaction(async (tx) => {
    if ((await beginChange(tx)) && (await listPartitions(tx, of)).includes(from))
      await dropPartition(tx, of, from)
  })
}

const PAUSE_MS = 3_600_000

/** Retains at once and every hour. */
export function startRetentionJob(options: RetentionOptions): PeriodicJob {
  return runPeriodically(() => retain(options), {
    pauseMs: PAUSE_MS,
    failed: (err) => options.log.warn({ err }, 'old events were not all let go; the next time goes on'),
    atOnce: true,
  })
}

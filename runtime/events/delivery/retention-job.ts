import type { Logger } from 'pino'
import { CHECK_VIOLATION, codeOf } from '../../database/errors.ts'
import {
  addPartition,
  beginChange,
  dropPartition,
  listPartitions,
  type Partitioned,
  sweepDefault,
} from '../../database/migrate/partitions.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { Clock } from '../../tenants/clock/clock.ts'

const DAY_MS = 86_400_000

/** Partitions that are created before they are needed. */
const AHEAD = 2

const BATCH = 1000

export interface RetentionOptions {
  /** The owner's pool: only the owner of a table can add and drop its partitions. */
  readonly control: Pool
  readonly clock: Clock
  readonly log: Logger
  /** Days that live events and their attempts are kept. Only whole partitions are dropped. */
  readonly days?: number
  readonly scanDays?: number
}

interface Kept extends Partitioned {
  readonly days: number
  /** Time that one partition covers. Lists search every partition, so there must be few. */
  readonly spanMs: number
}

/** Retained tables. Only live: the sandbox keeps everything until it is reset. */
const keptOf = ({ days = 30, scanDays = 400 }: RetentionOptions): readonly Kept[] => [
  { environment: 'live', table: 'events', prefix: 'evt', days, spanMs: 7 * DAY_MS },
  { environment: 'live', table: 'webhook_attempts', prefix: 'wdla', days, spanMs: 7 * DAY_MS },
  { environment: 'live', table: 'scans', prefix: 'scan', days: scanDays, spanMs: 56 * DAY_MS },
]

/**
 * Creates the partitions that will be needed soon, and drops expired ones. Any node may call this at any time. A
 * table that is busy waits until the next call. Tries everything, and then throws the last error.
 */
export async function retain(options: RetentionOptions): Promise<void> {
  const { control, clock, log } = options
  let failure: unknown
  const attempt = async (work: () => Promise<unknown>) => {
    await work().catch((error: unknown) => {
      failure = error
    })
  }
  for (const of of keptOf(options)) {
    const { days, spanMs } = of
    const now = clock.service(of.environment)
    const current = Math.floor(now / spanMs) * spanMs
    const oldest = now - days * DAY_MS
    const present = await listPartitions(control, of)
    for (let step = 0; step <= AHEAD; step += 1) {
      const from = current + step * spanMs
      if (!present.includes(from)) await attempt(() => add(control, of, from, log))
    }
    for (const from of present.filter((begin) => begin + spanMs <= oldest)) {
      await attempt(() => drop(control, of, from))
    }
    await attempt(async () => {
      while ((await sweepDefault(control, of, oldest, BATCH)) >= BATCH) {
        // a full batch means that there may be more
      }
    })
  }
  if (failure !== undefined) throw failure
}

/**
 * Adds a partition. If rows of that time are already in the default partition, PostgreSQL refuses. The rows then stay
 * there until they expire and are deleted in batches.
 */
async function add(control: Pool, of: Kept, from: number, log: Logger): Promise<void> {
  try {
    await control.transaction(async (tx) => {
      if (!(await beginChange(tx)) || (await listPartitions(tx, of)).includes(from)) return
      await addPartition(tx, of, from, from + of.spanMs)
    })
  } catch (err) {
    if (codeOf(err) !== CHECK_VIOLATION) throw err
    log.debug(
      { table: of.table, from },
      'partition not added: the default partition already has rows of this time',
    )
  }
}

async function drop(control: Pool, of: Partitioned, from: number): Promise<void> {
  await control.transaction(async (tx) => {
    if ((await beginChange(tx)) && (await listPartitions(tx, of)).includes(from))
      await dropPartition(tx, of, from)
  })
}

const PAUSE_MS = 3_600_000

/** Runs `retain` now and every hour. */
export function startRetentionJob(options: RetentionOptions): PeriodicJob {
  return runPeriodically(() => retain(options), {
    pauseMs: PAUSE_MS,
    failed: (err) =>
      options.log.warn({ err }, 'some expired events and scans were not deleted; the next run continues'),
    atOnce: true,
  })
}

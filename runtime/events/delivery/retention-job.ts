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

/** Partitions that are there before they are needed. */
const AHEAD = 2

const BATCH = 1000

export interface RetentionOptions {
  /** The owner's pool: partitions are made and dropped by who owns the table. */
  readonly control: Pool
  readonly clock: Clock
  readonly log: Logger
  /** How long live events and their attempts are kept; as far as a whole partition goes. */
  readonly days?: number
  /** The same of live scans. */
  readonly scanDays?: number
}

interface Kept extends Partitioned {
  readonly days: number
  /** A partition holds so much: lists look into each of them, so there are to be few. */
  readonly spanMs: number
}

/** The sandbox keeps everything until it is reset. */
const keptOf = ({ days = 30, scanDays = 400 }: RetentionOptions): readonly Kept[] => [
  { environment: 'live', table: 'events', prefix: 'evt', days, spanMs: 7 * DAY_MS },
  { environment: 'live', table: 'webhook_attempts', prefix: 'wdla', days, spanMs: 7 * DAY_MS },
  { environment: 'live', table: 'scans', prefix: 'scan', days: scanDays, spanMs: 56 * DAY_MS },
]

/**
 * Makes the partitions that will be needed and drops those that are old enough. Any node may, at any time; a
 * table that is busy is left for the next time. Throws what went wrong last, after trying everything.
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
        // as long as there is a whole batch, there may be more
      }
    })
  }
  if (failure !== undefined) throw failure
}

/** Where rows of the time stand in the default partition already they stay there, and are deleted one by one in the end. */
async function add(control: Pool, of: Kept, from: number, log: Logger): Promise<void> {
  try {
    await control.transaction(async (tx) => {
      if (!(await beginChange(tx)) || (await listPartitions(tx, of)).includes(from)) return
      await addPartition(tx, of, from, from + of.spanMs)
    })
  } catch (err) {
    if (codeOf(err) !== CHECK_VIOLATION) throw err
    log.debug({ table: of.table, from }, 'rows of this time are in the default partition already')
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
    failed: (err) =>
      options.log.warn({ err }, 'old events and scans were not all let go; the next time goes on'),
    atOnce: true,
  })
}

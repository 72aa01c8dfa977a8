/** Makes the reports that were asked for, in steps of a bounded size, and deletes the files of those that have expired. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import { mayPass } from '../../database/errors.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import { collectEvents, emit } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { ReportLinks } from '../../tenants/addresses/report-links.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { readCheckpoint } from '../ledger/checkpoints.ts'
import { InconsistentLedger } from '../ledger/history.ts'
import { createWriters, type Piece } from './files.ts'
import type { ReportResult, ReportRow } from './queries.ts'
import { ROW_SOURCES } from './row-sources.ts'
import { InconsistentLines } from './settlements.ts'
import { showReport } from './view.ts'
import {
  addPiece,
  type ClaimedReport,
  claimReport,
  endReport,
  failReport,
  findExpired,
  findPending,
  forgetFiles,
  type Lease,
  removePieces,
  renewLease,
} from './work-queries.ts'

export interface TreasuryReportParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
  readonly links: Readonly<Record<Environment, ReportLinks>>
  /** Nothing more is begun, and what is under way is left to others. */
  readonly isStopping?: () => boolean
}

/** Reports that a process makes at once, of as many tenants. */
const AT_ONCE = 4

/** Tenants found at a time. */
const BATCH = 100

const LEASE_MS = 30_000

/** A report that ended this often with its worker is not to be made. */
const MAX_TRIES = 5

/** How long the files of a report can be downloaded. */
const KEPT_MS = 7 * 86_400_000

/**
 * Makes what is to be made, the oldest report of each tenant, and deletes what has expired. Any number of nodes may. A report that
 * cannot be made fails alone.
 *
 * @throws {AggregateError} the faults of reports that have failed, after all others are made.
 */
export async function makeReports(parts: TreasuryReportParts): Promise<void> {
  const faults: unknown[] = []
  for (const environment of ENVIRONMENTS) {
    for (let after = ''; !parts.isStopping?.(); ) {
      const now = parts.clock.machine()
      const found = await findPending(parts.database[environment], now, after, BATCH)
      const free = found.filter((report) => !report.is_leased)
      const next = free.values()
      const makeInTurn = async () => {
        for (const { tenant_id: space, id } of next) {
          if (parts.isStopping?.()) return
          await make(parts, environment, space, id).catch((error: unknown) => {
            if (mayPass(error)) throw error
            if (!isSpaceWiped(error)) faults.push(error) // the next look does not find a space that is wiped
          })
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, makeInTurn))
      if (found.length < BATCH) break
      after = found.at(-1)!.tenant_id
    }
    await deleteExpired(parts, environment)
  }
  if (faults.length > 0) throw new AggregateError(faults, 'treasury reports failed')
}

/** A report in the hands of a worker. */
interface Making {
  readonly parts: TreasuryReportParts
  readonly environment: Environment
  readonly space: string
  readonly report: ClaimedReport
  readonly worker: string
}

/** Another worker has taken the report, or the tenant's sandbox was wiped. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

async function make(
  parts: TreasuryReportParts,
  environment: Environment,
  space: string,
  id: string,
): Promise<void> {
  const pool = parts.database[environment].forTenant(readSpace(space).tenantId)
  const worker = randomUUID()
  let making: Making | undefined
  try {
    const report = await claimReport(pool, space, id, leaseOf(parts, worker))
    if (!report) return
    making = { parts, environment, space, report, worker }
    if (report.tries > MAX_TRIES)
      return await end(making, { status: 'failed', failure_code: 'processing_error' })
    await removePieces(pool, space, id) // of who began before
    const result = await write(making)
    if (result) await end(making, { status: 'succeeded', result })
  } catch (error) {
    if (error instanceof LeaseLost) return
    if (mayPass(error) || isSpaceWiped(error)) throw error
    const isInconsistent = error instanceof InconsistentLedger || error instanceof InconsistentLines
    const failure_code = isInconsistent ? 'inconsistent_records' : 'processing_error'
    if (making) await endUnmade(making, failure_code)
    else await failUnread(parts, environment, space, id)
    if (!isInconsistent) throw new Error(`treasury report ${id} of ${space} failed`, { cause: error })
  }
}

/** Ends a report as failed; one that cannot be shown ends without an event. */
async function endUnmade(
  making: Making,
  failure_code: 'inconsistent_records' | 'processing_error',
): Promise<void> {
  try {
    await end(making, { status: 'failed', failure_code })
  } catch (error) {
    if (error instanceof LeaseLost) return
    if (mayPass(error) || isSpaceWiped(error)) throw error
    const { parts, environment, space, report } = making
    await failUnread(parts, environment, space, report.id)
    throw new Error(`treasury report ${report.id} of ${space} failed and cannot be shown`, { cause: error })
  }
}

/** Ends a report as failed that cannot be read: nothing but that is written of it. */
async function failUnread(
  parts: TreasuryReportParts,
  environment: Environment,
  space: string,
  id: string,
): Promise<void> {
  const now = parts.clock.service(environment)
  await parts.database[environment].forTenant(readSpace(space).tenantId).transaction(async (db) => {
    if (!(await failReport(db, space, id, now))) return
    pipelined(appendAudit(db, space, systemEntry(environment, 'treasury_report.failed', id, now)))
  })
}

function leaseOf({ clock }: TreasuryReportParts, worker: string): Lease {
  const now = clock.machine()
  return { worker, now, until: now + LEASE_MS }
}

/** Undefined where the process is to stop meanwhile. */
async function write(making: Making): Promise<ReportResult | undefined> {
  const { parts, environment, space, report } = making
  const db = parts.database[environment].forTenant(readSpace(space).tenantId)
  const { columns, steps } = ROW_SOURCES[report.type]
  const span = await inTransaction(making, async (tx) => ({
    after: await readCheckpoint(tx, space, report.interval_start),
    until: await readCheckpoint(tx, space, report.interval_end),
  }))
  const writers = createWriters(columns)
  let [opening, moved] = [0n, 0n]
  let rowCount = 0
  let began = performance.now()
  for await (const step of steps({ db, space, span, version: report.version })) {
    opening += step.opening
    for (const { amount } of step.rows) moved += BigInt(amount)
    rowCount += step.rows.length
    for (const writer of writers) writer.add(step.rows)
    await save(
      making,
      writers.map((writer) => writer.takePiece()),
    )
    // At least half of the time is others'.
    await wait(performance.now() - began)
    if (parts.isStopping?.()) return undefined
    began = performance.now()
  }
  const ends = writers.map((writer) => writer.end())
  await save(
    making,
    ends.map(({ piece }) => piece),
  )
  return {
    files: ends.map(({ file }) => file),
    row_count: rowCount,
    opening: Number(opening),
    closing: Number(opening + moved),
  }
}

async function save(making: Making, pieces: readonly (Piece | undefined)[]): Promise<void> {
  await inTransaction(making, async (db) => {
    for (const piece of pieces) if (piece) pipelined(addPiece(db, making.space, making.report.id, piece))
  })
}

/** While nobody else can take the report. Throws `LeaseLost` where somebody has. */
function inTransaction<T>(
  { parts, environment, space, report, worker }: Making,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  return parts.database[environment].forTenant(readSpace(space).tenantId).transaction(async (db) => {
    if (!(await renewLease(db, space, report.id, leaseOf(parts, worker)))) throw new LeaseLost()
    return work(db)
  })
}

type ReportOutcome =
  | { readonly status: 'succeeded'; readonly result: ReportResult }
  | { readonly status: 'failed'; readonly failure_code: NonNullable<ReportRow['failure_code']> }

async function end(making: Making, outcome: ReportOutcome): Promise<void> {
  const { parts, environment, space, report } = making
  const { tenantId } = readSpace(space)
  const now = parts.clock.service(environment)
  const pin = await readPin(parts.database.control, tenantId, environment)
  const row: ReportRow = {
    ...report,
    ...outcome,
    expires_at: outcome.status === 'succeeded' ? now + KEPT_MS : null,
    updated: now,
  }
  const type = `treasury_report.${outcome.status}` as const
  const isDue = await inTransaction(making, async (db) => {
    pipelined(endReport(db, space, row))
    const events = collectEvents({ tenantId: space, pin, now })
    emit(events, { type, data: { treasury_report: showReport(row, space, parts.links[environment]) } })
    const due = events.write(db)
    pipelined(appendAudit(db, space, systemEntry(environment, type, report.id, now)))
    return due
  })
  if (isDue) parts.wakeUpChannel.publish(environment, space)
}

/** Files that nobody can download any more. A process that dies meanwhile leaves the rest to the next look. */
async function deleteExpired(parts: TreasuryReportParts, environment: Environment): Promise<void> {
  const now = parts.clock.service(environment)
  for (const { tenant_id: space, id } of await findExpired(parts.database[environment], now, BATCH)) {
    const db = parts.database[environment].forTenant(readSpace(space).tenantId)
    await removePieces(db, space, id)
    await forgetFiles(db, space, id)
  }
}

const PAUSE_MS = 500

/** Looks twice a second. */
export function startReportJob(parts: TreasuryReportParts, log: Logger): PeriodicJob {
  let stopping = false
  const job = runPeriodically(() => makeReports({ ...parts, isStopping: () => stopping }), {
    pauseMs: PAUSE_MS,
    failed: (err) =>
      log.warn({ err }, 'treasury reports could not be made; those that are still pending are tried again'),
  })
  return {
    stop: () => {
      stopping = true
      return job.stop()
    },
  }
}

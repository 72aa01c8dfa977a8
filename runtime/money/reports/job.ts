/** Generates requested reports in steps of bounded size, and deletes the files of expired reports. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../database/database.ts'
import { liesInRows } from '../../database/errors.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import { collectEvents, emit } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import type { Environment } from '../../platform/environment.ts'
import type { ReportLinks } from '../../tenants/addresses/report-links.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { Lease } from '../../work/leases.ts'
import type { TurnOutcome, WorkTurn } from '../../work/queue-worker.ts'
import { type DeclaredWorker, defineWorker, type WorkerParts } from '../../work/workers.ts'
import { readCheckpoint } from '../ledger/checkpoints.ts'
import { InconsistentLedger } from '../ledger/history.ts'
import { createWriters } from './files.ts'
import type { Piece } from './pieces.ts'
import { isShownIn, type ReportResult, type ReportRow } from './queries.ts'
import { ROW_SOURCES } from './row-sources.ts'
import { InconsistentLines } from './settlements.ts'
import { showReport } from './view.ts'
import {
  addPiece,
  type ClaimedReport,
  endReport,
  failReport,
  findExpired,
  findPending,
  forgetFiles,
  type PendingReport,
  REPORT_LEASES,
  removePieces,
} from './work-queries.ts'

export interface TreasuryReportParts extends WorkerParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
  readonly links: Readonly<Record<Environment, ReportLinks>>
}

/** Maximum number of reports that a process generates at the same time in an environment, one for each tenant. */
const AT_ONCE = 4

const POLL_MS = 500
const EXPIRY_POLL_MS = 60_000

const LEASE_MS = 30_000

/** A report fails after this many attempts that ended with a crash of the worker. */
const MAX_TRIES = 5

/** How long the files of a report can be downloaded. */
const KEPT_MS = 7 * 86_400_000

/** Generates pending reports, the oldest of each tenant first. A failing report does not stop other reports. */
export function reportWorker(parts: TreasuryReportParts): DeclaredWorker {
  const { database } = parts
  return defineWorker<PendingReport>(parts, {
    name: 'treasury_reports',
    atOnce: AT_ONCE,
    pollMs: POLL_MS,
    find: ({ limit, after, now }, environment) =>
      findPending(database[environment], now, after?.tenant_id ?? '', limit),
    itemOf: ({ tenant_id: space, id }) => ({ space, id }),
    perform: ([pending], turn) => make(parts, turn, pending!),
    isolate: (pending, error, { environment }) => failUnread(parts, environment, pending, error),
  })
}

/** Deletes the files of expired reports. If the process stops in between, the next run continues. */
export function reportExpiryWorker(parts: TreasuryReportParts): DeclaredWorker {
  const { database, clock } = parts
  return defineWorker<PendingReport>(parts, {
    name: 'treasury_report_expiry',
    pollMs: EXPIRY_POLL_MS,
    find: ({ limit }, environment) => findExpired(database[environment], clock.service(environment), limit),
    itemOf: ({ tenant_id: space, id }) => ({ space, id }),
    async perform([expired], { environment }) {
      const { tenant_id: space, id } = expired!
      const db = database[environment].forTenant(readSpace(space).tenantId)
      await removePieces(db, space, id)
      await forgetFiles(db, space, id)
      return 'done'
    },
  })
}

/** A report that this worker is generating. */
interface Making {
  readonly parts: TreasuryReportParts
  readonly turn: WorkTurn
  readonly space: string
  readonly report: ClaimedReport
  readonly token: string
}

/** Another worker has taken over the report, or the tenant's sandbox was wiped. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

async function make(
  parts: TreasuryReportParts,
  turn: WorkTurn,
  { tenant_id: space, id }: PendingReport,
): Promise<TurnOutcome> {
  const pool = poolOf(parts, turn.environment, space)
  const token = randomUUID()
  const report = await REPORT_LEASES.acquire(pool, [space, id], leaseOf(turn, token))
  if (!report) return 'idle'
  const making: Making = { parts, turn, space, report, token }
  try {
    if (report.tries > MAX_TRIES) {
      await end(making, { status: 'failed', failure_code: 'processing_error' })
      return 'done'
    }
    await removePieces(pool, space, id) // left by an earlier attempt
    const result = await write(making)
    if (result) await end(making, { status: 'succeeded', result })
    return 'done'
  } catch (error) {
    if (error instanceof LeaseLost) return 'idle'
    if (!liesInRows(error) || isSpaceWiped(error)) throw error
    const isInconsistent = error instanceof InconsistentLedger || error instanceof InconsistentLines
    if (!isInconsistent) logFailure(parts, { tenant_id: space, id }, error)
    // If this fails too, `isolate` fails the report without reading it.
    await end(making, {
      status: 'failed',
      failure_code: isInconsistent ? 'inconsistent_records' : 'processing_error',
    })
    return 'done'
  }
}

function logFailure({ log }: TreasuryReportParts, { tenant_id, id }: PendingReport, err: unknown): void {
  log.error({ err, tenant_id, treasury_report_id: id }, 'A treasury report failed.')
}

const poolOf = ({ database }: TreasuryReportParts, environment: Environment, space: string) =>
  database[environment].forTenant(readSpace(space).tenantId)

/** Fails a report that cannot be read or shown, without emitting an event. */
async function failUnread(
  parts: TreasuryReportParts,
  environment: Environment,
  pending: PendingReport,
  error: unknown,
): Promise<void> {
  if (error instanceof LeaseLost) return
  logFailure(parts, pending, error)
  const { tenant_id: space, id } = pending
  const now = parts.clock.service(environment)
  await poolOf(parts, environment, space).transaction(async (db) => {
    if (!(await failReport(db, space, id, now))) return
    pipelined(appendAudit(db, space, systemEntry(environment, 'treasury_report.failed', id, now)))
  })
}

function leaseOf(turn: WorkTurn, token: string): Lease {
  const now = turn.now()
  return { token, now, until: now + LEASE_MS }
}

/** Writes the files of a report. Returns undefined if the process is stopping. */
async function write(making: Making): Promise<ReportResult | undefined> {
  const { parts, turn, space, report } = making
  const db = poolOf(parts, turn.environment, space)
  const { columns, steps } = ROW_SOURCES[report.type]
  const span = await inTransaction(making, async (tx) => ({
    after: await readCheckpoint(tx, space, report.interval_start),
    until: await readCheckpoint(tx, space, report.interval_end),
  }))
  const writers = createWriters(columns, report, space)
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
    // Pause as long as the step took, so that at least half of the time is left for other work.
    await wait(performance.now() - began)
    if (turn.isStopping()) return undefined
    began = performance.now()
  }
  const ends = await Promise.all(writers.map((writer) => writer.end()))
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

/** Runs `work` in a transaction that renews the lease. Throws `LeaseLost` if another worker holds it. */
function inTransaction<T>(
  { parts, turn, space, report, token }: Making,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  return poolOf(parts, turn.environment, space).transaction(async (db) => {
    if (!(await REPORT_LEASES.renew(db, [space, report.id], leaseOf(turn, token)))) throw new LeaseLost()
    return work(db)
  })
}

type ReportOutcome =
  | { readonly status: 'succeeded'; readonly result: ReportResult }
  | { readonly status: 'failed'; readonly failure_code: NonNullable<ReportRow['failure_code']> }

async function end(making: Making, outcome: ReportOutcome): Promise<void> {
  const { parts, turn, space, report } = making
  const { environment } = turn
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
    // A pin that lacks the type of the report gets no event.
    if (pin === null || isShownIn(pin, report))
      emit(events, { type, data: { treasury_report: showReport(row, space, parts.links[environment]) } })
    const due = events.write(db)
    pipelined(appendAudit(db, space, systemEntry(environment, type, report.id, now)))
    return due
  })
  if (isDue) parts.wakeUpChannel.publish(environment, space)
}

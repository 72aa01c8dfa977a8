/** Generates requested reports in steps of bounded size, and deletes the files of expired reports. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import { collectEvents, emit } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import type { Environment } from '../../platform/environment.ts'
import type { ReportLinks } from '../../tenants/addresses/report-links.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { type Held, heldRowsWorker, type PendingRow } from '../../work/held-rows.ts'
import { type DeclaredWorker, defineWorker, type WorkerParts } from '../../work/workers.ts'
import { readCheckpoint } from '../ledger/checkpoints.ts'
import { InconsistentLedger } from '../ledger/history.ts'
import { timeIn } from '../settlement-lines/clock.ts'
import { createWriters } from './files.ts'
import type { Piece } from './pieces.ts'
import { isShownIn, type ReportResult, type ReportRow } from './queries.ts'
import { ROW_SOURCES } from './row-sources.ts'
import { InconsistentLines } from './settlements.ts'
import { showReport } from './view.ts'
import {
  addPiece,
  endReport,
  failReport,
  findExpired,
  forgetFiles,
  PENDING_REPORTS,
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
  const logFailure = (tenant_id: string, id: string, err: unknown) =>
    parts.log.error({ err, tenant_id, treasury_report_id: id }, 'A treasury report failed.')
  return heldRowsWorker(parts, {
    rows: PENDING_REPORTS,
    atOnce: AT_ONCE,
    pollMs: POLL_MS,
    leaseMs: LEASE_MS,
    maxTries: MAX_TRIES,
    async perform(held) {
      await removePieces(held.db, held.space, held.row.id) // left by an earlier attempt
      const result = await write(held)
      if (result) await end(parts, held, { status: 'succeeded', result })
    },
    async fail(held, error) {
      const isInconsistent = error instanceof InconsistentLedger || error instanceof InconsistentLines
      if (error !== undefined && !isInconsistent) logFailure(held.space, held.row.id, error)
      await end(parts, held, {
        status: 'failed',
        failure_code: isInconsistent ? 'inconsistent_records' : 'processing_error',
      })
    },
    async failUnread({ tenant_id: space, id }, error, environment, pool) {
      logFailure(space, id, error)
      const now = parts.clock.service(environment)
      await pool.transaction(async (db) => {
        if (!(await failReport(db, space, id, now))) return
        pipelined(appendAudit(db, space, systemEntry(environment, 'treasury_report.failed', id, now)))
      })
    },
  })
}

/** Deletes the files of expired reports. If the process stops in between, the next run continues. */
export function reportExpiryWorker(parts: TreasuryReportParts): DeclaredWorker {
  const { database, clock } = parts
  return defineWorker<PendingRow>(parts, {
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

/** Writes the files of a report. Returns undefined if the process is stopping. */
async function write(held: Held<ReportRow>): Promise<ReportResult | undefined> {
  const { turn, space, row: report, db } = held
  const { columns, steps } = ROW_SOURCES[report.type]
  const span = await held.transaction(async (tx) => ({
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
      held,
      writers.map((writer) => writer.takePiece()),
    )
    // Pause as long as the step took, so that at least half of the time is left for other work.
    await wait(performance.now() - began)
    if (turn.isStopping()) return undefined
    began = performance.now()
  }
  const ends = await Promise.all(writers.map((writer) => writer.end()))
  await save(
    held,
    ends.map(({ piece }) => piece),
  )
  return {
    files: ends.map(({ file }) => file),
    row_count: rowCount,
    opening: Number(opening),
    closing: Number(opening + moved),
  }
}

async function save(
  { space, row, transaction }: Held<ReportRow>,
  pieces: readonly (Piece | undefined)[],
): Promise<void> {
  await transaction(async (db) => {
    for (const piece of pieces) if (piece) pipelined(addPiece(db, space, row.id, piece))
  })
}

type ReportOutcome =
  | { readonly status: 'succeeded'; readonly result: ReportResult }
  | { readonly status: 'failed'; readonly failure_code: NonNullable<ReportRow['failure_code']> }

async function end(
  parts: TreasuryReportParts,
  { turn: { environment }, space, row: report, transaction }: Held<ReportRow>,
  outcome: ReportOutcome,
): Promise<void> {
  const { tenantId } = readSpace(space)
  const service = parts.clock.service(environment)
  const now = await timeIn(parts.database[environment].forTenant(tenantId), space, service)
  const pin = await readPin(parts.database.control, tenantId, environment)
  const row: ReportRow = {
    ...report,
    ...outcome,
    // The worker that deletes the files goes by the service clock.
    expires_at: outcome.status === 'succeeded' ? service + KEPT_MS : null,
    updated: now,
  }
  const type = `treasury_report.${outcome.status}` as const
  const isDue = await transaction(async (db) => {
    pipelined(endReport(db, space, row))
    const events = collectEvents({ tenantId: space, pin, now })
    // A pin that lacks the type of the report gets no event.
    if (pin === null || isShownIn(pin, report))
      emit(events, { type, data: { treasury_report: showReport(row, space, parts.links[environment]) } })
    const due = events.write(db)
    pipelined(appendAudit(db, space, systemEntry(environment, type, report.id, service)))
    return due
  })
  if (isDue) parts.wakeUpChannel.publish(environment, space)
}

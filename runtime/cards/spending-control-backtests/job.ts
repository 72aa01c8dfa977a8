/**
 * Performs backtests. What a backtest has read is kept in memory, so a backtest whose process stops starts again from the
 * beginning, in this or in another process. The result is written once, at the end.
 */
import { setImmediate } from 'node:timers/promises'
import { pipelined } from '../../database/pipelined.ts'
import { readSpace } from '../../database/space.ts'
import type { DueParts } from '../../events/due-work.ts'
import { collectEvents, emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit } from '../../tenants/audit/queries.ts'
import { type Held, heldRowsWorker } from '../../work/held-rows.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import type { BacktestRow } from './queries.ts'
import { type Replay, startReplay } from './replay.ts'
import { warmUpFrom } from './totals.ts'
import { showBacktest } from './view.ts'
import {
  endBacktest,
  insertFlips,
  noteProgress,
  PENDING_BACKTESTS,
  type ReplayPage,
  readPageOf,
} from './work-queries.ts'

/** Maximum number of backtests that a process performs at the same time in an environment, one for each tenant. */
const AT_ONCE = 2

const POLL_MS = 500
const LEASE_MS = 30_000

/** Number of pages between two renewals of the lease, which also write the progress. */
const PAGES_PER_LEASE = 10

/** A backtest fails after this many attempts that ended with a crash of the worker. */
const MAX_TRIES = 5

/** Performs pending backtests, the oldest of each tenant first. A failing backtest does not stop other backtests. */
export function backtestWorker(parts: DueParts): DeclaredWorker {
  const logFailure = (tenant_id: string, id: string, err: unknown) =>
    parts.log.error({ err, tenant_id, spending_control_backtest_id: id }, 'A backtest failed.')
  return heldRowsWorker(parts, {
    rows: PENDING_BACKTESTS,
    atOnce: AT_ONCE,
    pollMs: POLL_MS,
    leaseMs: LEASE_MS,
    maxTries: MAX_TRIES,
    async perform(held) {
      const replay = await run(held)
      if (replay) await end(parts, held, replay)
    },
    async fail(held, error) {
      if (error !== undefined) logFailure(held.space, held.row.id, error)
      await end(parts, held, undefined)
    },
    async failUnread({ tenant_id: space, id }, error, environment, pool) {
      logFailure(space, id, error)
      const updated = parts.clock.service(environment)
      const failed = { id, status: 'failed', progress: 0, result: null, updated } as const
      await pool.transaction(async (db) => {
        if (!(await endBacktest(db, space, failed))) return
        const entry = systemEntry(environment, 'spending_control_backtest.failed', id, updated)
        pipelined(appendAudit(db, space, entry))
      })
    },
  })
}

/** Replays page by page, without a lock and without a long transaction. Returns undefined if the process is stopping. */
async function run({
  turn,
  space,
  row: backtest,
  db,
  transaction,
}: Held<BacktestRow>): Promise<Replay | undefined> {
  const { interval_start: from, interval_end: to, spending_controls: controls } = backtest
  const replay = startReplay(controls, from, to)
  let page = await readPageOf(db, space, backtest, { created: warmUpFrom(controls, from), id: '' })
  const first = page?.transactions[0]?.created ?? from
  for (let pages = 1; page; pages += 1) {
    const { transactions, last }: ReplayPage = page
    const take = async () => {
      await setImmediate() // the database reads the next page while this one is replayed
      for (const transaction of transactions) replay.take(transaction)
    }
    const note = async () => {
      if (pages % PAGES_PER_LEASE !== 1) return
      const progress = Math.floor((99 * (last.created - first)) / (to - first))
      await transaction((tx) => noteProgress(tx, space, backtest.id, progress))
    }
    const [next] = await Promise.all([readPageOf(db, space, backtest, last), take(), note()])
    if (turn.isStopping()) return undefined
    page = next
  }
  return replay
}

/** Writes the result. @param replay undefined if the backtest failed. */
async function end(
  parts: DueParts,
  { turn: { environment }, space, row: backtest, transaction }: Held<BacktestRow>,
  replay: Replay | undefined,
): Promise<void> {
  const { tenantId } = readSpace(space)
  const now = parts.clock.service(environment)
  const pin = await readPin(parts.database.control, tenantId, environment)
  const ended = replay?.end()
  const row: BacktestRow = {
    ...backtest,
    status: ended ? 'succeeded' : 'failed',
    progress: ended ? 100 : backtest.progress,
    result: ended?.result ?? null,
    updated: now,
  }
  const type = ended ? 'spending_control_backtest.succeeded' : 'spending_control_backtest.failed'
  const isDue = await transaction(async (db) => {
    const flips = (ended?.flips ?? []).map((flip) => ({ ...flip, id: newId('scf', flip.created) }))
    if (flips.length > 0) pipelined(insertFlips(db, space, row.id, flips))
    await endBacktest(db, space, row)
    const events = collectEvents({ tenantId: space, pin, now })
    emit(events, { type, data: { spending_control_backtest: showBacktest(row) } })
    const due = events.write(db)
    pipelined(appendAudit(db, space, systemEntry(environment, type, row.id, now)))
    return due
  })
  if (isDue) parts.wakeUpChannel.publish(environment, space)
}

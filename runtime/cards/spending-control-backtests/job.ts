/**
 * Performs backtests. What a backtest has read is kept in memory, so a backtest whose process stops starts again from the
 * beginning, in this or in another process. The result is written once, at the end.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../database/database.ts'
import { liesInRows } from '../../database/errors.ts'
import { pipelined } from '../../database/pipelined.ts'
import { readSpace } from '../../database/space.ts'
import type { DueParts } from '../../events/due-work.ts'
import { collectEvents, emit } from '../../events/emit/emit.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Lease } from '../../work/leases.ts'
import type { TurnOutcome, WorkTurn } from '../../work/queue-worker.ts'
import { type DeclaredWorker, defineWorker } from '../../work/workers.ts'
import type { BacktestRow } from './queries.ts'
import { type Replay, startReplay } from './replay.ts'
import { warmUpFrom } from './totals.ts'
import { showBacktest } from './view.ts'
import {
  BACKTEST_LEASES,
  type ClaimedBacktest,
  endBacktest,
  findPendingBacktests,
  insertFlips,
  noteProgress,
  type PendingBacktest,
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
  const { database } = parts
  return defineWorker<PendingBacktest>(parts, {
    name: 'spending_control_backtests',
    atOnce: AT_ONCE,
    pollMs: POLL_MS,
    find: ({ limit, after, now }, environment) =>
      findPendingBacktests(database[environment], now, after?.tenant_id ?? '', limit),
    itemOf: ({ tenant_id: space, id }) => ({ space, id }),
    perform: ([pending], turn) => perform(parts, turn, pending!),
    isolate: (pending, error, { environment }) => failUnread(parts, environment, pending, error),
  })
}

/** Another worker has taken over the backtest, or the tenant's sandbox was wiped. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** A backtest that this worker performs. */
interface Running {
  readonly parts: DueParts
  readonly turn: WorkTurn
  readonly space: string
  readonly backtest: ClaimedBacktest
  readonly token: string
}

async function perform(
  parts: DueParts,
  turn: WorkTurn,
  { tenant_id: space, id }: PendingBacktest,
): Promise<TurnOutcome> {
  const token = randomUUID()
  const pool = poolOf(parts, turn.environment, space)
  const backtest = await BACKTEST_LEASES.acquire(pool, [space, id], leaseOf(turn, token))
  if (!backtest) return 'idle'
  const running: Running = { parts, turn, space, backtest, token }
  try {
    if (backtest.tries > MAX_TRIES) {
      await end(running, undefined)
      return 'done'
    }
    const replay = await run(running)
    if (replay) await end(running, replay)
    return 'done'
  } catch (error) {
    if (error instanceof LeaseLost) return 'idle'
    if (!liesInRows(error) || isSpaceWiped(error)) throw error
    logFailure(parts, { tenant_id: space, id }, error)
    await end(running, undefined)
    return 'done'
  }
}

function logFailure({ log }: DueParts, { tenant_id, id }: PendingBacktest, err: unknown): void {
  log.error({ err, tenant_id, spending_control_backtest_id: id }, 'A backtest failed.')
}

const poolOf = ({ database }: DueParts, environment: Environment, space: string) =>
  database[environment].forTenant(readSpace(space).tenantId)

/** Fails a backtest that cannot be read or shown, without emitting an event. */
async function failUnread(
  parts: DueParts,
  environment: Environment,
  pending: PendingBacktest,
  error: unknown,
): Promise<void> {
  if (error instanceof LeaseLost) return
  logFailure(parts, pending, error)
  const { tenant_id: space, id } = pending
  const updated = parts.clock.service(environment)
  await poolOf(parts, environment, space).transaction(async (db) => {
    if (!(await endBacktest(db, space, { id, status: 'failed', progress: 0, result: null, updated }))) return
    pipelined(
      appendAudit(db, space, systemEntry(environment, 'spending_control_backtest.failed', id, updated)),
    )
  })
}

function leaseOf(turn: WorkTurn, token: string): Lease {
  const now = turn.now()
  return { token, now, until: now + LEASE_MS }
}

/** Replays page by page, without a lock and without a long transaction. Returns undefined if the process is stopping. */
async function run(running: Running): Promise<Replay | undefined> {
  const { parts, turn, space, backtest } = running
  const { interval_start: from, interval_end: to, spending_controls: controls } = backtest
  const db = poolOf(parts, turn.environment, space)
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
      await inTransaction(running, (tx) => noteProgress(tx, space, backtest.id, progress))
    }
    const [next] = await Promise.all([readPageOf(db, space, backtest, last), take(), note()])
    if (turn.isStopping()) return undefined
    page = next
  }
  return replay
}

/** Runs `work` in a transaction that renews the lease. Throws `LeaseLost` if another worker holds it. */
function inTransaction<T>(
  { parts, turn, space, backtest, token }: Running,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  return poolOf(parts, turn.environment, space).transaction(async (db) => {
    if (!(await BACKTEST_LEASES.renew(db, [space, backtest.id], leaseOf(turn, token)))) throw new LeaseLost()
    return work(db)
  })
}

/** Writes the result. @param replay undefined if the backtest failed. */
async function end(running: Running, replay: Replay | undefined): Promise<void> {
  const { parts, turn, space, backtest } = running
  const { environment } = turn
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
  const isDue = await inTransaction(running, async (db) => {
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

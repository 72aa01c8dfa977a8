/**
 * Long work on pending rows of tenants, one row of each tenant at a time, the oldest first. A worker holds the row by a lease
 * that it renews with everything that it writes, so a worker that lost the row writes nothing more.
 */
import { randomUUID } from 'node:crypto'
import type { Database, Statement } from '../database/database.ts'
import { liesInRows } from '../database/errors.ts'
import type { Pool, Transactions } from '../database/pool/pool.ts'
import { readSpace } from '../database/space.ts'
import { toTimestamp } from '../database/types.ts'
import type { Environment } from '../platform/environment.ts'
import { isSpaceWiped } from '../tenants/audit/queries.ts'
import { createLeases, type Leases } from './leases.ts'
import type { TurnOutcome, WorkTurn } from './queue-worker.ts'
import { type DeclaredWorker, defineWorker, type WorkerParts } from './workers.ts'

export interface PendingRow {
  readonly tenant_id: string
  readonly id: string
}

/** A row with the number of attempts, including this one. */
export type Claimed<Row> = Row & { readonly tries: number }

export interface PendingRows<Row> {
  readonly name: string
  readonly leases: Leases<Claimed<Row>>
  /**
   * Returns the oldest pending row of each tenant after `afterTenant`, unless a worker holds it.
   * @param now machine time.
   */
  find(db: Database, now: number, afterTenant: string, limit: number): Promise<readonly PendingRow[]>
}

/**
 * Declares the pending rows of a table. It has the columns `tenant_id`, `id`, `status`, `created`, `tries`, `worker` and
 * `leased_until`, and an index on the first two and `created` of rows that are `pending`.
 * @param table also the name of the worker, and the prefix of the statement names.
 * @param columns of a claimed row.
 */
export function pendingRows<Row>(table: string, columns: string): PendingRows<Row> {
  const find: Statement = {
    name: `${table}_find`,
    text: `SELECT f.tenant_id, f.id
             FROM (SELECT DISTINCT ON (r.tenant_id) r.tenant_id, r.id, r.leased_until
                     FROM ${table} r WHERE r.status = 'pending' AND r.tenant_id > $2
                    ORDER BY r.tenant_id, r.created, r.id) AS f
            WHERE coalesce(f.leased_until <= $1, true)
            ORDER BY f.tenant_id LIMIT $3`,
  }
  return {
    name: table,
    find: async (db, now, afterTenant, limit) =>
      (await db.query<PendingRow>(find, [toTimestamp(now), afterTenant, limit])).rows,
    leases: createLeases<Claimed<Row>>({
      name: table,
      table,
      key: ['tenant_id', 'id'],
      token: 'worker',
      until: 'leased_until',
      where: `status = 'pending'`,
      also: 'tries = tries + 1',
      returning: `${columns}, tries`,
    }),
  }
}

/** Another worker has taken over the row, or the tenant's sandbox was wiped. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** A row that this worker holds. */
export interface Held<Row> {
  readonly row: Claimed<Row>
  readonly space: string
  readonly turn: WorkTurn
  /** The pool of the tenant. */
  readonly db: Transactions
  /** Runs `work` in a transaction that renews the lease. Rejects if another worker holds the row. */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>
}

/** How pending rows are worked on. */
export interface HeldWork<Row> {
  readonly rows: PendingRows<Row>
  /** Maximum number of rows that a process works on at the same time in an environment, one for each tenant. */
  readonly atOnce: number
  readonly pollMs: number
  readonly leaseMs: number
  /** A row fails after this many attempts that ended with a crash of the worker. */
  readonly maxTries: number
  /** Does the work, and ends the row. Leaves the row pending if the process is stopping. */
  perform(held: Held<Row>): Promise<void>
  /** Ends the row as failed. @param error undefined after too many attempts. */
  fail(held: Held<Row>, error: unknown): Promise<void>
  /** Ends a row as failed that cannot be read or shown, without an event. */
  failUnread(pending: PendingRow, error: unknown, environment: Environment, db: Transactions): Promise<void>
}

interface HeldParts extends WorkerParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
}

/** A worker that holds rows by leases. A failing row does not stop other rows. */
export function heldRowsWorker<Row>(parts: HeldParts, work: HeldWork<Row>): DeclaredWorker {
  const { database } = parts
  const { rows, atOnce, pollMs } = work
  const poolOf = (environment: Environment, space: string) =>
    database[environment].forTenant(readSpace(space).tenantId)
  return defineWorker<PendingRow>(parts, {
    name: rows.name,
    atOnce,
    pollMs,
    find: ({ limit, after, now }, environment) =>
      rows.find(database[environment], now, after?.tenant_id ?? '', limit),
    itemOf: ({ tenant_id: space, id }) => ({ space, id }),
    perform: ([pending], turn) => hold(work, turn, pending!, poolOf(turn.environment, pending!.tenant_id)),
    isolate: async (pending, error, { environment }) => {
      if (error instanceof LeaseLost) return
      await work.failUnread(pending, error, environment, poolOf(environment, pending.tenant_id))
    },
  })
}

async function hold<Row>(
  { rows: { leases }, leaseMs, maxTries, perform, fail }: HeldWork<Row>,
  turn: WorkTurn,
  { tenant_id: space, id }: PendingRow,
  db: Transactions,
): Promise<TurnOutcome> {
  const token = randomUUID()
  const lease = () => {
    const now = turn.now()
    return { token, now, until: now + leaseMs }
  }
  const row = await leases.acquire(db, [space, id], lease())
  if (!row) return 'idle'
  const held: Held<Row> = {
    ...{ row, space, turn, db },
    transaction: (work) =>
      db.transaction(async (tx) => {
        if (!(await leases.renew(tx, [space, id], lease()))) throw new LeaseLost()
        return work(tx)
      }),
  }
  try {
    if (row.tries > maxTries) await fail(held, undefined)
    else await perform(held)
    return 'done'
  } catch (error) {
    if (error instanceof LeaseLost) return 'idle'
    if (!liesInRows(error) || isSpaceWiped(error)) throw error
    // If this fails too, `isolate` fails the row without reading it.
    await fail(held, error)
    return 'done'
  }
}

import type pg from 'pg'
import { createEventLoopTicks } from '../../platform/fairness/event-loop-ticks.ts'
import type { Tenant } from '../../platform/fairness/fair-queue.ts'
import type { Database, RowResult, Statement } from '../database.ts'
import { spoilsConnection, translateError } from '../errors.ts'
import { recordFlush, recordStatements } from '../statement-spans.ts'
import { COMMIT_IN_TWO_PHASES } from '../two-phase.ts'
import { CONNECT_TIMEOUT_MS, clientConfig, send } from './connection.ts'
import { createConnections, type TenantConnections } from './connections.ts'
import { createFlusher, waitForFlush } from './flusher.ts'
import { runInPlaces } from './last-places.ts'
import { createSharedConnections } from './shared-connections.ts'
import { runTransaction } from './transaction.ts'

/** Statements and transactions. */
export interface Transactions extends Database {
  /**
   * Runs the work in one transaction: commits when it returns, rolls back when it throws. BEGIN is pipelined with the
   * first statement, COMMIT with the statements that the work did not await. If a statement fails, throws its error
   * rather than a consequential one, even if the work ignored it. The work of a tenant may run more than once.
   *
   * When the promise resolves, everything that the transaction wrote survives a server crash, and so does everything
   * that it read. A read-only transaction must request this (`waitForFlush`). Other sessions may see the writes
   * slightly earlier.
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>
  /** Like `transaction`, but resolves at the commit. `flushed` waits for durability, if something depends on it. */
  commitEarly<T>(work: (db: Database) => Promise<T>): Promise<EarlyCommit<T>>
  /**
   * Reads rows that survive a server crash: resolves when everything that they show is on disk. For callers that act on
   * the rows as committed facts.
   */
  readonly flushed: Database
}

/** A committed transaction. */
export interface EarlyCommit<T> {
  readonly value: T
  /** Resolves when its writes survive a server crash; throws if that cannot be known. */
  flushed(): Promise<void>
}

/**
 * Connections with one role. Single statements share some of them; a transaction has exclusive use of one. Direct use
 * of the pool is work of the service itself; work of a tenant goes through `forTenant`.
 */
export interface Pool extends Transactions {
  /**
   * The same connections on behalf of a tenant. No tenant gets more than its share, however many requests it sends and
   * however long its transactions wait for locks. Free connections are granted to tenants in turn.
   */
  forTenant(tenantId: string): Transactions
  /** Whether tables are distributed by tenant. A transaction must then access the rows of one tenant only. */
  readonly distributed: boolean
  /** Waits for running statements, then ends the connections. */
  end(): Promise<void>
}

/** Current load of a pool. */
export interface PoolLoad {
  readonly connections: number
  /** Connections that a transaction uses. */
  readonly busy: number
  /** Transactions that wait for a connection. */
  readonly waiting: number
  /** Single statements in progress on shared connections. */
  readonly statements: number
  /** Long statements: in progress, and waiting. */
  readonly long: number
  readonly long_waiting: number
}

export interface MeasuredPool extends Pool {
  load(): PoolLoad
  /** Whether the tenant has at least as many waiting transactions as the average tenant that has any. */
  isCrowdedBy(tenantId: string): boolean
}

export interface PoolOptions {
  /** Called for each new connection, because an embedded server may restart on a different port. */
  readonly connection: () => pg.ClientConfig
  /** Maximum number of connections: at least one each for single statements, transactions and long statements. */
  readonly max: number
  /** Whether to use prepared statements. */
  readonly prepared: boolean
  readonly applicationName: string
  /**
   * Whether transactions share disk flushes, on one additional connection. On Citus, each transaction flushes
   * separately, because a flush does not reach the worker nodes that hold the rows.
   */
  readonly flushTogether?: boolean
  /** Whether tables are distributed by tenant. */
  readonly distributed?: boolean
  /** Whether its transactions also write to tables of `control`, which are not distributed. */
  readonly writesControl?: boolean
}

/** Share of the connections for single statements, which are pipelined. */
const SHARED = 1 / 3

/** Share of the connections for long statements. */
const LONG = 0.15

/** Number of transaction connections that a single tenant cannot use. */
const RESERVED = 3

/**
 * Maximum number of quick statements of a tenant that may wait for a separate connection to bypass slow statements.
 * Further statements queue behind the slow ones.
 */
const MAX_WAITING = 32

/** Maximum wait of a long statement for earlier ones of its tenant. */
const LONG_PATIENCE_MS = 20_000

/** SET LOCAL applies until the end of the transaction, also behind a pooler. */
const SOON = '; SET LOCAL synchronous_commit = off'

/**
 * A tenant waits only for locks of its own transactions, and occupies a connection while it waits. When few connections are
 * left, none is spent on a long wait, because other tenants would wait as long as the lock is held. A transaction that
 * waits only for the previous one needs far less than 250 ms.
 */
const LOCKS = { tenant: "lock_timeout = '5s'", brief: "lock_timeout = '250ms'" }

const beginsLocking = (limit: string) => ({
  durable: begin(`BEGIN; SET LOCAL ${limit}`),
  soon: begin(`BEGIN; SET LOCAL ${limit}${SOON}`),
})

/** Long statements, such as counts, are canceled after ten seconds. */
const BEGIN: Begin = {
  service: { durable: begin('BEGIN'), soon: begin(`BEGIN${SOON}`) },
  tenant: beginsLocking(LOCKS.tenant),
  brief: beginsLocking(LOCKS.brief),
  long: begin("BEGIN; SET LOCAL statement_timeout = '10s'"),
}

type Begin = Readonly<
  Record<'service' | 'tenant' | 'brief', Record<'durable' | 'soon', readonly Statement[]>>
> & { readonly long: readonly Statement[] }

function begin(...texts: readonly string[]): readonly Statement[] {
  return texts.map((text) => ({ text }))
}

/**
 * On Citus the worker nodes wait and read, so Citus must propagate the limits. It propagates each SET LOCAL only as a
 * separate statement.
 */
function beginDistributed(limit: string): readonly Statement[] {
  return begin('BEGIN', "SET LOCAL citus.propagate_set_commands = 'local'", `SET LOCAL ${limit}`)
}

/** @param then follows BEGIN in each transaction that writes. */
function beginsDistributed(...then: readonly Statement[]): Begin {
  // On a single server, a worker's visit is sent in one packet with its COMMIT. On Citus it takes several round trips.
  // The timeout releases the locks on the tenant if the worker stops responding in between.
  const limited = (limit: string) => {
    const begin = [...beginDistributed(limit), ...then]
    return { durable: begin, soon: begin }
  }
  return {
    service: limited("idle_in_transaction_session_timeout = '10s'"),
    tenant: limited(LOCKS.tenant),
    brief: limited(LOCKS.brief),
    long: beginDistributed("statement_timeout = '10s'"),
  }
}

const BEGIN_DISTRIBUTED = beginsDistributed()
const BEGIN_BESIDE_CONTROL = beginsDistributed(COMMIT_IN_TWO_PHASES)

/** Creates a pool. It connects with the first statement. */
export function createPool(options: PoolOptions): MeasuredPool {
  const { prepared, max, distributed = false, writesControl = false } = options
  const begins = !distributed ? BEGIN : writesControl ? BEGIN_BESIDE_CONTROL : BEGIN_DISTRIBUTED
  const config = () => clientConfig(options.connection(), options.applicationName)
  const shared = Math.max(1, Math.floor(max * SHARED))
  const aside = Math.max(1, Math.floor(max * LONG))
  const apart = Math.max(1, max - shared - aside)
  const ticks = createEventLoopTicks()
  const connections = createSharedConnections(config, shared, prepared, ticks)
  const own = createConnections({
    config,
    max: apart,
    share: Math.max(1, apart - RESERVED),
    patienceMs: CONNECT_TIMEOUT_MS,
  })
  const long = createConnections({ config, max: aside, share: 1, patienceMs: LONG_PATIENCE_MS })
  const flusher = options.flushTogether
    ? createFlusher(options.connection, `${options.applicationName} flush`)
    : undefined

  const work = (tenant: Tenant): Transactions => {
    const query: Database['query'] = <Row>(statement: Statement, values?: readonly unknown[]) => {
      if (statement.long) return runLong<Row>(tenant, statement, values)
      if (distributed && statement.steps) return transaction((db) => db.query<Row>(statement, values))
      return single.query<Row>(statement, values)
    }
    const single = recordStatements({
      query: (statement, values) => {
        const passes = connections.heldUp(tenant) && own.waiting(tenant) < MAX_WAITING
        return passes
          ? runPast(own, tenant, prepared, statement, values)
          : connections.query(tenant, statement, values)
      },
    })
    const commitEarly: Transactions['commitEarly'] = async (steps) => {
      // Requested before anything is sent: if the server restarts in the meantime, this session is lost and the flush
      // fails.
      const session = flusher?.session()
      const value = await runInPlaces(own, tenant, (held, isBrief) => {
        const kind = tenant === undefined ? 'service' : isBrief ? 'brief' : 'tenant'
        const begin = begins[kind][session ? 'soon' : 'durable']
        return runTransaction(held, { prepared, begin, distributed, tenant, ticks }, steps)
      })
      return { value, flushed: async () => session?.flush() }
    }
    const transaction: Transactions['transaction'] = async (steps) => {
      const { value, flushed } = await commitEarly(steps)
      await recordFlush(flushed)
      return value
    }
    return { query, transaction, commitEarly, flushed: { query: readFlushed } }

    async function readFlushed<Row>(statement: Statement, values?: readonly unknown[]) {
      const session = flusher?.session()
      if (!session) return transaction((db) => readAndFlush<Row>(db, statement, values))
      const result = await query<Row>(statement, values)
      if (result.rows.length > 0) await session.flush()
      return result
    }
  }
  const runLong = async <Row>(tenant: Tenant, statement: Statement, values?: readonly unknown[]) => {
    const begin = tenant === undefined ? begins.service.durable : begins.long
    const held = await long.acquire(tenant)
    return runTransaction(held, { prepared, begin, distributed, tenant, ticks }, (db) =>
      db.query<Row>(statement, values),
    )
  }
  return {
    ...work(undefined),
    distributed,
    forTenant: work,
    load: () => {
      const [forStatements, forTransactions, forLong] = [connections.load(), own.load(), long.load()]
      return {
        connections: forStatements.connections + forTransactions.connections + forLong.connections,
        busy: forTransactions.busy,
        waiting: forTransactions.waiting,
        statements: forStatements.statements,
        long: forLong.busy,
        long_waiting: forLong.waiting,
      }
    },
    isCrowdedBy: own.isCrowdedBy,
    end: async () => {
      await Promise.all([connections.end(), own.end(), long.end()])
      await flusher?.end()
    },
  }
}

/** Makes the COMMIT wait until the rows read are durable, on the connection that read them. */
async function readAndFlush<Row>(db: Database, statement: Statement, values?: readonly unknown[]) {
  const result = await db.query<Row>(statement, values)
  if (result.rows.length > 0) waitForFlush(db)
  return result
}

/** Runs a single statement on a separate connection, bypassing slow ones. */
async function runPast<Row>(
  connections: TenantConnections,
  tenant: Tenant,
  prepared: boolean,
  statement: Statement,
  values: readonly unknown[] | undefined,
): Promise<RowResult<Row>> {
  const { client, release } = await connections.acquire(tenant)
  return new Promise((resolve, reject) => {
    send(client, prepared, statement, values, (outcome) => {
      release(spoilsConnection(outcome))
      if (outcome instanceof Error) reject(translateError(outcome))
      else resolve(outcome)
    })
  })
}

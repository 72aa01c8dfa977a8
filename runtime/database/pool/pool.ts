import type pg from 'pg'
import { createEventLoopTicks } from '../../platform/fairness/event-loop-ticks.ts'
import type { Tenant } from '../../platform/fairness/fair-queue.ts'
import type { Database, RowResult, Statement } from '../database.ts'
import { spoilsConnection, translateError } from '../errors.ts'
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
   * Runs the work in one transaction: commits what it returns, rolls back when it throws. BEGIN travels with the first
   * statement, COMMIT with those that the work did not wait for. After a failed statement the error of that statement
   * is thrown, not those that follow from it, also when the work ignored it. A tenant's work may be run more than once.
   *
   * When it resolves, what it has written survives a crash of the server, and with that what it has seen; one that only
   * reads has to say so (`waitForFlush`). Others may see what it has written a little earlier.
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>
  /** The same, resolved when it is committed: `flushed` waits for the rest, where something depends on it. */
  commitEarly<T>(work: (db: Database) => Promise<T>): Promise<EarlyCommit<T>>
  /**
   * Reads rows that survive a crash of the server: resolves when everything that they show is on disk. For callers who
   * act on them as on a commit.
   */
  readonly flushed: Database
}

/** Of a transaction that is committed. */
export interface EarlyCommit<T> {
  readonly value: T
  /** Resolves when what it has written survives a crash of the server; throws when that cannot be known. */
  flushed(): Promise<void>
}

/**
 * Connections as one role: single statements share some of them, a transaction has one of its own. What is done through the
 * pool itself is the service's own work; a tenant's goes through `forTenant`.
 */
export interface Pool extends Transactions {
  /**
   * The same connections on behalf of a tenant. Whatever tenants do at once, and however long their transactions wait for
   * each other's locks: none gets more than its share, and free connections are given to tenants in turn.
   */
  forTenant(tenantId: string): Transactions
  /** Whether tables are distributed by tenant, so that a transaction has to keep to one tenant's. */
  readonly distributed: boolean
  /** Ends the connections after what they are doing. */
  end(): Promise<void>
}

/** What a pool has to do at the moment. */
export interface PoolLoad {
  readonly connections: number
  /** Connections that a transaction uses. */
  readonly busy: number
  /** Transactions that wait for a connection. */
  readonly waiting: number
  /** Single statements under way on shared connections. */
  readonly statements: number
  /** Statements that may take long: under way, and waiting for their turn. */
  readonly long: number
  readonly long_waiting: number
}

export interface MeasuredPool extends Pool {
  load(): PoolLoad
  /** Whether a tenant has at least as many transactions waiting as others that wait have on average. */
  isCrowdedBy(tenantId: string): boolean
}

export interface PoolOptions {
  /** Where to connect to; asked for each new connection, because an embedded server may come back elsewhere. */
  readonly connection: () => pg.ClientConfig
  /** Connections in all; at least one for single statements, one for transactions, one for statements that take long. */
  readonly max: number
  /** Whether statements keep their names. */
  readonly prepared: boolean
  readonly applicationName: string
  /**
   * Whether its transactions wait for the disk together, on one more connection; on Citus each has to by itself, since a
   * flush does not reach the nodes that hold the rows.
   */
  readonly flushTogether?: boolean
  /** Whether tables are distributed by tenant. */
  readonly distributed?: boolean
  /** Whether its transactions write in tables of `control` too, which are not. */
  readonly writesControl?: boolean
}

/** Of the connections, so many are shared by single statements: they carry many at once. */
const SHARED = 1 / 3

/** And so many are for statements that may take long. */
const LONG = 0.15

/** Of the connections for transactions, so many are out of one tenant's reach. */
const RESERVED = 3

/** So many quick statements of a tenant may wait for a connection of their own, past slow ones; the rest waits behind those. */
const MAX_WAITING = 32

/** How long a statement that may take long waits for those of its tenant before it. */
const LONG_PATIENCE_MS = 20_000

/** Holds to the end of the transaction, behind a pooler too. */
const SOON = '; SET LOCAL synchronous_commit = off'
const LOCKS = "; SET LOCAL lock_timeout = '5s'"

/**
 * A wait for a lock is one for another transaction of the same tenant, and occupies a connection meanwhile. A count is
 * given up after ten seconds.
 */
const BEGIN: Begin = {
  service: { durable: begin('BEGIN'), soon: begin(`BEGIN${SOON}`) },
  tenant: { durable: begin(`BEGIN${LOCKS}`), soon: begin(`BEGIN${LOCKS}${SOON}`) },
  long: begin("BEGIN; SET LOCAL statement_timeout = '10s'"),
}

type Begin = Readonly<Record<'service' | 'tenant', Record<'durable' | 'soon', readonly Statement[]>>> & {
  readonly long: readonly Statement[]
}

function begin(...texts: readonly string[]): readonly Statement[] {
  return texts.map((text) => ({ text }))
}

/** It is the servers of the shards that wait and read: Citus passes the limits on, one by one. */
function beginDistributed(limit: string): readonly Statement[] {
  return begin('BEGIN', "SET LOCAL citus.propagate_set_commands = 'local'", `SET LOCAL ${limit}`)
}

/** @param then follows in each transaction that writes. */
function beginsDistributed(...then: readonly Statement[]): Begin {
  // Elsewhere a visit leaves with its COMMIT in one packet; here a worker that falls silent within it gives its tenant back so.
  const visit = [...beginDistributed("idle_in_transaction_session_timeout = '10s'"), ...then]
  const request = [...beginDistributed("lock_timeout = '5s'"), ...then]
  return {
    service: { durable: visit, soon: visit },
    tenant: { durable: request, soon: request },
    long: beginDistributed("statement_timeout = '10s'"),
  }
}

const BEGIN_DISTRIBUTED = beginsDistributed()
const BEGIN_BESIDE_CONTROL = beginsDistributed(COMMIT_IN_TWO_PHASES)

/** Opens a pool; nothing is connected before the first statement. */
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
      const passes = connections.heldUp(tenant) && own.waiting(tenant) < MAX_WAITING
      return passes
        ? runPast(own, tenant, prepared, statement, values)
        : connections.query(tenant, statement, values)
    }
    const commitEarly: Transactions['commitEarly'] = async (steps) => {
      // Asked for before anything is sent: should the server start anew meanwhile, this session is lost.
      const session = flusher?.session()
      const begin = begins[tenant === undefined ? 'service' : 'tenant'][session ? 'soon' : 'durable']
      const value = await runInPlaces(own, tenant, steps, (held, all) =>
        runTransaction(held, { prepared, begin, distributed, tenant, ticks }, all),
      )
      return { value, flushed: async () => session?.flush() }
    }
    const transaction: Transactions['transaction'] = async (steps) => {
      const { value, flushed } = await commitEarly(steps)
      await flushed()
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

/** Makes the COMMIT wait for what was read, on the connection that has read it. */
async function readAndFlush<Row>(db: Database, statement: Statement, values?: readonly unknown[]) {
  const result = await db.query<Row>(statement, values)
  if (result.rows.length > 0) waitForFlush(db)
  return result
}

/** A single statement on a connection of its own, past slow ones. */
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

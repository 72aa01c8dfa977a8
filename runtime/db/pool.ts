import type pg from 'pg'
import { CONNECT_TIMEOUT_MS, clientConfig, send } from './connection.ts'
import { type Connections, createConnections } from './connections.ts'
import type { Database, Result, Statement } from './database.ts'
import { spoilsConnection, translateError } from './errors.ts'
import { createEventLoopTurns } from './event-loop-turns.ts'
import type { Tenant } from './fair-queue.ts'
import { createLanes } from './lanes.ts'
import { runTransaction } from './transaction.ts'

/** Statements and transactions. */
export interface Transactions extends Database {
  /**
   * Runs the work in one transaction: commits what it returns, rolls back when it throws. BEGIN travels with the first
   * statement, COMMIT with those that the work did not wait for. After a failed statement the error of that statement
   * is thrown, not those that follow from it, also when the work ignored it.
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>
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
}

/** Of the connections, so many are shared by single statements: they carry many at once. */
const SHARED = 1 / 3

/** And so many are for statements that may take long. */
const LONG = 0.15

/** Of the connections for transactions, so many are out of one tenant's reach. */
const RESERVED = 3

/** Past slow statements so many quick ones of a tenant may wait for a connection of their own; the rest waits behind the slow ones. */
const MAX_WAITING = 32

/** How long a statement that may take long waits for those of its tenant before it. */
const LONG_PATIENCE_MS = 20_000

/**
 * Who waits for a lock waits for another transaction of the same tenant, and keeps a connection from others of it. A
 * request's count is worth so long and no longer. Both hold to the end of the transaction, behind a pooler too.
 */
const BEGIN = {
  service: { text: 'BEGIN' },
  tenant: { text: "BEGIN; SET LOCAL lock_timeout = '5s'" },
  long: { text: "BEGIN; SET LOCAL statement_timeout = '10s'" },
} as const satisfies Record<string, Statement>

/** Opens a pool; nothing is connected before the first statement. */
export function createPool(options: PoolOptions): MeasuredPool {
  const { prepared, max } = options
  const config = () => clientConfig(options.connection(), options.applicationName)
  const shared = Math.max(1, Math.floor(max * SHARED))
  const aside = Math.max(1, Math.floor(max * LONG))
  const apart = Math.max(1, max - shared - aside)
  const turns = createEventLoopTurns()
  const lanes = createLanes(config, shared, prepared, turns)
  const own = createConnections({
    config,
    max: apart,
    share: Math.max(1, apart - RESERVED),
    patienceMs: CONNECT_TIMEOUT_MS,
  })
  const long = createConnections({ config, max: aside, share: 1, patienceMs: LONG_PATIENCE_MS })

  const work = (tenant: Tenant): Transactions => ({
    query: (statement, values) => {
      if (statement.long) return runLong(tenant, statement, values)
      const passes = lanes.heldUp(tenant) && own.waiting(tenant) < MAX_WAITING
      return passes
        ? runPast(own, tenant, prepared, statement, values)
        : lanes.query(tenant, statement, values)
    },
    transaction: async (steps) => {
      const begin = tenant === undefined ? BEGIN.service : BEGIN.tenant
      return runTransaction(await own.acquire(tenant), { prepared, begin, tenant, turns }, steps)
    },
  })
  const runLong = async <Row>(tenant: Tenant, statement: Statement, values?: readonly unknown[]) => {
    const begin = tenant === undefined ? BEGIN.service : BEGIN.long
    const held = await long.acquire(tenant)
    return runTransaction(held, { prepared, begin, tenant, turns }, (db) => db.query<Row>(statement, values))
  }
  return {
    ...work(undefined),
    forTenant: work,
    load: () => {
      const [forStatements, forTransactions, forLong] = [lanes.load(), own.load(), long.load()]
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
      await Promise.all([lanes.end(), own.end(), long.end()])
    },
  }
}

/** A single statement on a connection of its own, past slow ones. */
async function runPast<Row>(
  connections: Connections,
  tenant: Tenant,
  prepared: boolean,
  statement: Statement,
  values: readonly unknown[] | undefined,
): Promise<Result<Row>> {
  const { client, release } = await connections.acquire(tenant)
  return new Promise((resolve, reject) => {
    send(client, prepared, statement, values, (outcome) => {
      release(spoilsConnection(outcome))
      if (outcome instanceof Error) reject(translateError(outcome))
      else resolve(outcome)
    })
  })
}

import pg from 'pg'
import { CONNECT_TIMEOUT_MS, clientConfig, PipelinedClient, send } from './connection.ts'
import type { Database, Result, Statement } from './database.ts'
import { codeOf, IN_FAILED_TRANSACTION, isUnavailable, spoilsConnection, translateError } from './errors.ts'
import { createLanes } from './lanes.ts'

/** Connections as one role: single statements share some of them, a transaction has one of its own. */
export interface Pool extends Database {
  /**
   * Runs the work in one transaction: commits what it returns, rolls back when it throws. BEGIN travels with the first
   * statement, COMMIT with those that the work did not wait for. After a failed statement the error of that statement
   * is thrown, not those that follow from it, also when the work ignored it.
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>
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
}

export interface MeasuredPool extends Pool {
  load(): PoolLoad
}

export interface PoolOptions {
  /** Where to connect to; asked for each new connection, because an embedded server may come back elsewhere. */
  readonly connection: () => pg.ClientConfig
  /** Connections in all; at least one for single statements and one for transactions. */
  readonly max: number
  /** Whether statements keep their names. */
  readonly prepared: boolean
  readonly applicationName: string
}

/** Of the connections, so many are shared by single statements: they carry many at once. */
const SHARED = 0.4

/** Past slow statements so many quick ones may wait for each connection of their own; the rest waits behind the slow ones. */
const MOST_WAITING = 8

const IDLE_TIMEOUT_MS = 30_000

/** The loss of an idle connection: the pool drops it, and the next transaction gets another. */
function ignoreLoss(): void {}

/** Opens a pool; nothing is connected before the first statement. */
export function createPool(options: PoolOptions): MeasuredPool {
  const { prepared } = options
  const config = () => clientConfig(options.connection(), options.applicationName)
  const shared = Math.max(1, Math.floor(options.max * SHARED))
  const lanes = createLanes(config, shared, prepared)
  const own = Math.max(1, options.max - shared)
  const pool = new pg.Pool({
    max: own,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    Client: class extends PipelinedClient {
      constructor() {
        super(config())
      }
    },
  })
  pool.on('error', ignoreLoss)
  const hasRoom = () => pool.waitingCount < own * MOST_WAITING
  return {
    query: (statement, values) =>
      statement.alone || (lanes.heldUp() && hasRoom())
        ? runAlone(pool, prepared, statement, values)
        : lanes.query(statement, values),
    transaction: (work) => runTransaction(pool, prepared, work),
    load: () => {
      const { connections, statements } = lanes.load()
      return {
        connections: connections + pool.totalCount,
        busy: pool.totalCount - pool.idleCount,
        waiting: pool.waitingCount,
        statements,
      }
    },
    end: async () => {
      await Promise.all([lanes.end(), pool.end()])
    },
  }
}

/** A single statement on a connection of its own, past slow ones. */
function runAlone<Row>(
  pool: pg.Pool,
  prepared: boolean,
  statement: Statement,
  values: readonly unknown[] | undefined,
): Promise<Result<Row>> {
  return new Promise((resolve, reject) => {
    pool.connect((refused, client, release) => {
      if (refused || !client) {
        reject(translateError(refused ?? new Error('Connection terminated')))
        return
      }
      send(client, prepared, statement, values, (outcome) => {
        const failed = outcome instanceof Error
        release(failed && (spoilsConnection(outcome) || isUnavailable(outcome)))
        if (failed) reject(translateError(outcome))
        else resolve(outcome)
      })
    })
  })
}

const BEGIN: Statement = { text: 'BEGIN' }
const ROLLBACK: Statement = { text: 'ROLLBACK' }

/** Everything that one transaction has seen, so that its first failure is the one that is told. */
interface TransactionState {
  failure: Error | undefined
  over: boolean
}

async function runTransaction<T>(
  pool: pg.Pool,
  prepared: boolean,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((error: Error) => {
    throw translateError(error)
  })
  const state: TransactionState = { failure: undefined, over: false }
  const db = transactionDatabase(client, prepared, state)
  db.query(BEGIN)
  try {
    const value = await work(db)
    state.over = true
    await commit(client, state)
    release(client, state)
    return value
  } catch (error) {
    const first = codeOf(error) === IN_FAILED_TRANSACTION ? (state.failure ?? error) : error
    state.over = true
    await rollback(client, state)
    release(client, state)
    throw first
  }
}

/**
 * Statements of one transaction. A failure makes PostgreSQL refuse all that follows (25P02): those report the first
 * failure instead. A statement that nobody waits for must not end the process; its failure shows at COMMIT.
 */
function transactionDatabase(client: pg.PoolClient, prepared: boolean, state: TransactionState): Database {
  return {
    query<Row>(statement: Statement, values?: readonly unknown[]) {
      const answer = new Promise<Result<Row>>((resolve, reject) => {
        if (state.over) throw new Error('a statement came after the end of its transaction')
        send(client, prepared, statement, values, (outcome) => {
          if (!(outcome instanceof Error)) {
            resolve(outcome)
            return
          }
          state.failure ??= translateError(outcome)
          reject(codeOf(outcome) === IN_FAILED_TRANSACTION ? state.failure : translateError(outcome))
        })
      })
      answer.catch(ignoreLoss)
      return answer
    },
  }
}

/** COMMIT of a transaction in which something failed is answered with ROLLBACK, not with an error. */
function commit(client: pg.PoolClient, state: TransactionState): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query('COMMIT', (error: Error | null, result: pg.QueryResult) => {
      if (error) {
        state.failure ??= translateError(error)
        reject(state.failure)
      } else if (result.command !== 'COMMIT') {
        reject(state.failure ?? new Error(`COMMIT was answered with ${result.command}`))
      } else {
        resolve()
      }
    })
  })
}

/** Never fails: a connection that cannot roll back is closed, and the server rolls back for it. */
function rollback(client: pg.PoolClient, state: TransactionState): Promise<void> {
  return new Promise((resolve) => {
    send(client, false, ROLLBACK, undefined, (outcome) => {
      if (outcome instanceof Error) state.failure = translateError(outcome)
      resolve()
    })
  })
}

function release(client: pg.PoolClient, state: TransactionState): void {
  client.release(spoilsConnection(state.failure) || isUnavailable(state.failure))
}

import type pg from 'pg'
import type { EventLoopTicks } from '../../platform/fairness/event-loop-ticks.ts'
import type { Tenant } from '../../platform/fairness/fair-queue.ts'
import type { Database, RowResult, Statement } from '../database.ts'
import {
  codeOf,
  IN_FAILED_TRANSACTION,
  NOT_NULL_VIOLATION,
  Overtaken,
  readCancellation,
  spoilsConnection,
  translateError,
} from '../errors.ts'
import { pipelined } from '../pipelined.ts'
import { steppingDatabase } from '../steps.ts'
import { send } from './connection.ts'
import type { HeldConnection } from './connections.ts'

export interface TransactionOptions {
  /** Whether statements keep their names. */
  readonly prepared: boolean
  /** Begin it, with what holds for it alone: after it nothing of that is left on the connection. */
  readonly begin: readonly Statement[]
  /** Whether tables are distributed by tenant: statements go in steps where they have any. */
  readonly distributed: boolean
  readonly tenant: Tenant
  readonly ticks: EventLoopTicks
}

const ROLLBACK: Statement = { text: 'ROLLBACK' }

/** Everything that one transaction has seen, so that its first failure is the one that is told. */
interface TransactionState {
  failure: Error | undefined
  over: boolean
}

/** Runs the work in a transaction on the connection, and gives the connection back: `Transactions.transaction`. */
export async function runTransaction<T>(
  { client, release }: HeldConnection,
  options: TransactionOptions,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const state: TransactionState = { failure: undefined, over: false }
  const db = transactionDatabase(client, options, state)
  for (const statement of options.begin) pipelined(db.query(statement))
  try {
    const value = await work(options.distributed ? steppingDatabase(db) : db)
    state.over = true
    await commit(client, state)
    release(spoilsConnection(state.failure))
    return value
  } catch (error) {
    const first = codeOf(error) === IN_FAILED_TRANSACTION ? (state.failure ?? error) : error
    state.over = true
    await rollback(client, state)
    release(spoilsConnection(state.failure))
    throw first
  }
}

/**
 * Statements of one transaction. A failure makes PostgreSQL refuse all that follows (25P02): those report the first
 * failure instead. A statement that nobody waits for must not end the process; its failure shows at COMMIT.
 */
function transactionDatabase(
  client: pg.PoolClient,
  { prepared, distributed, tenant, ticks }: TransactionOptions,
  state: TransactionState,
): Database {
  return {
    query<Row>(statement: Statement, values?: readonly unknown[]) {
      const answer = new Promise<RowResult<Row>>((resolve, reject) => {
        if (state.over) throw new Error('a statement came after the end of its transaction')
        send(client, prepared, statement, values, (outcome) => {
          if (!(outcome instanceof Error)) {
            ticks.hand(tenant, outcome.rows.length, () => resolve(outcome))
            return
          }
          const isOvertaken = statement.guarded && codeOf(outcome) === NOT_NULL_VIOLATION
          const error = isOvertaken
            ? new Overtaken(outcome.message, { cause: outcome })
            : translateError(distributed ? readCancellation(outcome) : outcome)
          state.failure ??= error
          reject(codeOf(outcome) === IN_FAILED_TRANSACTION ? state.failure : error)
        })
      })
      answer.catch(() => {})
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

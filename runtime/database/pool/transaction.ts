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
import { recordCommit, recordStatements } from '../statement-spans.ts'
import { steppingDatabase } from '../steps.ts'
import { send } from './connection.ts'
import type { HeldConnection } from './connections.ts'

export interface TransactionOptions {
  /** Whether to use prepared statements. */
  readonly prepared: boolean
  /** Statements that begin the transaction, with settings that end with it. */
  readonly begin: readonly Statement[]
  /** Whether tables are distributed by tenant, so that statements with steps are sent as steps. */
  readonly distributed: boolean
  readonly tenant: Tenant
  readonly ticks: EventLoopTicks
}

const ROLLBACK: Statement = { text: 'ROLLBACK' }

/** State of one transaction. It keeps the first failure, which is the one to report. */
interface TransactionState {
  failure: Error | undefined
  over: boolean
}

/** Runs the work in a transaction on the connection and releases the connection. See `Transactions.transaction`. */
export async function runTransaction<T>(
  { client, release }: HeldConnection,
  options: TransactionOptions,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const state: TransactionState = { failure: undefined, over: false }
  const db = recordStatements(transactionDatabase(client, options, state))
  for (const statement of options.begin) pipelined(db.query(statement))
  try {
    const value = await work(options.distributed ? steppingDatabase(db) : db)
    state.over = true
    await recordCommit(() => commit(client, state))
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
 * Sends statements of one transaction. After a failure, PostgreSQL rejects all following statements (25P02); these
 * report the first failure instead. A failed statement that the caller does not await must not end the process; its
 * failure surfaces at COMMIT.
 */
function transactionDatabase(
  client: pg.PoolClient,
  { prepared, distributed, tenant, ticks }: TransactionOptions,
  state: TransactionState,
): Database {
  return {
    query<Row>(statement: Statement, values?: readonly unknown[]) {
      const answer = new Promise<RowResult<Row>>((resolve, reject) => {
        if (state.over) throw new Error('a statement was sent after its transaction had ended')
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

/** PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK instead of an error. */
function commit(client: pg.PoolClient, state: TransactionState): Promise<void> {
  return new Promise((resolve, reject) => {
    // biome-ignore lint/nursery/noFloatingPromises: with a callback, pg returns nothing
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

/** Never fails: a connection that cannot roll back is closed, and the server then rolls back. */
function rollback(client: pg.PoolClient, state: TransactionState): Promise<void> {
  return new Promise((resolve) => {
    send(client, false, ROLLBACK, undefined, (outcome) => {
      if (outcome instanceof Error) state.failure = translateError(outcome)
      resolve()
    })
  })
}

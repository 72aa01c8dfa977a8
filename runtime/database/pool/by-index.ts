/**
 * Plans for the statements of the queue. With a plan that PostgreSQL made while the queue was empty, a claim among
 * 200,000 attempts takes 559 ms; with indexes only, it takes 31 ms (median of 9, on a busy machine).
 */
import type { Database, RowResult, Statement } from '../database.ts'
import { pipelined } from '../pipelined.ts'
import { inSteps } from '../steps.ts'
import type { EarlyCommit, Pool } from './pool.ts'

const OTHER_WAYS = [
  'seqscan',
  'bitmapscan',
  'hashjoin',
  'mergejoin',
  'material',
  'memoize',
  'sort',
  'incremental_sort',
]

const turnOff = (way: string) => `set_config('enable_${way}', 'off', true)`

/**
 * Allows only index scans, for this transaction. The queue may be empty one minute and hold a million rows the next,
 * and a plan made for an empty queue reads all of them. A session setting would affect other clients of a pooler.
 */
const BY_INDEX: Statement = {
  name: 'plan_by_index',
  text: `SELECT ${OTHER_WAYS.map(turnOff).join(', ')}`,
  // Citus does not propagate `set_config` calls to the worker nodes, but it propagates SET commands.
  steps: inSteps(undefined, ...OTHER_WAYS.map((way) => `SET LOCAL enable_${way} = off`)),
}

/**
 * The same for a named statement, with a generic plan that is made once for each connection. By default, PostgreSQL
 * plans the long statements on each execution, because it estimates fewer rows when it knows the values.
 */
export const BY_INDEX_ONCE: Statement = {
  ...BY_INDEX,
  name: 'plan_by_index_once',
  text: `${BY_INDEX.text}, set_config('plan_cache_mode', 'force_generic_plan', true)`,
}

/**
 * Runs each statement with index scans only. The statement is sent in one packet with its COMMIT: a process that stops
 * at any moment leaves no open transaction, whose locks would block other workers from its tenants.
 */
export function byIndex(pool: Pool): Database {
  return {
    query: async <Row>(statement: Statement, values?: readonly unknown[]): Promise<RowResult<Row>> => {
      const { flushed, ...result } = await byIndexCommitEarly<Row>(pool, statement, values)
      // Most polls find nothing and therefore write nothing.
      if (result.count > 0) await flushed()
      return result
    },
  }
}

/**
 * Like `byIndex`, but resolves before the commit is on disk; `flushed` waits for the disk. If the server crashes before
 * then, the statement is lost as a whole. A later commit cannot be on disk without this one.
 */
export async function byIndexCommitEarly<Row>(
  pool: Pool,
  statement: Statement,
  values?: readonly unknown[],
): Promise<RowResult<Row> & Pick<EarlyCommit<unknown>, 'flushed'>> {
  const { value: answer, flushed } = await pool.commitEarly((db) => sendByIndex<Row>(db, statement, values))
  return { ...(await answer()), flushed }
}

async function sendByIndex<Row>(db: Database, statement: Statement, values?: readonly unknown[]) {
  pipelined(db.query(statement.name === undefined ? BY_INDEX : BY_INDEX_ONCE))
  const sent = db.query<Row>(statement, values)
  return () => sent // a function, so that the result is not awaited before the COMMIT
}

/** Allows only index scans for the following statements of a transaction. Named ones have a generic plan. */
export function useIndexes(db: Database): void {
  pipelined(db.query(BY_INDEX_ONCE))
}

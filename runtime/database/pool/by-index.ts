/**
 * Plans of the queue's statements. With a plan that PostgreSQL made while the queue was empty, a claim among 200,000 attempts takes
 * 559 ms; with indexes only it takes 31 ms (median of 9, on a busy machine).
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
 * The queue is empty one minute and holds a million rows the next, and a plan made for the empty one reads all of them: so
 * only indexes are offered, for this transaction. A setting of the session would reach other users of a pooler.
 */
const BY_INDEX: Statement = {
  name: 'plan_by_index',
  text: `SELECT ${OTHER_WAYS.map(turnOff).join(', ')}`,
  // Functions do not reach the servers of the shards, commands do.
  steps: inSteps(undefined, ...OTHER_WAYS.map((way) => `SET LOCAL enable_${way} = off`)),
}

/**
 * The same for a statement with a name, which has one plan whatever its values are: it is made once on each connection.
 * Left to itself PostgreSQL plans the long ones anew each time, because it expects fewer rows if it knows the values.
 */
export const BY_INDEX_ONCE: Statement = {
  ...BY_INDEX,
  name: 'plan_by_index_once',
  text: `${BY_INDEX.text}, set_config('plan_cache_mode', 'force_generic_plan', true)`,
}

/**
 * Each statement with plans that use indexes only. It leaves in one packet with the COMMIT behind it: a process that is
 * stopped at whatever moment leaves no transaction open, whose locks would keep other workers from its tenants.
 */
export function byIndex(pool: Pool): Database {
  return {
    query: async <Row>(statement: Statement, values?: readonly unknown[]): Promise<RowResult<Row>> => {
      const { flushed, ...result } = await byIndexCommitEarly<Row>(pool, statement, values)
      // Most looks find nothing, and have written nothing then.
      if (result.count > 0) await flushed()
      return result
    },
  }
}

/**
 * The same, not waited for until it is on disk; `flushed` waits for that. What is committed later and waited for is never
 * on disk without it; a server that crashes before that loses it as a whole.
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
  return () => sent // in a function, so that it is not awaited before the COMMIT
}

/** The same for what follows in a transaction. */
export function useIndexes(db: Database): void {
  pipelined(db.query(BY_INDEX))
}

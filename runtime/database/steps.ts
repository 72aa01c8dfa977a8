/**
 * Work in several statements of one transaction, none waiting for the answer to another. Citus sends a statement to one shard
 * unless it writes new rows beside something else. So such work goes in steps: always (`sendSteps`), or only on Citus
 * (`Statement.steps`) if a single server needs one statement, because each request sends it or for its plan.
 */
import type { Database, RowResult, Statement, StatementStep } from './database.ts'
import { pipelined } from './pipelined.ts'

/**
 * Steps from texts that number their parameters as the whole statement does. Later ones see what earlier ones have done;
 * the answer is that of the last.
 *
 * @param name begins the names of all, which have none without it.
 */
export function inSteps(name: string | undefined, ...texts: readonly string[]): readonly StatementStep[] {
  return texts.map((text, index) => {
    const numbers = [...new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))]
    const own = text.replaceAll(/\$(\d+)/g, (_, number: string) => `$${numbers.indexOf(Number(number)) + 1}`)
    return {
      statement: name === undefined ? { text: own } : { name: `${name}_${index + 1}`, text: own },
      takes: numbers.map((number) => number - 1),
    }
  })
}

/** Sends the steps in a transaction, all at once. Gives the answer to the last; fails with the first error of any. */
export function sendSteps<Row>(
  tx: Database,
  steps: readonly StatementStep[],
  values: readonly unknown[],
  { guarded }: Pick<Statement, 'guarded'> = {},
): Promise<RowResult<Row>> {
  for (const step of steps.slice(0, -1)) pipelined(sendStep(tx, step, values, guarded))
  // A failure of an earlier one fails the last with the same error.
  return sendStep<Row>(tx, steps.at(-1)!, values, guarded)
}

function sendStep<Row>(
  tx: Database,
  { statement, takes }: StatementStep,
  values: readonly unknown[],
  guarded: Statement['guarded'],
): Promise<RowResult<Row>> {
  const own = guarded ? { ...statement, guarded } : statement
  return tx.query<Row>(own, takes.length === 0 ? undefined : takes.map((index) => values[index]))
}

/** A transaction of a distributed database: statements that have steps go in steps. */
export function steppingDatabase(db: Database): Database {
  return {
    query<Row>(statement: Statement, values: readonly unknown[] = []): Promise<RowResult<Row>> {
      return statement.steps
        ? sendSteps<Row>(db, statement.steps, values, statement)
        : db.query<Row>(statement, values)
    },
  }
}

/**
 * Splits work into several pipelined statements of one transaction. Citus routes a statement to one shard unless the
 * statement both inserts rows and does something else. Such work runs in steps: always (`sendSteps`), or only on Citus
 * (`Statement.steps`) if a single server should use one statement, because every request sends it or because its plan
 * is better.
 */
import type { Database, RowResult, Statement, StatementStep } from './database.ts'
import { pipelined } from './pipelined.ts'

/**
 * Makes steps from texts that share the parameter numbers of the whole statement. Later steps see the effects of
 * earlier ones. The result is that of the last step.
 *
 * @param name prefix of the statement names. Without it, the statements are not prepared.
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

/**
 * Pipelines the steps in a transaction. Returns the result of the last step; fails with the first error of any step.
 */
export function sendSteps<Row>(
  tx: Database,
  steps: readonly StatementStep[],
  values: readonly unknown[],
  { guarded }: Pick<Statement, 'guarded'> = {},
): Promise<RowResult<Row>> {
  for (const step of steps.slice(0, -1)) pipelined(sendStep(tx, step, values, guarded))
  // If an earlier step fails, this one fails with the same error.
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

/** Wraps a transaction on a distributed database: statements that have steps are sent as steps. */
export function steppingDatabase(db: Database): Database {
  return {
    query<Row>(statement: Statement, values: readonly unknown[] = []): Promise<RowResult<Row>> {
      return statement.steps
        ? sendSteps<Row>(db, statement.steps, values, statement)
        : db.query<Row>(statement, values)
    },
  }
}

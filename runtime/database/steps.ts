/**
 * Statements in steps, for a database that is distributed by tenant. Citus gives a statement to one shard as it is, unless
 * it writes new rows beside something else: so what is one statement elsewhere is several there, in one transaction, none
 * waiting for the answer to another.
 */
import type { Database, RowResult, Statement, StatementStep } from './database.ts'

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

/** A transaction of a distributed database: statements that have steps go in steps. */
export function steppingDatabase(db: Database): Database {
  return {
    query<Row>(statement: Statement, values: readonly unknown[] = []): Promise<RowResult<Row>> {
      if (!statement.steps) return db.query<Row>(statement, values)
      const { steps, guarded } = statement
      const answers = steps.map(({ statement: own, takes }) => {
        const step = guarded ? { ...own, guarded } : own
        return takes.length === 0
          ? db.query<Row>(step)
          : db.query<Row>(
              step,
              takes.map((place) => values[place]),
            )
      })
      // A failure of an earlier one fails the last with the same error.
      return answers.at(-1)!
    },
  }
}

import { recordChild, type SpanStart } from '../tracing/span.ts'
import type { Database, Statement } from './database.ts'

const ATTRIBUTES = { 'db.system.name': 'postgresql' }

/** Returns the span of a statement: its name, or the first word of its text. Values are never part of it. */
const spanOf = ({ name, text }: Statement): SpanStart => ({
  name: name ?? /\w+/.exec(text)![0],
  kind: 'client',
  attributes: ATTRIBUTES,
})

/** Records each statement as a child of the current span. */
export function recordStatements(db: Database): Database {
  return {
    query: <Row>(statement: Statement, values?: readonly unknown[]) =>
      recordChild(
        () => spanOf(statement),
        () => db.query<Row>(statement, values),
      ),
  }
}

const COMMIT = { name: 'COMMIT', kind: 'client', attributes: ATTRIBUTES } as const
const FLUSH = { ...COMMIT, name: 'flush' }

/** Records a COMMIT as a child of the current span. */
export const recordCommit = (commit: () => Promise<void>): Promise<void> => recordChild(() => COMMIT, commit)

/** Records the wait until a commit is on disk as a child of the current span. */
export const recordFlush = (flush: () => Promise<void>): Promise<void> => recordChild(() => FLUSH, flush)

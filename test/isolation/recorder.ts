import type { Database, RowResult, Statement } from '../../runtime/database/database.ts'
import type { Pool, Transactions } from '../../runtime/database/pool/pool.ts'
import type { TestDatabase } from '../support/database.ts'

/** A statement as it was sent, by whom, on behalf of whom. */
export interface Recorded {
  readonly role: 'control' | 'sandbox' | 'live'
  readonly statement: Statement
  readonly values: readonly unknown[]
  /** The tenant whose request was being answered; undefined when there was none. */
  readonly tenantId: string | undefined
}

export interface Recorder {
  /** The same database; what goes through it is written down. */
  readonly database: TestDatabase
  readonly recorded: readonly Recorded[]
  /** From now on statements are on behalf of this tenant. One request at a time. */
  actFor(tenantId: string | undefined): void
}

/** Looks at a statement before it is sent, in a transaction as it is then. What it sends, it sends at once. */
export type Examine = (tx: Database, recorded: Recorded) => Promise<void>

/** Of what nobody waits for: it fails the run. */
const fail = (error: unknown) =>
  setImmediate(() => {
    throw error
  })

export function recordStatements(database: TestDatabase, examine?: Examine): Recorder {
  const recorded: Recorded[] = []
  let tenantId: string | undefined
  const record = (role: Recorded['role'], statement: Statement, values: readonly unknown[] = []) => {
    const entry = { role, statement, values, tenantId }
    recorded.push(entry)
    return entry
  }
  const inTransaction = (role: Recorded['role'], db: Database): Database => ({
    query<Row>(statement: Statement, values?: readonly unknown[]): Promise<RowResult<Row>> {
      const entry = record(role, statement, values)
      examine?.(db, entry).catch(fail)
      return db.query<Row>(statement, values)
    },
  })
  const outOfTransaction = (role: Recorded['role'], given: Transactions, db: Database): Database => ({
    async query<Row>(statement: Statement, values?: readonly unknown[]): Promise<RowResult<Row>> {
      const entry = record(role, statement, values)
      if (examine) await given.transaction((tx) => examine(tx, entry))
      return db.query<Row>(statement, values)
    },
  })
  const withTransactions = (role: Recorded['role'], given: Transactions): Transactions => ({
    ...outOfTransaction(role, given, given),
    flushed: outOfTransaction(role, given, given.flushed),
    transaction: (work) => given.transaction((db) => work(inTransaction(role, db))),
    commitEarly: (work) => given.commitEarly((db) => work(inTransaction(role, db))),
  })
  const wrap = <P extends Pool>(role: Recorded['role'], pool: P): P => ({
    ...pool,
    ...withTransactions(role, pool),
    forTenant: (id) => withTransactions(role, pool.forTenant(id)),
  })
  const control = wrap('control', database.control)
  const cards = database.cards && { ...database.cards, pool: wrap('control', database.cards.pool) }
  return {
    recorded,
    actFor: (id) => {
      tenantId = id
    },
    database: {
      ...database,
      control,
      cards,
      sandbox: wrap('sandbox', database.sandbox),
      live: wrap('live', database.live),
      operator: { ...database.operator, control },
    },
  }
}

/** What is sent where tables are distributed: the statement's steps, if it has any. */
export function sentAs(recorded: Recorded): readonly Recorded[] {
  const { statement, values } = recorded
  if (!statement.steps) return [recorded]
  return statement.steps.map((step) => ({
    ...recorded,
    statement: step.statement,
    values: step.takes.map((place) => values[place]),
  }))
}

/** The statement's text in one line. */
export const plainText = ({ statement }: Pick<Recorded, 'statement'>): string =>
  statement.text.replaceAll(/\s+/g, ' ').trim()

import type { Database, Result, Statement } from '../../runtime/db/database.ts'
import type { Pool, Transactions } from '../../runtime/db/pool.ts'
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

export function recordStatements(database: TestDatabase): Recorder {
  const recorded: Recorded[] = []
  let tenantId: string | undefined
  const listen = (role: Recorded['role'], db: Database): Database => ({
    query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Result<Row>> {
      recorded.push({ role, statement, values: values ?? [], tenantId })
      return db.query<Row>(statement, values)
    },
  })
  const listenAll = (role: Recorded['role'], given: Transactions): Transactions => ({
    ...listen(role, given),
    transaction: (work) => given.transaction((db) => work(listen(role, db))),
  })
  const wrap = <P extends Pool>(role: Recorded['role'], pool: P): P => ({
    ...pool,
    ...listenAll(role, pool),
    forTenant: (id) => listenAll(role, pool.forTenant(id)),
  })
  const control = wrap('control', database.control)
  return {
    recorded,
    actFor: (id) => {
      tenantId = id
    },
    database: {
      ...database,
      control,
      sandbox: wrap('sandbox', database.sandbox),
      live: wrap('live', database.live),
      operator: { ...database.operator, control },
    },
  }
}

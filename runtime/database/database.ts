/** How statements reach PostgreSQL: the one shape that handlers, stages and the operator's tool share. */

/** A statement with its text visible where it is used. The name, unique per text, makes it a prepared statement. */
export interface Statement {
  readonly name?: string
  readonly text: string
  /**
   * It may take long (a count over many rows): it runs on one of the few connections for such, one at a time for each
   * tenant, and is given up after ten seconds on behalf of a tenant.
   */
  readonly long?: true
  /**
   * It writes null into a column that takes none where what the transaction was decided by has changed meanwhile: that fails
   * with `Overtaken`.
   */
  readonly guarded?: true
  /** The same where tables are distributed by tenant, if it is another statement there (`inSteps`). */
  readonly steps?: readonly StatementStep[]
}

export interface RowResult<Row> {
  readonly rows: Row[]
  /** Rows affected, for statements that return none. */
  readonly count: number
}

/** A pool, or one client inside a transaction. Queries that are not awaited one by one travel together (pipelined). */
export interface Database {
  query<Row = Record<string, unknown>>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<RowResult<Row>>
}

/** One of them. */
export interface StatementStep {
  readonly statement: Statement
  /** Which values of the whole it is given, counted from 0. None: it goes without any, and may hold several commands. */
  readonly takes: readonly number[]
}

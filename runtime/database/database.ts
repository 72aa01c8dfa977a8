/**
 * The interface for sending statements to PostgreSQL. Handlers, pipeline stages and the operator commands all use it.
 */

/** A SQL statement, written where it is used. A name makes it a prepared statement and must be unique to the text. */
export interface Statement {
  readonly name?: string
  readonly text: string
  /**
   * The statement may run long, such as a count over many rows. It uses one of a few connections reserved for long
   * statements, one at a time for each tenant. Statements of a tenant are canceled after ten seconds.
   */
  readonly long?: true
  /**
   * Optimistic check: if a fact that the transaction relied on has changed, the statement violates NOT NULL on purpose,
   * which surfaces as `Overtaken`.
   */
  readonly guarded?: true
  /** The steps to send instead if tables are distributed by tenant (`inSteps`). */
  readonly steps?: readonly StatementStep[]
  /** The statement to send instead for many sets of values at once (`gatheringDatabase`). */
  readonly many?: ManyStatement
}

/**
 * A statement for many sets of values. $1 is the value that all have in common, the tenant. $2 is a JSON list with an
 * object for each set: its number from 0 as `place`, and its values as `v1`, `v2` and so on. Returned rows have the
 * `place` of the set that they are for. If a value is a `JsonList`, $2 has its items instead of the set.
 */
export interface ManyStatement {
  readonly text: string
  /** Index of the common value, from 0. Default: 0. */
  readonly common?: number
  /** Statements of a lower rank are sent first. Default: 0. */
  readonly rank?: number
}

export interface RowResult<Row> {
  readonly rows: Row[]
  /** Number of affected rows, for statements that return no rows. */
  readonly count: number
}

/** A pool, or one client in a transaction. Queries that the caller does not await one by one are pipelined. */
export interface Database {
  query<Row = Record<string, unknown>>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<RowResult<Row>>
}

/** One statement of a sequence that replaces a single statement. */
export interface StatementStep {
  readonly statement: Statement
  /** Indexes of the values, from 0, that this step binds. A step without values may hold several commands. */
  readonly takes: readonly number[]
}

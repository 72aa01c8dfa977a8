/**
 * Prepared statements that are described once for each connection. Compared to `client.query({ name, text, values })`
 * of pg, this saves 12 µs of CPU for one row (25 instead of 37) and 46 µs for 25 rows (82 instead of 128), 6 % and 7 %
 * of a request that reads them. For a write it saves 3 µs (16 instead of 19). Measured with `node test/bench/queries.ts
 * --only "a statement"`. It uses internals of pg 8.23.1; `test/database/prepared-query.test.ts` fails for any other
 * version and if an internal is missing.
 */
import pg from 'pg'

type Parse = (text: string) => unknown

interface RowColumn {
  readonly name: string
  /** Absent for text, which needs no parser. */
  readonly parse: Parse | undefined
  readonly isJson: boolean
}

/** The part of pg's connection that a query uses. */
interface PgWire {
  describe(message: unknown): void
}

/** Members of pg's query class that this class overrides. pg declares types only for its public API. */
interface BaseQuery {
  name: string
  readonly _result: { rows: unknown[]; readonly _types?: pg.CustomTypesConfig }
  _canceledDueToError: unknown
  prepare(connection: PgWire): void
  handleRowDescription(message: { readonly fields: readonly pg.FieldDef[] }): void
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void
  handleCommandComplete(message: unknown, connection: PgWire): void
}

const Query = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[] | undefined,
  settle: unknown,
) => BaseQuery

const TEXT = 25
const JSON_TYPES = new Set([114, 3802])

/** Columns of the prepared statements of a connection, empty for a statement that returns no rows. */
interface KnownStatements {
  readonly columns: Map<string, readonly RowColumn[]>
  /** The connection with a Describe that does nothing. */
  readonly undescribed: PgWire
}

const connections = new WeakMap<PgWire, KnownStatements>()

function knownOf(connection: PgWire): KnownStatements {
  const known = connections.get(connection)
  if (known) return known
  const undescribed = Object.assign(Object.create(connection) as PgWire, { describe() {} })
  const made = { columns: new Map(), undescribed }
  connections.set(connection, made)
  return made
}

/**
 * A prepared statement. pg describes the rows on each execution, but the columns of a prepared statement cannot change
 * (PostgreSQL rejects that: "cached plan must not change result type"), so the first description is reused.
 */
export class PreparedQuery extends Query {
  #columns: readonly RowColumn[] | undefined
  #known: KnownStatements | undefined
  readonly #memo = new Map<RowColumn, { readonly text: string; readonly value: unknown }>()

  constructor(name: string, text: string, values: readonly unknown[] | undefined, settle: unknown) {
    // Separate arguments: pg would copy an object with all its property descriptors, which costs 2 % of a small read.
    super(text, values, settle)
    this.name = name
  }

  override prepare(connection: PgWire): void {
    this.#known = knownOf(connection)
    this.#columns = this.#known.columns.get(this.name)
    super.prepare(this.#columns ? this.#known.undescribed : connection)
  }

  override handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    const types = this._result._types ?? pg.types
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: dataTypeID === TEXT ? undefined : types.getTypeParser(dataTypeID, 'text'),
      isJson: JSON_TYPES.has(dataTypeID),
    }))
    this.#known?.columns.set(this.name, this.#columns)
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this._canceledDueToError) return
    try {
      this._result.rows.push(this.#read(fields))
    } catch (error) {
      this.#known?.columns.delete(this.name)
      this._canceledDueToError = error
    }
  }

  override handleCommandComplete(message: unknown, connection: PgWire): void {
    if (!this.#columns) this.#known?.columns.set(this.name, [])
    super.handleCommandComplete(message, connection)
  }

  #read(fields: readonly (string | null)[]): Record<string, unknown> {
    const columns = this.#columns!
    // A pooler may have prepared the statement on a different server connection after the tables changed.
    if (fields.length !== columns.length)
      throw new Error('the columns of a prepared statement have changed: send it again')
    const row: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index += 1) {
      const column = columns[index]!
      const text = fields[index]!
      if (text === null || !column.parse) row[column.name] = text
      else row[column.name] = column.isJson ? this.#parseJson(column, text) : column.parse(text)
    }
    return row
  }

  /**
   * Parses JSON once for consecutive rows with the same text in a column, such as the template fields in a list of
   * passes. These rows share the value, so it must not be modified.
   */
  #parseJson(column: RowColumn, text: string): unknown {
    const last = this.#memo.get(column)
    if (last?.text === text) return last.value
    const value = column.parse!(text)
    this.#memo.set(column, { text, value })
    return value
  }
}

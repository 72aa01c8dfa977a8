/**
 * Statements with a name, described once for each connection. Against `client.query({ name, text, values })` of pg this saves 12 µs of
 * CPU for one row (25 instead of 37) and 46 µs for 25 rows (82 instead of 128), which is 6 and 7 % of a request that reads them;
 * for a statement that writes it saves 3 µs (16 instead of 19)
 * (`node test/bench/queries.ts --only "a statement"`). It uses internals of pg 8.23.1: `test/database/prepared-query.test.ts` fails
 * with another version of pg, and if one of them is gone.
 */
import pg from 'pg'

type Parse = (text: string) => unknown

interface RowColumn {
  readonly name: string
  /** Absent: the text itself. */
  readonly parse: Parse | undefined
  readonly isJson: boolean
}

/** A connection of pg, as far as a query uses it. */
interface PgWire {
  describe(message: unknown): void
}

/** What of pg's own query is refined here: pg types its public face only. */
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

/** What is known of a connection: the columns of its prepared statements; none for one that returns nothing. */
interface KnownStatements {
  readonly columns: Map<string, readonly RowColumn[]>
  /** The connection, but for Describe. */
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
 * A statement with a name. pg asks PostgreSQL to describe the rows at each execution; of a prepared statement they cannot
 * change (PostgreSQL refuses that: "cached plan must not change result type"), so the first description serves for all.
 */
export class PreparedQuery extends Query {
  #columns: readonly RowColumn[] | undefined
  #known: KnownStatements | undefined
  readonly #memo = new Map<RowColumn, { readonly text: string; readonly value: unknown }>()

  constructor(name: string, text: string, values: readonly unknown[] | undefined, settle: unknown) {
    // Not as one object, which pg would copy with all property descriptors: a fiftieth of what a small read takes.
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
    // A pooler may have prepared it anew on another server connection, after the tables had changed.
    if (fields.length !== columns.length) throw new Error('the columns of a prepared statement have changed')
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
   * JSON of one column that is the same in row after row, such as the fields of a template in a list of its passes, is parsed once
   * for each result: these rows share the value, which is to be read only.
   */
  #parseJson(column: RowColumn, text: string): unknown {
    const last = this.#memo.get(column)
    if (last?.text === text) return last.value
    const value = column.parse!(text)
    this.#memo.set(column, { text, value })
    return value
  }
}

import pg from 'pg'

type Parse = (text: string) => unknown

/** How the rows of a statement are read; made from its description, good for as long as the statement is prepared. */
interface RowShape {
  readonly columns: number
  read(fields: readonly (string | null)[]): unknown
}

/** A connection of pg, as far as a query uses it. */
interface Wire {
  describe(message: unknown): void
}

/** What pg's own query does, so far as it is refined here: pg types its public face only. */
interface BaseQuery {
  readonly name: string
  readonly _result: { rows: unknown[]; readonly _types?: pg.CustomTypesConfig }
  _canceledDueToError: unknown
  prepare(connection: Wire): void
  handleRowDescription(message: { readonly fields: readonly pg.FieldDef[] }): void
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void
  handleCommandComplete(message: unknown, connection: Wire): void
}

const Query = pg.Query as unknown as new (
  config: pg.QueryConfig,
  values: undefined,
  settle: unknown,
) => BaseQuery

const TEXT = 25

/** Of statements that return nothing. */
const NO_ROWS: RowShape = { columns: 0, read: () => ({}) }

/** What is known of the statements that are prepared on a connection. */
interface Known {
  readonly shapes: Map<string, RowShape>
  /** The connection, but for Describe. */
  readonly undescribed: Wire
}

const connections = new WeakMap<Wire, Known>()

function knownOf(connection: Wire): Known {
  const known = connections.get(connection)
  if (known) return known
  const undescribed = Object.assign(Object.create(connection) as Wire, { describe() {} })
  const made = { shapes: new Map(), undescribed }
  connections.set(connection, made)
  return made
}

/**
 * A statement with a name. pg asks PostgreSQL to describe the rows at each execution; of a prepared statement they cannot
 * change (PostgreSQL refuses that: "cached plan must not change result type"), so the first description serves for all.
 */
export class PreparedQuery extends Query {
  #shape: RowShape | undefined
  #shapes: Map<string, RowShape> | undefined

  override prepare(connection: Wire): void {
    const { shapes, undescribed } = knownOf(connection)
    this.#shapes = shapes
    this.#shape = shapes.get(this.name)
    super.prepare(this.#shape ? undescribed : connection)
  }

  override handleRowDescription(message: { readonly fields: readonly pg.FieldDef[] }): void {
    const types = this._result._types ?? pg.types
    const parsers = message.fields.map(({ dataTypeID }) =>
      dataTypeID === TEXT ? undefined : types.getTypeParser(dataTypeID, 'text'),
    )
    const names = message.fields.map(({ name }) => name)
    this.#shape = { columns: names.length, read: compileReader(names, parsers) }
    this.#shapes?.set(this.name, this.#shape)
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this._canceledDueToError) return
    try {
      this._result.rows.push(readRow(this.#shape!, fields))
    } catch (error) {
      this.#shapes?.delete(this.name)
      this._canceledDueToError = error
    }
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (!this.#shape) this.#shapes?.set(this.name, NO_ROWS)
    super.handleCommandComplete(message, connection)
  }
}

function readRow({ columns, read }: RowShape, fields: readonly (string | null)[]): unknown {
  // A pooler may have prepared it anew on another server connection, after the tables had changed.
  if (fields.length !== columns) throw new Error('the columns of a prepared statement have changed')
  return read(fields)
}

/**
 * A function that reads a row, compiled: with the names in its text each row is made whole at once, which takes a sixth of
 * what giving an object its members one by one takes.
 */
function compileReader(names: readonly string[], parsers: readonly (Parse | undefined)[]): RowShape['read'] {
  const members = names.map((name, index) => {
    const value = parsers[index] ? `f[${index}] === null ? null : p[${index}](f[${index}])` : `f[${index}]`
    return `[${JSON.stringify(name)}]: ${value}`
  })
  return new Function('p', `return (f) => ({ ${members.join(', ')} })`)(parsers) as RowShape['read']
}

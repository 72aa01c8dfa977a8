import pg from 'pg'

type Parse = (text: string) => unknown

/** How the rows of a statement are read; made from its description, good for as long as the statement is prepared. */
interface RowShape {
  readonly columns: number
  /** @param memo of this result: starts empty. */
  read(fields: readonly (string | null)[], memo: unknown[]): unknown
}

/** A connection of pg, as far as a query uses it. */
interface PgWire {
  describe(message: unknown): void
  _send(message: Buffer): void
}

/** What pg's own query does, so far as it is refined here: pg types its public face only. */
interface BaseQuery {
  name: string
  readonly values: readonly unknown[] | undefined
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

/** Of statements that return nothing. */
const NO_ROWS: RowShape = { columns: 0, read: () => ({}) }

/** What is known of the statements that are prepared on a connection. */
interface KnownStatements {
  readonly shapes: Map<string, RowShape>
  /** The connection, but for Describe. */
  readonly undescribed: PgWire
}

const connections = new WeakMap<PgWire, KnownStatements>()

function knownOf(connection: PgWire): KnownStatements {
  const known = connections.get(connection)
  if (known) return known
  const undescribed = Object.assign(Object.create(connection) as PgWire, { describe() {} })
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
  readonly #memo: unknown[] = []

  constructor(name: string, text: string, values: readonly unknown[] | undefined, settle: unknown) {
    // Not as one object, which pg would copy with all property descriptors: a fiftieth of what a small read takes.
    super(text, values, settle)
    this.name = name
  }

  override prepare(connection: PgWire): void {
    const { shapes, undescribed } = knownOf(connection)
    this.#shapes = shapes
    this.#shape = shapes.get(this.name)
    const execution = this.#shape && writeExecution(this.name, this.values ?? [])
    if (execution) connection._send(execution)
    else super.prepare(this.#shape ? undescribed : connection)
  }

  override handleRowDescription(message: { readonly fields: readonly pg.FieldDef[] }): void {
    const types = this._result._types ?? pg.types
    const columns = message.fields.map(({ name, dataTypeID }): RowColumn => {
      const parse = dataTypeID === TEXT ? undefined : types.getTypeParser(dataTypeID, 'text')
      return { name, parse, isJson: JSON_TYPES.has(dataTypeID) }
    })
    this.#shape = { columns: columns.length, read: compileReader(columns) }
    this.#shapes?.set(this.name, this.#shape)
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this._canceledDueToError) return
    try {
      this._result.rows.push(readRow(this.#shape!, fields, this.#memo))
    } catch (error) {
      this.#shapes?.delete(this.name)
      this._canceledDueToError = error
    }
  }

  override handleCommandComplete(message: unknown, connection: PgWire): void {
    if (!this.#shape) this.#shapes?.set(this.name, NO_ROWS)
    super.handleCommandComplete(message, connection)
  }
}

/** Execute of the unnamed portal without a limit of rows, and Sync (PostgreSQL, 54.7). */
const EXECUTE_AND_SYNC = Buffer.from('E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04', 'latin1')

/** For one statement at a time; longer ones are left to pg. */
const scratch = Buffer.allocUnsafe(16 * 1024)

/** The most bytes that a UTF-16 unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3

/**
 * Bind, Execute and Sync of a prepared statement in one piece (PostgreSQL, 54.7): pg makes three of it, and the first one
 * twice. Undefined for values that pg has to convert.
 */
function writeExecution(name: string, values: readonly unknown[]): Buffer | undefined {
  const texts: (string | null)[] = []
  let room = 16 + EXECUTE_AND_SYNC.length + name.length * MAX_UNIT_BYTES
  for (const value of values) {
    const text = typeof value === 'number' ? String(value) : (value ?? null)
    if (text !== null && typeof text !== 'string') return undefined
    texts.push(text)
    room += 4 + (text === null ? 0 : text.length * MAX_UNIT_BYTES)
  }
  if (room > scratch.length) return undefined
  // Behind the message's code and length; the portal has no name.
  let at = scratch.writeUInt8(0, 5)
  at += scratch.write(name, at)
  at = scratch.writeUInt8(0, at)
  at = scratch.writeUInt16BE(0, at) // all parameters are texts
  at = scratch.writeUInt16BE(texts.length, at)
  for (const text of texts) {
    const length = text === null ? 0 : scratch.write(text, at + 4)
    at = scratch.writeInt32BE(text === null ? -1 : length, at) + length
  }
  at = scratch.writeUInt16BE(0, at) // and all results
  scratch.write('B')
  scratch.writeUInt32BE(at - 1, 1)
  at += EXECUTE_AND_SYNC.copy(scratch, at)
  return Buffer.from(scratch.subarray(0, at))
}

function readRow({ columns, read }: RowShape, fields: readonly (string | null)[], memo: unknown[]): unknown {
  // A pooler may have prepared it anew on another server connection, after the tables had changed.
  if (fields.length !== columns) throw new Error('the columns of a prepared statement have changed')
  return read(fields, memo)
}

interface RowColumn {
  readonly name: string
  /** Absent: the text itself. */
  readonly parse: Parse | undefined
  readonly isJson: boolean
}

/**
 * A function that reads a row, compiled: with the names in its text each row is made whole at once, which takes a sixth of
 * what giving an object its members one by one takes.
 */
function compileReader(columns: readonly RowColumn[]): RowShape['read'] {
  const members = columns.map(({ name, parse, isJson }, at) => {
    const parsed = isJson ? `again(p[${at}], f[${at}], m, ${2 * at})` : `p[${at}](f[${at}])`
    const value = parse ? `f[${at}] === null ? null : ${parsed}` : `f[${at}]`
    return `[${JSON.stringify(name)}]: ${value}`
  })
  const parsers = columns.map(({ parse }) => parse)
  const make = new Function('p', 'again', `return (f, m) => ({ ${members.join(', ')} })`)
  return make(parsers, parseAgain) as RowShape['read']
}

/**
 * JSON of one column that stands in row after row, such as the fields of a template in a list of its passes, is parsed once
 * a result: these rows share the value, which is to be read only.
 */
function parseAgain(parse: Parse, text: string, memo: unknown[], at: number): unknown {
  if (memo[at] !== text) {
    memo[at] = text
    memo[at + 1] = parse(text)
  }
  return memo[at + 1]
}

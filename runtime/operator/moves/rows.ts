/** Reads, compares and writes rows of any table, as text. */
import type { Database, Statement } from '../../database/database.ts'
import type { MovedColumn, MovedTable } from './tables.ts'

/** Text of each column of a table, in the order of its columns. */
export type TextRow = readonly (string | null)[]

/** Key of a row: text of each key column. */
export type RowKey = readonly string[]

/** Rows of one owner whose keys are after `after` and not after `upTo`. Undefined: no bound. */
export interface KeyRange {
  readonly after?: RowKey | undefined
  readonly upTo?: RowKey | undefined
}

/** Makes the text of values the same in every session. Compiling statements would take longer than they do. */
export const AS_TEXT: Statement = {
  text: `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'postgres';
         SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SET LOCAL jit = off`,
}

const quoted = (name: string) => `"${name}"`

const nameOf = ({ schema, name }: MovedTable) => `${schema}.${quoted(name)}`

/** Order of the bytes, because the default order may differ between servers. */
const sortable = ({ name, type }: MovedColumn, expression = `t.${quoted(name)}`) =>
  type === 'text' ? `${expression} COLLATE "C"` : expression

function rowOf(columns: readonly string[]): string {
  return `ROW(${columns.join(', ')})`
}

/** Selects the rows of a range. $1 is the owner; the values of the bounds follow. */
class RangeQuery {
  readonly values: unknown[]
  readonly from: string
  readonly order: string

  /** @param values those of a statement with several ranges of the owner. */
  constructor(table: MovedTable, owner: string, { after, upTo }: KeyRange, values: unknown[] = [owner]) {
    this.values = values
    const bound = (operator: string, key: RowKey) => {
      const given = table.key.map((column, at) => {
        this.values.push(key[at])
        return sortable(column, `$${this.values.length}::text::${column.type}`)
      })
      return `AND ${rowOf(table.key.map((column) => sortable(column)))} ${operator} ${rowOf(given)}`
    }
    const bounds = [
      after === undefined || table.key.length === 0 ? '' : bound('>', after),
      upTo === undefined || table.key.length === 0 ? '' : bound('<=', upTo),
    ]
    this.from = `FROM ${nameOf(table)} t WHERE ${table.where} ${bounds.join(' ')}`
    this.order =
      table.key.length === 0 ? '' : `ORDER BY ${table.key.map((column) => sortable(column)).join(', ')}`
  }
}

const keyOf = (table: MovedTable) =>
  `json_build_array(${table.key.map(({ name }) => `t.${quoted(name)}::text`).join(', ')})::text`

/** Hash of the columns that source and target must have in common. */
const hashOf = (table: MovedTable) => {
  const compared = table.columns.filter(({ name }) => table.own[name] === undefined)
  return `md5(${rowOf(compared.map(({ name }) => `t.${quoted(name)}`))}::text)`
}

/**
 * Row versions of a range in one database. A row version has its own table, place and transaction, and never changes. So
 * two equal fingerprints of a range, taken at different times, show that its rows are the same at both.
 */
export interface RangeVersions {
  readonly rows: number
  /** XOR of a 64-bit hash of each row version; null if there are none. */
  readonly versions: string | null
}

export interface RangeSummary extends RangeVersions {
  /** Hash of all rows in the order of their keys; null if there are none. */
  readonly hash: string | null
  readonly last: RowKey | undefined
}

/** Hash of a row version. Locks and freezing of a row do not change it. */
const VERSION = 'hash_record_extended(ROW(t.tableoid, t.ctid, t.xmin), 0)'

const summaryOf = (
  table: MovedTable,
  { from, order }: RangeQuery,
  limit: number | undefined,
  name: string = table.name,
) =>
  `SELECT '${name}' AS name, count(*)::integer AS rows, md5(string_agg(c.hash, '' ORDER BY c.place)) AS hash,
          bit_xor(c.version)::text AS versions, (array_agg(c.key ORDER BY c.place DESC))[1] AS last
     FROM (SELECT x.hash, x.key, x.version, row_number() OVER () AS place
             FROM (SELECT ${hashOf(table)} AS hash, ${keyOf(table)} AS key, ${VERSION} AS version ${from} ${order}
                   ${limit === undefined ? '' : `LIMIT ${limit}`}) AS x) AS c`

interface SummaryRow {
  readonly name: string
  readonly rows: number
  readonly hash: string | null
  readonly versions: string | null
  readonly last: string | null
}

const readSummary = ({ rows, hash, versions, last }: SummaryRow): RangeSummary => ({
  rows,
  hash,
  versions,
  last: last === null ? undefined : (JSON.parse(last) as RowKey),
})

/** Counts and hashes the rows of a range. @param limit number of rows at most. */
export async function summarize(
  db: Database,
  table: MovedTable,
  owner: string,
  range: KeyRange,
  limit?: number,
): Promise<RangeSummary> {
  const query = new RangeQuery(table, owner, range)
  const { rows } = await db.query<SummaryRow>({ text: summaryOf(table, query, limit) }, query.values)
  return readSummary(rows[0]!)
}

/** Counts and hashes the rows of each range, in one statement. */
export async function summarizeEach(
  db: Database,
  table: MovedTable,
  owner: string,
  ranges: readonly KeyRange[],
): Promise<readonly RangeSummary[]> {
  const values: unknown[] = [owner]
  const texts = ranges.map((range, at) => {
    const query = new RangeQuery(table, owner, range, values)
    return `(${summaryOf(table, query, undefined, String(at))})`
  })
  const { rows } = await db.query<SummaryRow>({ text: texts.join(' UNION ALL ') }, values)
  return rows.toSorted((one, other) => Number(one.name) - Number(other.name)).map(readSummary)
}

/** Counts and hashes the first rows of each table, in one statement. @returns summaries by name of the table. */
export async function summarizeFirst(
  db: Database,
  tables: readonly MovedTable[],
  owner: string,
  limit: (table: MovedTable) => number,
): Promise<ReadonlyMap<string, RangeSummary>> {
  if (tables.length === 0) return new Map()
  const texts = tables.map((table) => `(${summaryOf(table, new RangeQuery(table, owner, {}), limit(table))})`)
  const { rows } = await db.query<SummaryRow>({ text: texts.join(' UNION ALL ') }, [owner])
  return new Map(rows.map((row) => [row.name, readSummary(row)]))
}

/**
 * Reads the row versions of all ranges of a table, in one statement.
 *
 * @param cuts the key at which each range ends, except the last range, which has no end.
 */
export async function readVersions(
  db: Database,
  table: MovedTable,
  owner: string,
  cuts: readonly RowKey[],
): Promise<readonly RangeVersions[]> {
  const values: unknown[] = [owner]
  const bounds = table.key.map((_, at) => {
    const ends = cuts.map((cut) => cut[at])
    values.push([null, ...ends], [...ends, null])
    return [`after_${at}`, `up_to_${at}`] as const
  })
  const given = (side: 0 | 1) =>
    rowOf(table.key.map((column, at) => sortable(column, `r.${bounds[at]![side]}::${column.type}`)))
  const own = rowOf(table.key.map((column) => sortable(column)))
  const lists = values.slice(1).map((_, at) => `$${at + 2}::text[]`)
  const summary = (condition: string) =>
    `SELECT count(*)::integer AS rows, bit_xor(${VERSION})::text AS versions
       FROM ${nameOf(table)} t WHERE ${table.where} AND ${condition}`
  // The ranges at both ends have subqueries of their own, because no index serves a condition with OR.
  const text = `SELECT f.rows + m.rows + l.rows AS rows, coalesce(f.versions, m.versions, l.versions) AS versions
                  FROM unnest(${lists.join(', ')}) WITH ORDINALITY AS r (${bounds.flat().join(', ')}, place),
                       LATERAL (${summary(`r.after_0 IS NULL AND ${own} <= ${given(1)}`)}) AS f,
                       LATERAL (${summary(`${own} > ${given(0)} AND ${own} <= ${given(1)}`)}) AS m,
                       LATERAL (${summary(`r.up_to_0 IS NULL AND ${own} > ${given(0)}`)}) AS l
                 ORDER BY r.place`
  return (await db.query<RangeVersions>({ text }, values)).rows
}

/** Returns the hash of each row of some ranges, by the JSON of its key. */
export async function hashRows(
  db: Database,
  table: MovedTable,
  owner: string,
  ranges: readonly KeyRange[],
): Promise<ReadonlyMap<string, string>> {
  const values: unknown[] = [owner]
  const texts = ranges.map((range) => {
    const { from } = new RangeQuery(table, owner, range, values)
    return `SELECT ${keyOf(table)} AS key, ${hashOf(table)} AS hash ${from}`
  })
  const text = texts.join(' UNION ALL ')
  const { rows } = await db.query<{ key: string; hash: string }>({ text }, values)
  return new Map(rows.map(({ key, hash }) => [key, hash]))
}

/** Selects the rows with these keys. The values follow those that the statement has. */
function chosen(table: MovedTable, values: unknown[], keys: readonly RowKey[]): string {
  if (table.key.length === 0) return ''
  const list = keys.map((key) => {
    const items = table.key.map(({ type }, at) => `$${values.push(key[at])}::text::${type}`)
    return rowOf(items)
  })
  return `AND ${rowOf(table.key.map(({ name }) => `t.${quoted(name)}`))} IN (${list.join(', ')})`
}

/** Reads rows of a range: all of them, or those with the keys. */
export async function readRows(
  db: Database,
  table: MovedTable,
  owner: string,
  range: KeyRange,
  keys?: readonly RowKey[],
): Promise<readonly TextRow[]> {
  const { from, order, values } = new RangeQuery(table, owner, range)
  const texts = table.columns.map(({ name }) => `t.${quoted(name)}::text`)
  const condition = keys ? chosen(table, values, keys) : ''
  const text = `SELECT ARRAY[${texts.join(', ')}] AS row ${from} ${condition} ${order}`
  return (await db.query<{ row: TextRow }>({ text }, values)).rows.map(({ row }) => row)
}

/** Reads the first rows of a range as JSON objects, without some columns. */
export async function readLines(
  db: Database,
  table: MovedTable,
  owner: string,
  range: KeyRange,
  { limit, leftOut }: { readonly limit: number; readonly leftOut: readonly string[] },
): Promise<readonly { readonly key: string; readonly line: string }[]> {
  const { from, order, values } = new RangeQuery(table, owner, range)
  const columns = table.columns
    .flatMap(({ name }) => (leftOut.includes(name) ? [] : `t.${quoted(name)}`))
    .join(', ')
  const text = `SELECT ${keyOf(table)} AS key, (SELECT row_to_json(o)::text FROM (SELECT ${columns}) AS o) AS line
                ${from} ${order} LIMIT ${limit}`
  return (await db.query<{ key: string; line: string }>({ text }, values)).rows
}

/** Converts lines of an export to rows. */
export async function rowsOfLines(
  db: Database,
  table: MovedTable,
  lines: readonly string[],
): Promise<readonly TextRow[]> {
  const texts = table.columns.map(({ name }) => `r.${quoted(name)}::text`)
  const text = `SELECT ARRAY[${texts.join(', ')}] AS row FROM json_populate_recordset(NULL::${nameOf(table)}, $1::json) AS r`
  return (await db.query<{ row: TextRow }>({ text }, [`[${lines.join(',')}]`])).rows.map(({ row }) => row)
}

/** PostgreSQL binds at most 65,535 values. */
const MAX_VALUES = 60_000

/** Deletes rows by their keys. */
export async function deleteRows(
  db: Database,
  table: MovedTable,
  owner: string,
  keys: readonly RowKey[],
): Promise<void> {
  if (keys.length === 0) return
  const values: unknown[] = [owner]
  const condition = chosen(table, values, keys)
  await db.query({ text: `DELETE FROM ${nameOf(table)} t WHERE ${table.where} ${condition}` }, values)
}

/** Inserts rows, or replaces those with the same keys. Columns of the target's own get their values. */
export async function writeRows(db: Database, table: MovedTable, rows: readonly TextRow[]): Promise<void> {
  const atOnce = Math.max(1, Math.floor(MAX_VALUES / table.columns.length))
  const names = table.columns.map(({ name }) => quoted(name))
  const conflict = table.name === 'tenants' || table.name === 'oauth_clients' ? ['id'] : undefined
  const onConflict = conflict
    ? `ON CONFLICT (${conflict.join(', ')}) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`
    : ''
  for (let at = 0; at < rows.length; at += atOnce) {
    const values: unknown[] = []
    const lines = rows.slice(at, at + atOnce).map((row) => {
      const items = table.columns.map(({ name, type }, column) => {
        const own = table.own[name]
        return own ? own : `$${values.push(row[column])}::text::${type}`
      })
      return `(${items.join(', ')})`
    })
    const text = `INSERT INTO ${nameOf(table)} (${names.join(', ')}) VALUES ${lines.join(', ')} ${onConflict}`
    await db.query({ text }, values)
  }
}

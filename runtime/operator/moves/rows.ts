/** Reads, compares and writes rows of any table, as text. */
import { createHash } from 'node:crypto'
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

const summaryOf = (table: MovedTable, { from, order }: RangeQuery, limit: number | undefined) =>
  `SELECT '${table.name}' AS name, count(*)::integer AS rows, md5(string_agg(c.hash, '' ORDER BY c.place)) AS hash,
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
 * @param cuts the key at which each range ends, except the last range, which has no end. At least one.
 */
export async function readVersions(
  db: Database,
  table: MovedTable,
  owner: string,
  cuts: readonly RowKey[],
): Promise<readonly RangeVersions[]> {
  const values: unknown[] = [owner]
  const own = rowOf(table.key.map((column) => sortable(column)))
  const summary = (condition: string) =>
    `SELECT count(*)::integer AS rows, bit_xor(${VERSION})::text AS versions
       FROM ${nameOf(table)} t WHERE ${table.where} AND ${condition}`
  const edge = (operator: string, cut: RowKey) => {
    const given = table.key.map((column, at) =>
      sortable(column, `$${values.push(cut[at])}::text::${column.type}`),
    )
    return summary(`${own} ${operator} ${rowOf(given)}`)
  }
  const listed = (name: string, keys: readonly RowKey[]) =>
    table.key.map(
      (_, at) => [`${name}_${at}`, `$${values.push(keys.map((key) => key[at]))}::text[]`] as const,
    )
  const [after, upTo] = [listed('after', cuts.slice(0, -1)), listed('up_to', cuts.slice(1))]
  const bound = (names: typeof after) =>
    rowOf(table.key.map((column, at) => sortable(column, `r.${names[at]![0]}::${column.type}`)))
  const lists = [...after, ...upTo]
  // The ranges at both ends have one bound each. No index serves all three kinds of conditions in one.
  const text = `SELECT rows, versions FROM (
      SELECT 0 AS place, e.* FROM (${edge('<=', cuts[0]!)}) AS e
       UNION ALL
      SELECT r.place, m.*
        FROM unnest(${lists.map(([, value]) => value).join(', ')}) WITH ORDINALITY AS r (${lists.map(([name]) => name).join(', ')}, place),
             LATERAL (${summary(`${own} > ${bound(after)} AND ${own} <= ${bound(upTo)}`)}) AS m
       UNION ALL
      SELECT ${cuts.length}, e.* FROM (${edge('>', cuts.at(-1)!)}) AS e) AS ranges
     ORDER BY place`
  return (await db.query<RangeVersions>({ text }, values)).rows
}

/** A row as one database has it. */
export interface HashedRow {
  /** Hash of the columns that source and target must have in common. */
  readonly hash: string
  /** 64-bit hash of its row version. */
  readonly version: string
}

/** Rows in the order of their keys, by the JSON of the key. */
export type HashedRows = ReadonlyMap<string, HashedRow>

const hashedRow = (table: MovedTable) =>
  `${keyOf(table)} AS key, ${hashOf(table)} AS hash, ${VERSION}::text AS version`

/** Counts and hashes rows as `summarize` does. */
export function summaryOfRows(rows: HashedRows): RangeSummary {
  const all = [...rows.values()]
  const last = [...rows.keys()].at(-1)
  const hash = createHash('md5')
  for (const row of all) hash.update(row.hash)
  return {
    rows: all.length,
    hash: all.length === 0 ? null : hash.digest('hex'),
    versions: all.length === 0 ? null : `${all.reduce((sum, { version }) => sum ^ BigInt(version), 0n)}`,
    last: last === undefined ? undefined : JSON.parse(last),
  }
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

type HashRow = HashedRow & { readonly place: number; readonly key: string }

/** Hashes each row of some ranges, in one statement. */
export async function hashRows(
  db: Database,
  table: MovedTable,
  owner: string,
  ranges: readonly KeyRange[],
): Promise<readonly HashedRows[]> {
  const values: unknown[] = [owner]
  const texts = ranges.map((range, at) => {
    const { from, order } = new RangeQuery(table, owner, range, values)
    return `(SELECT ${at} AS place, ${hashedRow(table)} ${from} ${order})`
  })
  const found = ranges.map(() => new Map<string, HashedRow>())
  const { rows } = await db.query<HashRow>({ text: texts.join(' UNION ALL ') }, values)
  for (const { place, key, hash, version } of rows) found[place]!.set(key, { hash, version })
  return found
}

/** Hashes the rows with these keys. */
export async function hashChosen(
  db: Database,
  table: MovedTable,
  owner: string,
  keys: readonly RowKey[],
): Promise<HashedRows> {
  const { from, values } = new RangeQuery(table, owner, {})
  const text = `SELECT ${hashedRow(table)} ${from} ${chosen(table, values, keys)}`
  const { rows } = await db.query<HashRow>({ text }, values)
  return new Map(rows.map(({ key, hash, version }) => [key, { hash, version }]))
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

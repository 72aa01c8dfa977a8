import type { Database, Statement } from './database.ts'
import { toTimestamp } from './types.ts'

/** A position next to a record in a list ordered by (created, id). */
export interface Boundary {
  /** Milliseconds since the epoch. */
  readonly created: number
  readonly id: string
  /** Whether the boundary is before or after the record, in list order. */
  readonly side: 'before' | 'after'
}

/** The requested part of a list. */
export interface RequestedPage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** Start of the page. Absent for the first page. */
  readonly boundary?: Boundary
  /** Whether the page ends at the boundary instead of starting there. */
  readonly backward: boolean
}

/** Bounds of `created`, in milliseconds since the epoch. They may be fractional. */
export interface CreatedRange {
  readonly gte?: number
  readonly gt?: number
  readonly lte?: number
  readonly lt?: number
}

/** Bound values of a statement. The tenant is the first. */
export class BoundValues {
  readonly values: unknown[]

  constructor(tenantId: string) {
    this.values = [tenantId]
  }

  /** Adds a value and returns its placeholder, such as `$3`. */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`
  }
}

/**
 * Part of an index to read in the order of (created, id): the rows of the tenant that share the values of `columns`.
 */
export interface IndexWalk {
  /** Columns of the index between the tenant and (created, id). */
  readonly columns: readonly string[]
  /** Values of `columns`, one entry for each part of the index to read. If empty, nothing is read. */
  readonly keys: readonly (readonly (string | null)[])[]
  /** Additional condition: the predicate of a partial index, or a filter that only few rows fail. */
  readonly where?: string
}

/** Reads all rows of the tenant in primary order. */
export const ALL_ROWS: IndexWalk = { columns: [], keys: [[]] }

/** Table and columns of a list. */
export interface ListSource {
  readonly table: string
  /** Alias of the table in `columns` and in conditions. */
  readonly alias: string
  readonly columns: string
  /** Join that adds exactly one row to each record shown. */
  readonly join?: string
}

/** A half-open range of (created, id), as placeholders of four bound values. */
interface PageSpan {
  readonly from: readonly [created: string, id: string]
  readonly to: readonly [created: string, id: string]
}

/** Returns a text that sorts directly after the identifier. */
const justAfter = (id: string) => `${id} `

/** Sorts after every identifier. */
const LAST = '~'

interface RowPlace {
  readonly created: number
  readonly id: string
}

const compare = (a: RowPlace, b: RowPlace) =>
  a.created - b.created || (a.id < b.id ? -1 : Number(a.id > b.id))

/** Returns the narrowest span that satisfies the range and the boundary of the page. */
function spanOf(bindings: BoundValues, range: CreatedRange, page?: RequestedPage): PageSpan {
  // Stored times are whole milliseconds, so a fractional bound is rounded to the equivalent whole one.
  const from: RowPlace[] = []
  const to: RowPlace[] = []
  if (range.gte !== undefined) from.push({ created: Math.ceil(range.gte), id: '' })
  if (range.gt !== undefined) from.push({ created: Math.floor(range.gt), id: LAST })
  if (range.lte !== undefined) to.push({ created: Math.floor(range.lte), id: LAST })
  if (range.lt !== undefined) to.push({ created: Math.ceil(range.lt), id: '' })
  if (page?.boundary) {
    const { created, id, side } = page.boundary
    const ascending = page.order === 'asc'
    // `side` refers to list order; this converts it to ascending order.
    const place = { created, id: (side === 'after') === ascending ? justAfter(id) : id }
    if (ascending !== page.backward) from.push(place)
    else to.push(place)
  }
  const bind = (place: RowPlace | undefined, otherwise: string) =>
    [
      `${bindings.bind(place ? toTimestamp(place.created) : otherwise)}::timestamptz`,
      bindings.bind(place?.id ?? ''),
    ] as const
  return {
    from: bind(from.toSorted(compare).at(-1), '-infinity'),
    to: bind(to.toSorted(compare)[0], 'infinity'),
  }
}

/**
 * Builds one index scan between two bounds. The values of the index columns are also bounds instead of equalities: only
 * this index returns the rows in this order, so the plan does not depend on statistics or values.
 */
function walkText(table: string, alias: string, walk: IndexWalk, span: PageSpan, bindings: BoundValues) {
  const { columns, keys, where } = walk
  const place = (values: readonly string[], [created, id]: PageSpan['from']) =>
    `(${[...values, created, id].join(', ')})`
  const named = [...columns, 'created', 'id'].map((column) => `${alias}.${column}`)
  const isOne = keys.length === 1
  const values = columns.map((column, index) => (isOne ? bindings.bind(keys[0]![index]) : `walked.${column}`))
  const lists = isOne ? [] : columns.map((_, index) => bindings.bind(keys.map((key) => key[index])))
  const conditions = [
    `${alias}.tenant_id = $1`,
    ...(where === undefined ? [] : [where]),
    `(${named.join(', ')}) >= ${place(values, span.from)}`,
    `(${named.join(', ')}) < ${place(values, span.to)}`,
  ]
  return {
    each: isOne
      ? ''
      : `unnest(${lists.map((list) => `${list}::text[]`).join(', ')}) AS walked (${columns.join(', ')}) CROSS JOIN LATERAL `,
    from: `FROM ${table} ${alias} WHERE ${conditions.join(' AND ')}`,
    order: (direction: string) => `ORDER BY ${named.map((column) => `${column} ${direction}`).join(', ')}`,
  }
}

/**
 * Builds the statement for a page: it starts at the boundary and is ordered by (created, id) in the reading direction.
 * It reads one record more than the page holds, so that `cutPage` knows whether there are more. Each walk returns at
 * most that number of rows, and the page is cut before the join. The cost therefore depends on the page size and the
 * number of walks, not on the number of records.
 */
export function pageStatement(
  { table, alias, columns, join = '' }: ListSource,
  bindings: BoundValues,
  walks: readonly IndexWalk[],
  range: CreatedRange,
  page: RequestedPage,
): Statement {
  const direction = (page.order === 'asc') !== page.backward ? 'ASC' : 'DESC'
  const limit = `LIMIT ${bindings.bind(page.limit + 1)}`
  const span = spanOf(bindings, range, page)
  const parts = walks
    .filter(({ keys }) => keys.length > 0)
    .map((walk) => {
      const { each, from, order } = walkText(table, alias, walk, span, bindings)
      const rows = `(SELECT ${alias}.* ${from} ${order(direction)} ${limit})`
      return each === '' ? rows : `SELECT ${alias}.* FROM ${each}${rows} AS ${alias}`
    })
  const order = `ORDER BY ${alias}.created ${direction}, ${alias}.id ${direction}`
  const merged = `SELECT * FROM (${parts.join('\n UNION ALL ')}) AS ${alias} ${order} ${limit}`
  return shapedStatement(`SELECT ${columns} FROM (${merged}) AS ${alias} ${join} ${order}`)
}

/**
 * Builds a statement that counts the records of the walks. It needs only their indexes unless a walk has a condition on
 * a different column.
 */
export function countStatement(
  { table, alias }: Pick<ListSource, 'table' | 'alias'>,
  bindings: BoundValues,
  walks: readonly IndexWalk[],
  range: CreatedRange,
): Statement {
  const span = spanOf(bindings, range)
  const parts = walks
    .filter(({ keys }) => keys.length > 0)
    .map((walk) => {
      const { each, from } = walkText(table, alias, walk, span, bindings)
      const rows = `(SELECT count(*) AS count ${from})`
      return each === '' ? rows : `SELECT ${alias}.count FROM ${each}${rows} AS ${alias}`
    })
  const counts = parts.join('\n UNION ALL ')
  return shapedStatement(`SELECT coalesce(sum(count), 0)::bigint AS count FROM (${counts}) AS counted`)
}

const names = new Map<string, string>()

/** Maximum number of list statements that are prepared. Further statement shapes are planned on each execution. */
const MAX_NAMES = 320

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MAX_NAMES) return known
  const name = `list_${names.size}`
  names.set(text, name)
  return name
}

/** Returns the statement under a name that statements with the same text share. */
export function shapedStatement(text: string): Statement {
  const name = nameOf(text)
  return name === undefined ? { text } : { name, text }
}

/** Returns every combination of one value from each list. */
export function combine(...lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (combined, list) => combined.flatMap((values) => list.map((value) => [...values, value])),
    [[]],
  )
}

/** One page in list order. */
export interface Records<Row> {
  readonly rows: readonly Row[]
  /** Whether there are more records in the reading direction. */
  readonly hasMore: boolean
}

export function cutPage<Row>(rows: readonly Row[], page: RequestedPage): Records<Row> {
  const fitting = rows.length > page.limit ? rows.slice(0, page.limit) : rows
  return { rows: page.backward ? fitting.toReversed() : fitting, hasMore: rows.length > page.limit }
}

/** Reads one page of the records in the walks. Conditions of the walks may use values already in `bindings`. */
export async function readPage<Row extends object>(
  db: Database,
  listed: ListSource,
  bindings: BoundValues,
  walks: readonly IndexWalk[],
  range: CreatedRange,
  page: RequestedPage,
): Promise<Records<Row>> {
  if (walks.every(({ keys }) => keys.length === 0)) return { rows: [], hasMore: false }
  const statement = pageStatement(listed, bindings, walks, range, page)
  return cutPage((await db.query<Row>(statement, bindings.values)).rows, page)
}

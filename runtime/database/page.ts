import type { Database, Statement } from './database.ts'
import { toTimestamp } from './types.ts'

/** A position between two records of a list ordered by (created, id). */
export interface Boundary {
  /** Milliseconds since the epoch. */
  readonly created: number
  readonly id: string
  /** Whether the boundary stands before or after that record in list order. */
  readonly side: 'before' | 'after'
}

/** Which part of a list to read. */
export interface RequestedPage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** Where to start; absent: at the beginning. */
  readonly boundary?: Boundary
  /** Whether the records just before the boundary are wanted, not those after it. */
  readonly backward: boolean
}

/** Bounds of `created`, in milliseconds since the epoch; a half lies between two of them. */
export interface CreatedRange {
  readonly gte?: number
  readonly gt?: number
  readonly lte?: number
  readonly lt?: number
}

/** The values that a statement binds, the tenant first. */
export class BoundValues {
  readonly values: unknown[]

  constructor(tenantId: string) {
    this.values = [tenantId]
  }

  /** Adds a value and gives its place in the statement: `$3`. */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`
  }
}

/** What one index holds in the order of (created, id): the tenant's rows with the same values in `columns`. */
export interface IndexWalk {
  /** Of the index, between the tenant and (created, id). */
  readonly columns: readonly string[]
  /** The values of the columns, once for each part of the index that is walked; none: nothing is. */
  readonly keys: readonly (readonly (string | null)[])[]
  /** What else has to be true: the condition of a partial index, and what few rows fail. */
  readonly where?: string
}

/** Along the primary order: all of the tenant's rows. */
export const ALL_ROWS: IndexWalk = { columns: [], keys: [[]] }

/** Which records a list shows and how. */
export interface ListSource {
  readonly table: string
  /** Of the table, in `columns` and in the walks' conditions. */
  readonly alias: string
  readonly columns: string
  /** What is looked up for each record that is shown: exactly one row. */
  readonly join?: string
}

/** Half open, in the order of (created, id): places for the four values in the statement. */
interface PageSpan {
  readonly from: readonly [created: string, id: string]
  readonly to: readonly [created: string, id: string]
}

/** Sorts after the identifier and before every other that does. */
const justAfter = (id: string) => `${id} `

/** Sorts after every identifier. */
const LAST = '~'

interface RowPlace {
  readonly created: number
  readonly id: string
}

const compare = (a: RowPlace, b: RowPlace) =>
  a.created - b.created || (a.id < b.id ? -1 : Number(a.id > b.id))

/** The bounds that the range and the page's boundary set, the narrowest of each side. */
function spanOf(bindings: BoundValues, range: CreatedRange, page?: RequestedPage): PageSpan {
  // Stored instants are whole milliseconds, so a bound between two is moved to the one that says the same.
  const from: RowPlace[] = []
  const to: RowPlace[] = []
  if (range.gte !== undefined) from.push({ created: Math.ceil(range.gte), id: '' })
  if (range.gt !== undefined) from.push({ created: Math.floor(range.gt), id: LAST })
  if (range.lte !== undefined) to.push({ created: Math.floor(range.lte), id: LAST })
  if (range.lt !== undefined) to.push({ created: Math.ceil(range.lt), id: '' })
  if (page?.boundary) {
    const { created, id, side } = page.boundary
    const ascending = page.order === 'asc'
    // A boundary stands before or after its record in the list; here it is put into ascending order.
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
 * One walk, from one bound to the other. Values of the index's columns are bounds too, not equalities: rows in this order
 * come from this index alone, so that there is one plan, whatever the statistics and the values say.
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
 * A list's statement: from the boundary, ordered by (created, id) the way the page is read, one record more than fits so
 * that `cutPage` knows whether there are others. Each walk gives no more than that, and the page is cut before anything
 * else is looked up: what is read depends on the page and on the number of walks, not on how many records there are.
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

/** How many records there are in the walks. Reads their indexes alone where the walks' conditions allow it. */
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

/** Shapes of a list that keep a prepared statement; the rest of the many are planned each time. */
const MAX_NAMES = 320

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MAX_NAMES) return known
  const name = `list_${names.size}`
  names.set(text, name)
  return name
}

/** A statement of varying shape, prepared when it is one of the first shapes met. */
function shapedStatement(text: string): Statement {
  const name = nameOf(text)
  return name === undefined ? { text } : { name, text }
}

/** Every combination of one value of each list. */
export function combine(...lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (combined, list) => combined.flatMap((values) => list.map((value) => [...values, value])),
    [[]],
  )
}

/** One page in list order. */
export interface Records<Row> {
  readonly rows: readonly Row[]
  /** Whether there are more in the direction walked. */
  readonly hasMore: boolean
}

export function cutPage<Row>(rows: readonly Row[], page: RequestedPage): Records<Row> {
  const fitting = rows.length > page.limit ? rows.slice(0, page.limit) : rows
  return { rows: page.backward ? fitting.toReversed() : fitting, hasMore: rows.length > page.limit }
}

/** One page of the records in the walks, which may bind values before. */
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

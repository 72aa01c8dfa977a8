import type { Boundary } from '../contract.ts'
import type { Statement } from './database.ts'
import { toTimestamp } from './types.ts'

/** Which part of a list to read. */
export interface Page {
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

/** The conditions of one statement, and the values that they bind. */
export interface Conditions {
  readonly clauses: string[]
  readonly values: unknown[]
}

/** Adds a value and gives its place in the statement: `$3`. */
export function bind(conditions: Conditions, value: unknown): string {
  return `$${conditions.values.push(value)}`
}

/** Stored instants are whole milliseconds, so a bound between two is moved to the one that says the same. */
const RANGE = {
  gte: { operator: '>=', round: Math.ceil },
  gt: { operator: '>', round: Math.floor },
  lte: { operator: '<=', round: Math.floor },
  lt: { operator: '<', round: Math.ceil },
} as const

export function addCreatedRange(conditions: Conditions, column: string, range: CreatedRange): void {
  for (const name of ['gte', 'gt', 'lte', 'lt'] as const) {
    const bound = range[name]
    if (bound === undefined) continue
    const { operator, round } = RANGE[name]
    conditions.clauses.push(`${column} ${operator} ${bind(conditions, toTimestamp(round(bound)))}`)
  }
}

const names = new Map<string, string>()

/** Shapes of a list that keep a prepared statement; the rest of the many are planned each time. */
const MOST_NAMES = 48

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST_NAMES) return known
  const name = `list_${names.size}`
  names.set(text, name)
  return name
}

/** A statement of varying shape, prepared when it is one of the first shapes met. */
export function shapedStatement(text: string): Statement {
  const name = nameOf(text)
  return name === undefined ? { text } : { name, text }
}

/** Which records a list shows and how. */
export interface Listed {
  /** With the alias that the conditions use: `passes p`. */
  readonly table: string
  readonly alias: string
  readonly columns: string
  /** What each record of the page is joined with. */
  readonly join?: string
}

/**
 * A list's statement: from the boundary, ordered by (created, id) the way the page is read, one record more than fits so
 * that `cutPage` knows whether there are others. The page is cut before anything is joined: no plan can begin elsewhere.
 */
export function pageStatement(listed: Listed, conditions: Conditions, page: Page): Statement {
  const { table, alias, columns, join = '' } = listed
  const ascending = (page.order === 'asc') !== page.backward
  if (page.boundary) {
    const { created, id, side } = page.boundary
    const inclusive = (side === 'before') !== page.backward
    const operator = `${ascending ? '>' : '<'}${inclusive ? '=' : ''}`
    const place = `(${bind(conditions, toTimestamp(created))}::timestamptz, ${bind(conditions, id)})`
    conditions.clauses.push(`(${alias}.created, ${alias}.id) ${operator} ${place}`)
  }
  const direction = ascending ? 'ASC' : 'DESC'
  const order = `ORDER BY ${alias}.created ${direction}, ${alias}.id ${direction}`
  const limit = bind(conditions, page.limit + 1)
  return shapedStatement(
    `SELECT ${columns}
       FROM (SELECT * FROM ${table} WHERE ${conditions.clauses.join(' AND ')} ${order} LIMIT ${limit}) AS ${alias} ${join}
     ${order}`,
  )
}

/** One page in list order. */
export interface Records<Row> {
  readonly rows: readonly Row[]
  /** Whether there are more in the direction walked. */
  readonly hasMore: boolean
}

export function cutPage<Row>(rows: readonly Row[], page: Page): Records<Row> {
  const fitting = rows.length > page.limit ? rows.slice(0, page.limit) : rows
  return { rows: page.backward ? fitting.toReversed() : fitting, hasMore: rows.length > page.limit }
}

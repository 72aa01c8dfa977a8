/** Interchange by category of the network, as an operator's file lists it (`SVC_INTERCHANGE_TABLE`). */
import { readFileSync } from 'node:fs'

const ENTRY_METHODS = ['chip', 'contactless', 'swipe', 'keyed_in', 'online'] as const
const REGIONS = ['domestic', 'foreign'] as const

/** A row of the table. It applies to the card uses that match all of its conditions. */
export interface InterchangeRow {
  /** The interchange category. */
  readonly id: string
  /** Merchant category codes (ISO 18245), or ranges such as `3000-3999`. */
  readonly categories?: readonly string[]
  readonly entry_methods?: readonly string[]
  /** `domestic`: the merchant is in the US, where the cards are issued. */
  readonly region?: (typeof REGIONS)[number]
  readonly basis_points: number
  /** Cents for each clearing, beside the basis points. */
  readonly fixed_cents?: number
}

/** A member of a row: what it must be, and how that is checked. */
const MEMBERS: Readonly<Record<keyof InterchangeRow, readonly [string, (value: unknown) => boolean]>> = {
  id: ['1 to 64 letters, digits, ., _ or -', matches(/^[A-Za-z0-9._-]{1,64}$/)],
  categories: ['codes such as "5411", or ranges such as "3000-3999"', listOf(matches(/^\d{4}(-\d{4})?$/))],
  entry_methods: [`of ${ENTRY_METHODS.join(', ')}`, listOf(among(ENTRY_METHODS))],
  region: ['domestic or foreign', among(REGIONS)],
  basis_points: ['a whole number from 0 to 10000', wholeUpTo(10_000)],
  fixed_cents: ['a whole number from 0 to 10000', wholeUpTo(10_000)],
}

function matches(pattern: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && pattern.test(value)
}

function among(known: readonly unknown[]): (value: unknown) => boolean {
  return (value) => known.includes(value)
}

function listOf(isOne: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.length > 0 && value.every(isOne)
}

function wholeUpTo(most: number): (value: unknown) => boolean {
  return (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most
}

function requireRow(row: unknown, place: string): asserts row is InterchangeRow {
  if (typeof row !== 'object' || row === null) throw new Error(`${place} is not an object`)
  for (const name of ['id', 'basis_points'])
    if (!Object.hasOwn(row, name)) throw new Error(`${place} has no ${name}`)
  for (const [name, value] of Object.entries(row)) {
    if (!Object.hasOwn(MEMBERS, name)) throw new Error(`${place} has an unknown member "${name}"`)
    const [expected, isValid] = MEMBERS[name as keyof InterchangeRow]
    if (!isValid(value)) throw new Error(`${name} of ${place} is not ${expected}`)
  }
}

/**
 * Reads the table: a JSON file with a list of rows, or with `{"rows": […]}`. Throws an Error that names the first invalid
 * row.
 */
export function interchangeTable(path: string | undefined): readonly InterchangeRow[] | undefined {
  if (path === undefined) return undefined
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
  const rows: unknown =
    typeof content === 'object' && content !== null && 'rows' in content ? content.rows : content
  if (!Array.isArray(rows) || rows.length === 0) throw new Error(`${path} holds no list of rows`)
  const ids = new Set<string>()
  return rows.map((row: unknown, index) => {
    requireRow(row, `row ${index + 1} of ${path}`)
    if (ids.has(row.id)) throw new Error(`two rows of ${path} have the id "${row.id}"`)
    ids.add(row.id)
    return row
  })
}

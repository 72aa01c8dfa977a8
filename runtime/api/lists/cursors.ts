import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Boundary } from '../../database/page.ts'
import { parseInstant } from '../../platform/instants.ts'
import { invalidParameter } from '../errors/errors.ts'

/** What a cursor is good for: it reads under nothing else. */
export interface CursorScope {
  /** Key of the MAC. */
  readonly key: string
  readonly environment: string
  readonly tenantId: string
  readonly operationId: string
  /** Parameters of the request in the form of the canonical version: the caller's does not matter. */
  readonly query: Readonly<Record<string, unknown>>
  /** Operations whose cursors might have been mistaken for this one's, this one too. */
  readonly lists: readonly string[]
}

const MAC_LENGTH = 16

/** Which part of a list is read, and how much of it, does not bind a cursor. */
const UNBOUND = new Set(['limit', 'starting_after', 'ending_before', 'order'])

/** Cursors that hold a boundary and a MAC over it and over what the request asks for (HMAC-SHA256, 128 bits of it). */
export function bindCursors(scope: CursorScope): Cursors {
  const { operationId, query } = scope
  const mac = macOf(scope, operationId, orderOf(query), canonicalFilters(query))
  return {
    write({ created, id, side }) {
      const place = `${side === 'after' ? 'a' : 'b'}${created.toString(36)}.${id}`
      return Buffer.concat([mac(place), Buffer.from(place)]).toString('base64url')
    },
    read(name, text) {
      const bytes = Buffer.from(text, 'base64url')
      const place = bytes.toString('utf8', MAC_LENGTH)
      const given = bytes.subarray(0, MAC_LENGTH)
      const fits = (expected: Mac) => given.length === MAC_LENGTH && timingSafeEqual(given, expected(place))
      // Buffer's reader skips what is not base64url, so the text is compared too.
      if (bytes.toString('base64url') !== text || !fits(mac)) {
        throw invalidParameter('invalid_cursor', name, `${name} ${describeForeign(scope, fits)}.`)
      }
      return readPlace(place)
    },
  }
}

type Mac = (place: string) => Buffer

type SortOrder = 'asc' | 'desc'

const ORDERS: readonly SortOrder[] = ['desc', 'asc']

const orderOf = (query: CursorScope['query']): SortOrder => (query.order === 'asc' ? 'asc' : 'desc')

function macOf(
  { key, environment, tenantId }: CursorScope,
  operationId: string,
  order: SortOrder,
  filters: unknown[],
): Mac {
  const binding = JSON.stringify([environment, tenantId, operationId, order, filters])
  return (place) =>
    createHmac('sha256', key).update(binding).update('\n').update(place).digest().subarray(0, MAC_LENGTH)
}

/** What the tenant's cursor was made for, where that is another order, no filter, or a whole list of something else. */
function describeForeign(scope: CursorScope, fits: (mac: Mac) => boolean): string {
  const { operationId, query, lists } = scope
  const filters = canonicalFilters(query)
  const order = orderOf(query)
  const other = ORDERS.find((each) => each !== order)!
  if (fits(macOf(scope, operationId, other, filters))) {
    return `was made for order ${other}, and this request asks for ${order}`
  }
  for (const list of lists) {
    if (!ORDERS.some((each) => fits(macOf(scope, list, each, [])))) continue
    return list === operationId ? 'was made for this list without its filters' : `was made by ${list}`
  }
  return 'is no cursor of this list, its filters and its order'
}

function readPlace(place: string): Boundary {
  const dot = place.indexOf('.')
  return {
    side: place.startsWith('a') ? 'after' : 'before',
    created: Number.parseInt(place.slice(1, dot), 36),
    id: place.slice(dot + 1),
  }
}

/** Filters in one spelling: sorted, instants as numbers, sets sorted, and nothing that is the same as its absence. */
function canonicalFilters(query: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(query)
    .filter(([name, value]) => !UNBOUND.has(name) && value !== undefined && value !== false)
    .map(([name, value]) => [name, canonicalValue(name, value)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

function canonicalValue(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.toSorted()
  return name.startsWith('created') && typeof value === 'string' ? (parseInstant(value) ?? value) : value
}

export interface Cursors {
  /** Throws `invalid_cursor` when the text was not made here for this tenant, environment, operation, filters and order. */
  read(name: 'starting_after' | 'ending_before', text: string): Boundary
  write(boundary: Boundary): string
}

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Boundary } from '../../database/page.ts'
import { parseInstant } from '../../platform/instants.ts'
import { invalidParameter } from '../errors/errors.ts'

/** The request values that a cursor is bound to. It is valid only for requests with the same values. */
export interface CursorScope {
  /** Secret of the MAC. */
  readonly key: string
  readonly environment: string
  readonly tenantId: string
  readonly operationId: string
  /** Parameters of the request in canonical form, so that a cursor is valid in every version. */
  readonly query: Readonly<Record<string, unknown>>
  /** Identifiers of all paginated operations, to find out where a wrong cursor comes from. */
  readonly lists: readonly string[]
}

const MAC_LENGTH = 16

/**
 * Parameters that may differ between a cursor and the request, because they only select a part of the list. The order
 * is bound separately.
 */
const UNBOUND = new Set(['limit', 'starting_after', 'ending_before', 'order'])

/**
 * Creates cursors. Each holds a boundary and a MAC over the boundary and the scope (HMAC-SHA256, truncated to 128
 * bits).
 */
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
      // Buffer ignores characters that are not base64url, so compare the text as well.
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

/** Explains a wrong cursor: made for the other order, for the list without filters, or for a different list. */
function describeForeign(scope: CursorScope, fits: (mac: Mac) => boolean): string {
  const { operationId, query, lists } = scope
  const filters = canonicalFilters(query)
  const order = orderOf(query)
  const other = ORDERS.find((each) => each !== order)!
  if (fits(macOf(scope, operationId, other, filters))) {
    return `was made for order ${other}, but this request has order ${order}`
  }
  for (const list of lists) {
    if (!ORDERS.some((each) => fits(macOf(scope, list, each, [])))) continue
    return list === operationId ? 'was made for this list without its filters' : `was made by ${list}`
  }
  return 'is not a cursor of this list with the same filters and order'
}

function readPlace(place: string): Boundary {
  const dot = place.indexOf('.')
  return {
    side: place.startsWith('a') ? 'after' : 'before',
    created: Number.parseInt(place.slice(1, dot), 36),
    id: place.slice(dot + 1),
  }
}

/**
 * Returns the filters in canonical form: sorted, instants as numbers, sets sorted, without values that equal the
 * default.
 */
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
  /**
   * @throws ApiError `invalid_cursor` unless the cursor was made for the same tenant, environment, operation, filters
   * and order.
   */
  read(name: 'starting_after' | 'ending_before', text: string): Boundary
  write(boundary: Boundary): string
}

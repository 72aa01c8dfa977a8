import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Boundary } from '../../platform/database/page.ts'
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
}

const MAC_LENGTH = 16

/** Which part of a list is read, and how much of it, does not bind a cursor. */
const UNBOUND = new Set(['limit', 'starting_after', 'ending_before', 'order'])

/** Cursors that hold a boundary and a MAC over it and over what the request asks for (HMAC-SHA256, 128 bits of it). */
export function bindCursors(scope: CursorScope): Cursors {
  const { environment, tenantId, operationId, query } = scope
  const binding = JSON.stringify([
    environment,
    tenantId,
    operationId,
    query.order ?? 'desc',
    canonicalFilters(query),
  ])
  const mac = (place: string): Buffer =>
    createHmac('sha256', scope.key)
      .update(binding)
      .update('\n')
      .update(place)
      .digest()
      .subarray(0, MAC_LENGTH)
  return {
    write({ created, id, side }) {
      const place = `${side === 'after' ? 'a' : 'b'}${created.toString(36)}.${id}`
      return Buffer.concat([mac(place), Buffer.from(place)]).toString('base64url')
    },
    read(name, text) {
      const bytes = Buffer.from(text, 'base64url')
      const place = bytes.toString('utf8', MAC_LENGTH)
      const given = bytes.subarray(0, MAC_LENGTH)
      // Buffer's reader skips what is not base64url, so the text is compared too.
      if (
        bytes.toString('base64url') !== text ||
        given.length < MAC_LENGTH ||
        !timingSafeEqual(given, mac(place))
      ) {
        const message = `${name} is no cursor of this list, its filters and its order.`
        throw invalidParameter('invalid_cursor', name, message)
      }
      return readPlace(place)
    },
  }
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

/** Compares responses, and what requests and responses have in common: media types, statuses, headers. */

import type { ApiBody, ApiContent, ApiOperation, ApiParameter, Response } from '../ir/model.ts'
import {
  type ComparisonPosition,
  type DocumentPair,
  found,
  places,
  positionAt,
  REQUEST,
  RESPONSE,
  subjectOf,
} from './position.ts'
import { compareSchemas } from './schemas.ts'
import { compareEncodings, compareSerialization } from './serialization.ts'

const mediaTypeOf = ({ mediaType }: ApiContent): string => mediaType.split(';')[0]!.trim().toLowerCase()

type Contents = Pick<ApiBody, 'contents' | 'place'>

/** Compares two lists of media types. Losing a media type breaks those who send or read it. */
export function compareContents(position: ComparisonPosition, a: Contents, b: Contents): void {
  const from = new Set<ApiContent>()
  for (const old of a.contents) {
    const all = describedIn(old, b.contents)
    for (const next of all) {
      from.add(next)
      compareEncodings(position, old, next)
      compareSchemas(position, old.schema, next.schema)
    }
    const lines = { old: old.place, new: all[0]?.place ?? b.place }
    // A client that reads a media range can also read a narrower one, but it can no longer send every type in the
    // range.
    const breaks = all.length === 0 ? position.mask : position.mask & REQUEST
    if (!all.some((next) => covers(next, old)))
      found(position, 'content-type-removed', breaks, `${old.mediaType} was removed`, lines)
  }
  for (const next of b.contents) {
    if (from.has(next) && a.contents.some((old) => covers(old, next))) continue
    found(position, 'content-type-added', 0, `${next.mediaType} was added`, { old: a.place, new: next.place })
  }
}

/** Returns what describes a media type now: the same type, a range that contains it, or the types in its range. */
function describedIn(old: ApiContent, all: readonly ApiContent[]): ApiContent[] {
  const same = all.find((each) => mediaTypeOf(each) === mediaTypeOf(old))
  const range = same ?? closest(all.filter((each) => covers(each, old)))
  return range ? [range] : all.filter((each) => covers(old, each))
}

// A narrow range such as `text/*` comes before `*/*`.
const closest = (all: readonly ApiContent[]): ApiContent | undefined =>
  all.toSorted((a, b) => mediaTypeOf(b).length - mediaTypeOf(a).length)[0]

function covers(wide: ApiContent, narrow: ApiContent): boolean {
  const [range, type] = [mediaTypeOf(wide), mediaTypeOf(narrow)]
  return range === type || range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
}

export function compareResponses(pair: DocumentPair, a: ApiOperation, b: ApiOperation): void {
  const positionOf = (status: string) =>
    positionAt(pair, RESPONSE, (path) => ({ kind: 'response', operation: b.id, status, path }))
  for (const old of a.responses) {
    const next = responseFor(b, old.status)
    if (next) compareResponse(pair, b, old.status, old, next)
    else if (!b.responses.some(({ status }) => isWithin(status, old.status))) {
      // Callers expect a success; removing an error breaks nothing.
      const breaks = isError(old.status) ? 0 : RESPONSE
      const said = `${old.status} is no longer returned`
      found(positionOf(old.status), 'status-removed', breaks, said, { old: old.place, new: b.place })
    }
  }
  for (const next of b.responses) {
    const old = responseFor(a, next.status)
    if (old) {
      // A status that a range or `default` described is now described separately.
      if (!sameStatus(old, next)) compareResponse(pair, b, next.status, old, next)
      continue
    }
    const breaks = isError(next.status) ? 0 : RESPONSE
    const said = `${next.status} may now be returned`
    found(positionOf(next.status), 'status-added', breaks, said, { old: a.place, new: next.place })
  }
}

const sameStatus = (a: Response, b: Response): boolean => a.status.toUpperCase() === b.status.toUpperCase()

/** Returns whether a status is in a range, as `404` is in `4XX`. */
const isWithin = (status: string, range: string): boolean =>
  /^[1-5]XX$/i.test(range) && status.startsWith(range.charAt(0))

const isError = (status: string): boolean => /^[45]|^default$/.test(status)

/**
 * Returns the response that describes a status: the status itself, its range, or `default`, which covers successes
 * only if no success is described.
 */
export function responseFor({ responses }: ApiOperation, status: string): Response | undefined {
  const named = (name: string) => responses.find((each) => each.status.toUpperCase() === name.toUpperCase())
  const byDefault = isError(status) || responses.every((each) => isError(each.status))
  return named(status) ?? named(`${status.charAt(0)}XX`) ?? (byDefault ? named('default') : undefined)
}

function compareResponse(
  pair: DocumentPair,
  operation: ApiOperation,
  status: string,
  a: Response,
  b: Response,
): void {
  const at = { operation: operation.id, status }
  const position = positionAt(pair, RESPONSE, (path) => ({ kind: 'response', ...at, path }))
  compareContents(position, a, b)
  const positionOf = ({ name }: ApiParameter) =>
    positionAt(pair, RESPONSE, (path) => ({ kind: 'response-header', ...at, name, path }))
  compareHeaders(pair, a, b, positionOf)
}

/** Compares the headers of a response or an event. */
export function compareHeaders(
  pair: DocumentPair,
  a: Pick<Response, 'headers' | 'place'>,
  b: Pick<Response, 'headers' | 'place'>,
  positionOf: (header: ApiParameter) => ComparisonPosition,
): void {
  const left = new Map(b.headers.map((each) => [each.name.toLowerCase(), each]))
  for (const old of a.headers) {
    const next = left.get(old.name.toLowerCase())
    left.delete(old.name.toLowerCase())
    if (next) {
      const position = positionOf(next)
      if (!old.required && next.required)
        found(position, 'header-required', 0, 'is now always present', places(old, next))
      if (old.required && !next.required)
        found(position, 'header-optional', RESPONSE, 'may now be absent', places(old, next))
      compareSerialization(position, old, next, RESPONSE)
      compareSchemas(position, old.schema, next.schema)
    } else {
      const subject = subjectOf('old', pair.old, old)
      const lines = { old: old.place, new: b.place }
      found(positionOf(old), 'header-removed', RESPONSE, `the header ${old.name} was removed`, lines, {
        subject,
      })
    }
  }
  for (const next of left.values()) {
    const subject = subjectOf('new', pair.next, next)
    const lines = { old: a.place, new: next.place }
    found(positionOf(next), 'header-added', 0, `the header ${next.name} was added`, lines, { subject })
  }
}

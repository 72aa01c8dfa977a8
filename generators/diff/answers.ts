/** What comes back, and what travels either way: media types, statuses, headers. */

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

/** Adds what differs between two lists of media types: one that is lost breaks whoever sends or reads it. */
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
    // A reader of the whole range reads part of it too; but a caller may no longer send all of it.
    const breaks = all.length === 0 ? position.mask : position.mask & REQUEST
    if (!all.some((next) => covers(next, old)))
      found(position, 'content-type-removed', breaks, `${old.mediaType} is gone`, lines)
  }
  for (const next of b.contents) {
    if (from.has(next) && a.contents.some((old) => covers(old, next))) continue
    found(position, 'content-type-added', 0, `${next.mediaType} is new`, { old: a.place, new: next.place })
  }
}

/** What describes a media type now: itself, a range that it is in, or those that are in its range. */
function describedIn(old: ApiContent, all: readonly ApiContent[]): ApiContent[] {
  const same = all.find((each) => mediaTypeOf(each) === mediaTypeOf(old))
  const range = same ?? closest(all.filter((each) => covers(each, old)))
  return range ? [range] : all.filter((each) => covers(old, each))
}

/** The narrower range before the one of everything. */
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
      // Callers wait for a success; an error that no longer happens breaks no one.
      const breaks = isError(old.status) ? 0 : RESPONSE
      const said = `${old.status} is never answered now`
      found(positionOf(old.status), 'status-removed', breaks, said, { old: old.place, new: b.place })
    }
  }
  for (const next of b.responses) {
    const old = responseFor(a, next.status)
    if (old) {
      // What a range or the default described is described by itself now.
      if (!sameStatus(old, next)) compareResponse(pair, b, next.status, old, next)
      continue
    }
    const breaks = isError(next.status) ? 0 : RESPONSE
    const said = `${next.status} may be answered now`
    found(positionOf(next.status), 'status-added', breaks, said, { old: a.place, new: next.place })
  }
}

const sameStatus = (a: Response, b: Response): boolean => a.status.toUpperCase() === b.status.toUpperCase()

/** `404` within `4XX`. */
const isWithin = (status: string, range: string): boolean =>
  /^[1-5]XX$/i.test(range) && status.startsWith(range.charAt(0))

const isError = (status: string): boolean => /^[45]|^default$/.test(status)

/** The response that describes a status: its own, that of its range, or the default where no success is described. */
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

/** Headers that readers get: with a response or an event. */
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
        found(position, 'header-required', 0, 'always comes now', places(old, next))
      if (old.required && !next.required)
        found(position, 'header-optional', RESPONSE, 'may be absent now', places(old, next))
      compareSerialization(position, old, next, RESPONSE)
      compareSchemas(position, old.schema, next.schema)
    } else {
      const subject = subjectOf('old', pair.old, old)
      const lines = { old: old.place, new: b.place }
      found(positionOf(old), 'header-removed', RESPONSE, `the header ${old.name} is gone`, lines, { subject })
    }
  }
  for (const next of left.values()) {
    const subject = subjectOf('new', pair.next, next)
    const lines = { old: a.place, new: next.place }
    found(positionOf(next), 'header-added', 0, `the header ${next.name} is new`, lines, { subject })
  }
}

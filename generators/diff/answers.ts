/** What comes back, and what travels either way: media types, statuses, headers. */

import type { Body, Content, Operation, Parameter, Response } from '../ir/model.ts'
import { compareSchemas } from './schemas.ts'
import { compareEncodings, compareSerialization } from './serialization.ts'
import { type Desk, found, places, REQUEST, RESPONSE, type Spot, spotAt, subjectOf } from './sheet.ts'

const mediaTypeOf = ({ mediaType }: Content): string => mediaType.split(';')[0]!.trim().toLowerCase()

type Contents = Pick<Body, 'contents' | 'place'>

/** Adds what differs between two lists of media types: one that is lost breaks whoever sends or reads it. */
export function compareContents(spot: Spot, a: Contents, b: Contents): void {
  const from = new Set<Content>()
  for (const old of a.contents) {
    const all = spokenFor(old, b.contents)
    for (const next of all) {
      from.add(next)
      compareEncodings(spot, old, next)
      compareSchemas(spot, old.schema, next.schema)
    }
    const lines = { old: old.place, new: all[0]?.place ?? b.place }
    // Fewer types than a range are answered: whoever reads them all reads those. But no longer may all be sent.
    const breaks = all.length === 0 ? spot.mask : spot.mask & REQUEST
    if (!all.some((next) => covers(next, old)))
      found(spot, 'content-type-removed', breaks, `${old.mediaType} is gone`, lines)
  }
  for (const next of b.contents) {
    if (from.has(next) && a.contents.some((old) => covers(old, next))) continue
    found(spot, 'content-type-added', 0, `${next.mediaType} is new`, { old: a.place, new: next.place })
  }
}

/** What stands for a media type now: itself, a range that it is in, or those that are in its range. */
function spokenFor(old: Content, all: readonly Content[]): Content[] {
  const same = all.find((each) => mediaTypeOf(each) === mediaTypeOf(old))
  const range = same ?? closest(all.filter((each) => covers(each, old)))
  return range ? [range] : all.filter((each) => covers(old, each))
}

/** The narrower range before the one of everything. */
const closest = (all: readonly Content[]): Content | undefined =>
  all.toSorted((a, b) => mediaTypeOf(b).length - mediaTypeOf(a).length)[0]

function covers(wide: Content, narrow: Content): boolean {
  const [range, type] = [mediaTypeOf(wide), mediaTypeOf(narrow)]
  return range === type || range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
}

export function compareResponses(desk: Desk, a: Operation, b: Operation): void {
  const spotOf = (status: string) =>
    spotAt(desk, RESPONSE, (path) => ({ kind: 'response', operation: b.id, status, path }))
  for (const old of a.responses) {
    const next = responseFor(b, old.status)
    if (next) compareResponse(desk, b, old.status, old, next)
    else if (!b.responses.some(({ status }) => isWithin(status, old.status))) {
      // Callers wait for a success; an error that no longer happens hurts nobody.
      const breaks = isError(old.status) ? 0 : RESPONSE
      const said = `${old.status} is never answered now`
      found(spotOf(old.status), 'status-removed', breaks, said, { old: old.place, new: b.place })
    }
  }
  for (const next of b.responses) {
    const old = responseFor(a, next.status)
    if (old) {
      // What a range or the default spoke for has words of its own now.
      if (!sameStatus(old, next)) compareResponse(desk, b, next.status, old, next)
      continue
    }
    const breaks = isError(next.status) ? 0 : RESPONSE
    const said = `${next.status} may be answered now`
    found(spotOf(next.status), 'status-added', breaks, said, { old: a.place, new: next.place })
  }
}

const sameStatus = (a: Response, b: Response): boolean => a.status.toUpperCase() === b.status.toUpperCase()

/** `404` within `4XX`. */
const isWithin = (status: string, range: string): boolean =>
  /^[1-5]XX$/i.test(range) && status.startsWith(range.charAt(0))

const isError = (status: string): boolean => /^[45]|^default$/.test(status)

/** The response that speaks for a status: itself, its range, or the default where no success has its own words. */
export function responseFor({ responses }: Operation, status: string): Response | undefined {
  const named = (name: string) => responses.find((each) => each.status.toUpperCase() === name.toUpperCase())
  const byDefault = isError(status) || responses.every((each) => isError(each.status))
  return named(status) ?? named(`${status.charAt(0)}XX`) ?? (byDefault ? named('default') : undefined)
}

function compareResponse(desk: Desk, operation: Operation, status: string, a: Response, b: Response): void {
  const at = { operation: operation.id, status }
  const spot = spotAt(desk, RESPONSE, (path) => ({ kind: 'response', ...at, path }))
  compareContents(spot, a, b)
  const spotOf = ({ name }: Parameter) =>
    spotAt(desk, RESPONSE, (path) => ({ kind: 'response-header', ...at, name, path }))
  compareHeaders(desk, a, b, spotOf)
}

/** Headers that readers get: with a response or an event. */
export function compareHeaders(
  desk: Desk,
  a: Pick<Response, 'headers' | 'place'>,
  b: Pick<Response, 'headers' | 'place'>,
  spotOf: (header: Parameter) => Spot,
): void {
  const left = new Map(b.headers.map((each) => [each.name.toLowerCase(), each]))
  for (const old of a.headers) {
    const next = left.get(old.name.toLowerCase())
    left.delete(old.name.toLowerCase())
    if (next) {
      const spot = spotOf(next)
      if (!old.required && next.required)
        found(spot, 'header-required', 0, 'always comes now', places(old, next))
      if (old.required && !next.required)
        found(spot, 'header-optional', RESPONSE, 'may be absent now', places(old, next))
      compareSerialization(spot, old, next, RESPONSE)
      compareSchemas(spot, old.schema, next.schema)
    } else {
      const subject = subjectOf('old', desk.old, old)
      const lines = { old: old.place, new: b.place }
      found(spotOf(old), 'header-removed', RESPONSE, `the header ${old.name} is gone`, lines, { subject })
    }
  }
  for (const next of left.values()) {
    const subject = subjectOf('new', desk.next, next)
    const lines = { old: a.place, new: next.place }
    found(spotOf(next), 'header-added', 0, `the header ${next.name} is new`, lines, { subject })
  }
}

/**
 * Aligns the old document with the new one: applies the renames that lenses declare for operations, parameters and
 * statuses, so that everything else is compared and translated under the same name.
 */

import type { Api, ApiOperation, ApiParameter, Response } from '../ir/model.ts'
import type { Lens, ParameterLens, RenamedEvent, RenamedParameter, Served, Status } from './change.ts'

/** Lenses that rename an operation, a parameter, a status or an event type. */
export type Naming = Served | RenamedParameter | Status | RenamedEvent

/** Returns whether a lens only renames: its differences disappear once both documents are aligned. */
export const isNaming = (lens: Lens): lens is Naming =>
  lens.kind === 'served' ||
  lens.kind === 'renamed-parameter' ||
  lens.kind === 'status' ||
  lens.kind === 'renamed-event'

/** Returns whether a lens applies to an operation. A lens that lists no operations applies to all of them. */
export const holdsIn = (operations: readonly string[], operation: string): boolean =>
  operations.length === 0 || operations.includes(operation)

/** Compares parameter names; header names are case-insensitive. */
export const sameName = (where: ApiParameter['in'], a: string, b: string): boolean =>
  where === 'header' ? a.toLowerCase() === b.toLowerCase() : a === b

/**
 * Returns whether a lens applies to a parameter.
 *
 * @param operation the operation's id in the new version.
 */
export function isAbout(
  lens: ParameterLens,
  operation: string,
  where: ApiParameter['in'],
  name: string,
): boolean {
  const own = lens.kind === 'renamed-parameter' ? lens.from : lens.name
  return lens.in === where && holdsIn(lens.operations, operation) && sameName(where, own, name)
}

/**
 * Returns the old API under the names of the new one.
 *
 * @param lenses the lenses between the two versions.
 */
export function alignApi(old: Api, lenses: readonly Lens[]): Api {
  const naming = lenses.filter(isNaming)
  if (naming.length === 0) return old
  return {
    ...old,
    operations: old.operations.map((operation) => alignOperation(operation, naming)),
    // A type that was split may also keep its name.
    events: old.events.flatMap((event) => [
      event,
      ...naming.flatMap((lens) =>
        lens.kind === 'renamed-event' && lens.from === event.name ? [{ ...event, name: lens.to }] : [],
      ),
    ]),
  }
}

function alignOperation(operation: ApiOperation, naming: readonly Naming[]): ApiOperation {
  const id = newIdOf(operation.id, naming)
  const parameters = operation.parameters.map((parameter): ApiParameter => {
    const to = newNameOf(parameter, id, naming)
    return to === undefined ? parameter : { ...parameter, name: to }
  })
  const responses = operation.responses.map((response): Response => {
    const to = newStatusOf(operation, response.status, id, naming)
    return to === undefined ? response : { ...response, status: to }
  })
  return { ...operation, id, parameters, responses }
}

/** Returns the id under which the new version serves an operation of the old one. */
export const newIdOf = (id: string, lenses: readonly Lens[]): string =>
  lenses.find((lens): lens is Served => lens.kind === 'served' && lens.from === id)?.by ?? id

/**
 * Returns the new name of a parameter, or undefined if no lens renames it.
 *
 * @param operation the operation's id in the new version.
 */
export const newNameOf = (
  parameter: ApiParameter,
  operation: string,
  lenses: readonly Lens[],
): string | undefined =>
  lenses.find(
    (lens): lens is RenamedParameter =>
      lens.kind === 'renamed-parameter' && isAbout(lens, operation, parameter.in, parameter.name),
  )?.to

function newStatusOf(
  { responses }: ApiOperation,
  status: string,
  id: string,
  naming: readonly Naming[],
): string | undefined {
  const lens = naming.find(
    (each): each is Status => each.kind === 'status' && each.from === status && holdsIn(each.operations, id),
  )
  return lens && !responses.some((each) => each.status === lens.to) ? lens.to : undefined
}

const placeholders = (path: string): string[] => [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]!)

/** Returns a path without the names of its placeholders. */
export const shapeOfPath = (path: string): string => path.replace(/\{[^}]+\}/g, '{}')

/**
 * Matches the placeholders of one path by position, because their names are not on the wire.
 *
 * @returns new names by old names; empty if the paths differ in more than these names.
 */
export function renamedPlaceholders(old: string, next: string): Map<string, string> {
  if (shapeOfPath(old) !== shapeOfPath(next)) return new Map()
  const names = placeholders(next)
  return new Map(placeholders(old).map((name, index) => [name, names[index] ?? name]))
}

/** Returns the old names of the new version's event types, for those that differ. */
export const eventNamesOf = (next: Api, lenses: readonly Lens[]): Map<string, string> =>
  new Map(
    lenses.flatMap((lens) =>
      lens.kind === 'renamed-event' && next.events.some(({ name }) => name === lens.to)
        ? [[lens.to, lens.from] as const]
        : [],
    ),
  )

/** Returns the operations of the next version, by their ids in the old version. */
export function counterpartsOf(old: Api, next: Api, lenses: readonly Lens[]): Map<string, ApiOperation> {
  const later = new Map(next.operations.map((operation) => [operation.id, operation]))
  return new Map(
    old.operations.flatMap(({ id }) => {
      const counterpart = later.get(newIdOf(id, lenses))
      return counterpart ? [[id, counterpart] as const] : []
    }),
  )
}

/** Returns the old names of an operation's parameters by their new names, for those that differ. */
export function renamesOf(
  old: ApiOperation,
  next: ApiOperation,
  lenses: readonly Lens[],
): Map<string, string> {
  const placed = renamedPlaceholders(old.path, next.path)
  return new Map(
    old.parameters.flatMap((parameter) => {
      const byPlace = parameter.in === 'path' ? placed.get(parameter.name) : undefined
      const to = newNameOf(parameter, next.id, lenses) ?? byPlace
      return to === undefined || to === parameter.name ? [] : [[to, parameter.name] as const]
    }),
  )
}

/**
 * Returns the status that the next version uses in place of an old status.
 *
 * @param names old statuses by new ones.
 */
export const nextStatus = (names: ReadonlyMap<string, string> | undefined, status: string): string =>
  [...(names ?? [])].find(([, old]) => old === status)?.[0] ?? status

/** Returns, by operation id, the old statuses by their new ones, for those that differ. */
export function statusesOf(
  old: Api,
  counterparts: ReadonlyMap<string, ApiOperation>,
  lenses: readonly Lens[],
): Map<string, ReadonlyMap<string, string>> {
  const isOne = (status: string) => /^\d{3}$/.test(status)
  const statuses = lenses.filter(
    (lens): lens is Status => lens.kind === 'status' && isOne(lens.from) && isOne(lens.to),
  )
  return new Map(
    old.operations.flatMap(({ id, responses }) => {
      const next = counterparts.get(id)
      const own = statuses.filter(
        (lens) =>
          next && holdsIn(lens.operations, next.id) && responses.some(({ status }) => status === lens.from),
      )
      return own.length > 0 ? [[id, new Map(own.map(({ from, to }) => [to, from]))] as const] : []
    }),
  )
}

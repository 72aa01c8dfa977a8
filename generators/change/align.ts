/**
 * Aligns the old document with the new one: applies the renames that lenses declare for operations, parameters and
 * statuses, so that everything else is compared and translated under the same name.
 */

import type { Api, ApiOperation, ApiParameter, Response } from '../ir/model.ts'
import type { Lens, ParameterLens, RenamedParameter, Served, Status } from './change.ts'

/** Lenses that rename an operation, a parameter or a status. */
export type Naming = Served | RenamedParameter | Status

/** Returns whether a lens only renames: its differences disappear once both documents are aligned. */
export const isNaming = (lens: Lens): lens is Naming =>
  lens.kind === 'served' || lens.kind === 'renamed-parameter' || lens.kind === 'status'

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
  return { ...old, operations: old.operations.map((operation) => alignOperation(operation, naming)) }
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

/** Returns the ids that `served` lenses name. */
export const servedIds = (lenses: readonly Lens[]): ReadonlySet<string> =>
  new Set(lenses.flatMap((lens) => (lens.kind === 'served' ? [lens.by] : [])))

const routeOf = ({ method, path }: ApiOperation): string => `${method} ${shapeOfPath(path)}`

/**
 * Matches the operations of two documents. A route of both documents is the same operation, because ids may be
 * renumbered; ids match the operations whose route changed.
 *
 * @param old aligned with the new document.
 * @param served ids that lenses give to old operations, which are matched by them.
 * @returns old operations by new ones.
 */
export function pairOperations(
  old: Api,
  next: Api,
  served: ReadonlySet<string> = new Set(),
): Map<ApiOperation, ApiOperation> {
  const pairs = new Map<ApiOperation, ApiOperation>()
  const left = new Set(old.operations)
  const pairBy = (keyOf: (operation: ApiOperation) => string | undefined) => {
    const known = new Map([...left].reverse().map((each) => [keyOf(each), each]))
    for (const operation of next.operations) {
      const key = keyOf(operation)
      const same = key === undefined || pairs.has(operation) ? undefined : known.get(key)
      if (!same || !left.delete(same)) continue
      pairs.set(operation, same)
    }
  }
  pairBy(({ id }) => (served.has(id) ? id : undefined))
  pairBy(({ method, path }) => `${method} ${path}`)
  pairBy((operation) => `${routeOf(operation)} ${operation.id}`)
  pairBy(routeOf)
  pairBy(({ id }) => id)
  return pairs
}

/**
 * Returns the operations of the next version, by their ids in the old version. An id that no longer exists has none,
 * because its operation keeps its own handler.
 */
export function counterpartsOf(old: Api, next: Api, lenses: readonly Lens[]): Map<string, ApiOperation> {
  const aligned = alignApi(old, lenses)
  const ids = new Map(aligned.operations.map((operation, index) => [operation, old.operations[index]!.id]))
  const kept = new Set(next.operations.map(({ id }) => id))
  return new Map(
    [...pairOperations(aligned, next, servedIds(lenses))].flatMap(([counterpart, operation]) =>
      kept.has(operation.id) ? [[ids.get(operation)!, counterpart] as const] : [],
    ),
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

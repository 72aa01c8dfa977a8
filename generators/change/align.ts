/**
 * The old document in the names of the new one: what lenses rename of operations, parameters and statuses stands beside
 * its counterpart, so that whatever else differs there is compared and translated as anywhere.
 */

import type { Api, ApiOperation, ApiParameter, Response } from '../ir/model.ts'
import type { Lens, ParameterLens, RenamedParameter, Served, Status } from './change.ts'

/** Lenses that say under which other name something is to be found. */
export type Naming = Served | RenamedParameter | Status

/** Whether a lens says no more than a name: it accounts for a pair of differences that is none once both are aligned. */
export const isNaming = (lens: Lens): lens is Naming =>
  lens.kind === 'served' || lens.kind === 'renamed-parameter' || lens.kind === 'status'

/** Whether a lens that names operations holds in one; one that names none holds in all. */
export const holdsIn = (operations: readonly string[], operation: string): boolean =>
  operations.length === 0 || operations.includes(operation)

/** Headers have no case. */
export const sameName = (where: ApiParameter['in'], a: string, b: string): boolean =>
  where === 'header' ? a.toLowerCase() === b.toLowerCase() : a === b

/** @param operation its id in the new version. */
export function isAbout(
  lens: ParameterLens,
  operation: string,
  where: ApiParameter['in'],
  name: string,
): boolean {
  const own = lens.kind === 'renamed-parameter' ? lens.from : lens.name
  return lens.in === where && holdsIn(lens.operations, operation) && sameName(where, own, name)
}

/** @param lenses those between the version and the next. @returns the same API where none renames anything. */
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

/** @returns the id under which the new version serves an operation of the old one. */
export const newIdOf = (id: string, lenses: readonly Lens[]): string =>
  lenses.find((lens): lens is Served => lens.kind === 'served' && lens.from === id)?.by ?? id

/** @param operation its id in the new version. */
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

/** A path but for the names in it. */
export const shapeOfPath = (path: string): string => path.replace(/\{[^}]+\}/g, '{}')

/**
 * Placeholders of one path stand for each other by position: their names are not on the wire.
 *
 * @returns new names by old ones; empty where the paths are not the same.
 */
export function renamedPlaceholders(old: string, next: string): Map<string, string> {
  if (shapeOfPath(old) !== shapeOfPath(next)) return new Map()
  const names = placeholders(next)
  return new Map(placeholders(old).map((name, index) => [name, names[index] ?? name]))
}

/** @returns the operations of the next version by the ids that they have in the old one. */
export function counterpartsOf(old: Api, next: Api, lenses: readonly Lens[]): Map<string, ApiOperation> {
  const later = new Map(next.operations.map((operation) => [operation.id, operation]))
  return new Map(
    old.operations.flatMap(({ id }) => {
      const counterpart = later.get(newIdOf(id, lenses))
      return counterpart ? [[id, counterpart] as const] : []
    }),
  )
}

/** @returns old names of an operation's parameters by new ones, where they differ. */
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

/** @param names old statuses by new ones. @returns what the next version answers with in the place of a status. */
export const nextStatus = (names: ReadonlyMap<string, string> | undefined, status: string): string =>
  [...(names ?? [])].find(([, old]) => old === status)?.[0] ?? status

/** @returns by operation id, old statuses by new ones, where they differ. */
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

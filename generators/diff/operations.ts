/** Operations beside operations: what a caller sends, what comes back, and who may call. */

import { renamedPlaceholders, shapeOfPath } from '../change/align.ts'
import type { Api, Operation, Parameter } from '../ir/model.ts'
import { compareContents, compareResponses } from './answers.ts'
import { compareCallbacks } from './events.ts'
import type { Root } from './pairs.ts'
import { compareRequirements, compareSecurity } from './requirements.ts'
import { compareSchemas } from './schemas.ts'
import { compareSerialization } from './serialization.ts'
import { type Desk, emptySheet, found, places, REQUEST, type Spot, spotAt, subjectOf } from './sheet.ts'

/** @returns one root for each operation of either document. */
export function compareOperations(old: Api, next: Api): Root[] {
  const before = pairOperations(old, next)
  const roots = next.operations.map((operation) => {
    const desk = { old, next, sheet: emptySheet() }
    const counterpart = before.get(operation)
    if (counterpart) compareOperation(desk, counterpart, operation)
    else lonely(desk, operation, 'new')
    return { use: operation.id, sheet: desk.sheet }
  })
  const kept = new Set(before.values())
  for (const operation of old.operations) {
    if (kept.has(operation)) continue
    const desk = { old, next, sheet: emptySheet() }
    lonely(desk, operation, 'old')
    roots.push({ use: operation.id, sheet: desk.sheet })
  }
  return roots
}

/** An operation is known by its id; by its method and path where that is gone, or where two have swapped ids. */
function pairOperations(old: Api, next: Api): Map<Operation, Operation> {
  const byId = new Map(old.operations.map((each) => [each.id, each]))
  const byRoute = new Map(old.operations.map((each) => [routeOf(each), each]))
  const newIds = new Set(next.operations.map((each) => each.id))
  const newRoutes = new Set(next.operations.map(routeOf))
  const pairs = new Map<Operation, Operation>()
  for (const operation of next.operations) {
    const same = byId.get(operation.id)
    const there = byRoute.get(routeOf(operation))
    const swapped = there && same && there !== same && newRoutes.has(routeOf(same)) && newIds.has(there.id)
    if (swapped) pairs.set(operation, there)
    else if (same) pairs.set(operation, same)
    else if (there && !newIds.has(there.id)) pairs.set(operation, there)
  }
  return pairs
}

const routeOf = ({ method, path }: Operation): string => `${method} ${shapeOfPath(path)}`

function lonely(desk: Desk, operation: Operation, side: 'old' | 'new'): void {
  const spot = operationSpot(desk, operation)
  const api = side === 'old' ? desk.old : desk.next
  const { id: name, summary: description } = operation
  const shape = `${operation.method} ${operation.responses.map((each) => each.status).join()}`
  const subject = { name, side, shape, examples: [], ...(description !== undefined && { description }) }
  const [line, rest] = [operation.place, api === desk.old ? desk.next.place : desk.old.place]
  const said = `${operation.method} ${operation.path}`
  if (side === 'new')
    found(spot, 'operation-added', 0, `${said} is new`, { old: rest, new: line }, { subject })
  else found(spot, 'operation-removed', REQUEST, `${said} is gone`, { old: line, new: rest }, { subject })
}

const operationSpot = (desk: Desk, { id }: Operation, mask: number = REQUEST): Spot =>
  spotAt(desk, mask, () => ({ kind: 'operation', operation: id }))

function compareOperation(desk: Desk, a: Operation, b: Operation): void {
  const spot = operationSpot(desk, b)
  if (a.id !== b.id) found(spot, 'operation-renamed', 0, `was ${a.id}`, places(a, b))
  // Every version has routes of its own: an old caller still finds the operation where it was.
  if (shapeOfPath(a.path) !== shapeOfPath(b.path))
    found(spot, 'path-changed', 0, `${b.path}, not ${a.path}`, places(a, b))
  if (a.method !== b.method) found(spot, 'method-changed', 0, `${b.method}, not ${a.method}`, places(a, b))
  if (!a.deprecated && b.deprecated) found(spot, 'deprecated', 0, 'is deprecated', places(a, b))
  compareParameters(desk, a, b)
  compareBodies(desk, a, b)
  compareResponses(desk, a, b)
  compareCallbacks(desk, a, b)
  compareSecurity(desk, a, b)
  compareRequirements(desk, a, b)
}

/** The name by which a parameter is found: headers have no case. */
const keyOf = (parameter: Parameter): string =>
  `${parameter.in} ${parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name}`

function compareParameters(desk: Desk, a: Operation, b: Operation): void {
  const left = new Map(b.parameters.map((each) => [keyOf(each), each]))
  const renames = renamedPlaceholders(a.path, b.path)
  for (const old of a.parameters) {
    const name = old.in === 'path' ? (renames.get(old.name) ?? old.name) : old.name
    const key = keyOf({ ...old, name })
    const next = left.get(key)
    if (next) compareParameter(desk, b, old, next)
    else parameterRemoved(parameterSpot(desk, b, old), b, old)
    left.delete(key)
  }
  for (const next of left.values()) {
    const spot = parameterSpot(desk, b, next)
    const subject = subjectOf('new', desk.next, next)
    const code = next.required ? 'parameter-added-required' : 'parameter-added'
    const said = `${next.in} parameter ${next.name} is new${next.required ? ' and required' : ''}`
    found(spot, code, next.required ? REQUEST : 0, said, { old: a.place, new: next.place }, { subject })
  }
}

const parameterSpot = (desk: Desk, { id }: Operation, parameter: Parameter): Spot =>
  spotAt(desk, REQUEST, (path) => ({
    kind: 'parameter',
    operation: id,
    in: parameter.in,
    name: parameter.name,
    path,
  }))

function parameterRemoved(spot: Spot, b: Operation, old: Parameter): void {
  const subject = subjectOf('old', spot.old, old)
  const lines = { old: old.place, new: b.place }
  found(spot, 'parameter-removed', REQUEST, `${old.in} parameter ${old.name} is gone`, lines, { subject })
}

function compareParameter(desk: Desk, operation: Operation, a: Parameter, b: Parameter): void {
  const spot = parameterSpot(desk, operation, b)
  const lines = places(a, b)
  if (a.in === 'path' && a.name !== b.name)
    // It is not on the wire, and handlers get it under the new name.
    found(spot, 'path-parameter-renamed', 0, `{${b.name}} was {${a.name}}`, lines)
  if (!a.required && b.required) found(spot, 'parameter-required', REQUEST, 'is required now', lines)
  if (a.required && !b.required) found(spot, 'parameter-optional', 0, 'may be absent now', lines)
  if (!a.deprecated && b.deprecated) found(spot, 'deprecated', 0, 'is deprecated', lines)
  const [was, is] = [a.extensions['x-filter'], b.extensions['x-filter']]
  if (was !== is) {
    const said = is === undefined ? 'no longer compares by equality' : `compares by ${String(is)} now`
    found(spot, 'filter-changed', is === undefined ? REQUEST : 0, said, lines)
  }
  compareSerialization(spot, a, b, REQUEST)
  compareSchemas(spot, a.schema, b.schema)
}

function compareBodies(desk: Desk, a: Operation, b: Operation): void {
  const spot = spotAt(desk, REQUEST, (path) => ({ kind: 'body', operation: b.id, path }))
  if (!a.body && b.body) {
    const code = b.body.required ? 'body-added-required' : 'body-added'
    const said = b.body.required ? 'must have a body now' : 'may have a body now'
    found(spot, code, b.body.required ? REQUEST : 0, said, { old: a.place, new: b.body.place })
  } else if (a.body && !b.body) {
    found(spot, 'body-removed', REQUEST, 'has no body now', { old: a.body.place, new: b.place })
  } else if (a.body && b.body) {
    const lines = places(a.body, b.body)
    if (!a.body.required && b.body.required)
      found(spot, 'body-required', REQUEST, 'must have a body now', lines)
    if (a.body.required && !b.body.required)
      found(spot, 'body-optional', 0, 'may come without a body now', lines)
    compareContents(spot, a.body, b.body)
  }
}

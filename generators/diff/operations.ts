/** Compares operations: requests, responses and access. */

import { renamedPlaceholders, shapeOfPath } from '../change/align.ts'
import type { Api, ApiOperation, ApiParameter } from '../ir/model.ts'
import { declaredStability, taggedStability } from '../ir/stability.ts'
import { compareContents, compareResponses } from './answers.ts'
import { compareCallbacks } from './events.ts'
import type { Root } from './pairs.ts'
import {
  type ComparisonPosition,
  type DocumentPair,
  emptyResult,
  found,
  type OperationPair,
  places,
  positionAt,
  REQUEST,
  subjectOf,
} from './position.ts'
import { compareRequirements, compareSecurity } from './requirements.ts'
import { compareSchemas, describe } from './schemas.ts'
import { asReadBy, compareSerialization } from './serialization.ts'
import { compareOperationServers, keepsUrls } from './servers.ts'
import { compareStability } from './stability.ts'

/**
 * Returns one root for each operation of either document.
 *
 * @param before old operations by their counterparts.
 */
export function compareOperations(
  old: Api,
  next: Api,
  before: ReadonlyMap<ApiOperation, ApiOperation>,
  translated: boolean,
): Root[] {
  const roots = next.operations.map((operation) => {
    const pair = { old, next, result: emptyResult(), translated }
    const counterpart = before.get(operation)
    if (counterpart) compareOperation(pair, counterpart, operation)
    else lonely(pair, operation, 'new')
    return { use: operation.id, result: pair.result }
  })
  const kept = new Set(before.values())
  for (const operation of old.operations) {
    if (kept.has(operation)) continue
    const pair = { old, next, result: emptyResult(), translated }
    // Operations that lenses merged have the id of the same new operation.
    const isMerged = old.operations.some((each) => each !== operation && each.id === operation.id)
    const now = isMerged && next.operations.find(({ id }) => id === operation.id)
    if (now) compareOperation(pair, operation, now)
    else lonely(pair, operation, 'old')
    roots.push({ use: operation.id, result: pair.result })
  }
  return roots
}

function lonely(pair: DocumentPair, operation: ApiOperation, side: 'old' | 'new'): void {
  const position = operationPosition(pair, operation)
  const api = side === 'old' ? pair.old : pair.next
  const { id: name, summary: description } = operation
  const shape = `${operation.method} ${operation.responses.map((each) => each.status).join()}`
  const subject = { name, side, shape, examples: [], ...(description !== undefined && { description }) }
  const [line, rest] = [operation.place, api === pair.old ? pair.next.place : pair.old.place]
  const said = `${operation.method} ${operation.path}`
  if (side === 'new')
    found(position, 'operation-added', 0, `${said} was added`, { old: rest, new: line }, { subject })
  else
    found(
      position,
      'operation-removed',
      REQUEST,
      `${said} was removed`,
      { old: line, new: rest },
      { subject },
    )
}

const operationPosition = (
  pair: DocumentPair,
  { id }: ApiOperation,
  mask: number = REQUEST,
): ComparisonPosition => positionAt(pair, mask, () => ({ kind: 'operation', operation: id }))

function compareOperation(pair: OperationPair, a: ApiOperation, b: ApiOperation): void {
  const position = operationPosition(pair, b)
  if (a.id !== b.id) found(position, 'operation-renamed', 0, `was ${a.id}`, places(a, b))
  // If the service translates, every version has its own routes, so callers still find the operation at its old path.
  const moved = pair.translated || keepsUrls(pair, a, b) ? 0 : REQUEST
  if (shapeOfPath(a.path) !== shapeOfPath(b.path))
    found(position, 'path-changed', moved, `is now ${b.path}; it was ${a.path}`, places(a, b))
  if (a.method !== b.method)
    found(
      position,
      'method-changed',
      pair.translated ? 0 : REQUEST,
      `is now ${b.method}; it was ${a.method}`,
      places(a, b),
    )
  if (!a.deprecated && b.deprecated) found(position, 'deprecated', 0, 'is deprecated', places(a, b))
  compareStability(
    position,
    taggedStability(pair.old, a),
    taggedStability(pair.next, b),
    REQUEST,
    places(a, b),
  )
  compareOperationServers(pair, a, b)
  compareParameters(pair, a, b)
  compareBodies(pair, a, b)
  compareResponses(pair, a, b)
  compareCallbacks(pair, a, b)
  compareSecurity(pair, a, b)
  compareRequirements(pair, a, b)
}

/** Returns the key by which parameters are matched; header names are case-insensitive. */
const keyOf = (parameter: ApiParameter): string =>
  `${parameter.in} ${parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name}`

function compareParameters(pair: OperationPair, a: ApiOperation, b: ApiOperation): void {
  const left = new Map(b.parameters.map((each) => [keyOf(each), each]))
  const renames = renamedPlaceholders(a.path, b.path)
  for (const old of a.parameters) {
    const name = old.in === 'path' ? (renames.get(old.name) ?? old.name) : old.name
    const key = keyOf({ ...old, name })
    const next = left.get(key)
    if (next) compareParameter(pair, b, old, next)
    else parameterRemoved(parameterPosition(pair, b, old), b, old)
    left.delete(key)
  }
  for (const next of left.values()) {
    const position = parameterPosition(pair, b, next)
    const subject = subjectOf('new', pair.next, next)
    const code = next.required ? 'parameter-added-required' : 'parameter-added'
    const said = `${next.in} parameter ${next.name} was added${next.required ? ' and is required' : ''}`
    found(position, code, next.required ? REQUEST : 0, said, { old: a.place, new: next.place }, { subject })
  }
}

const parameterPosition = (
  pair: DocumentPair,
  { id }: ApiOperation,
  parameter: ApiParameter,
): ComparisonPosition =>
  positionAt(pair, REQUEST, (path) => ({
    kind: 'parameter',
    operation: id,
    in: parameter.in,
    name: parameter.name,
    path,
  }))

function parameterRemoved(position: ComparisonPosition, b: ApiOperation, old: ApiParameter): void {
  const subject = subjectOf('old', position.old, old)
  const lines = { old: old.place, new: b.place }
  found(position, 'parameter-removed', REQUEST, `${old.in} parameter ${old.name} was removed`, lines, {
    subject,
  })
}

function compareParameter(
  pair: OperationPair,
  operation: ApiOperation,
  a: ApiParameter,
  b: ApiParameter,
): void {
  const position = parameterPosition(pair, operation, b)
  const lines = places(a, b)
  if (a.in === 'path' && a.name !== b.name)
    // The name of a path parameter is not on the wire; handlers get the value under the new name.
    found(position, 'path-parameter-renamed', 0, `{${b.name}} was {${a.name}}`, lines)
  if (!a.required && b.required) found(position, 'parameter-required', REQUEST, 'is now required', lines)
  if (a.required && !b.required) found(position, 'parameter-optional', 0, 'may now be absent', lines)
  if (!a.deprecated && b.deprecated) found(position, 'deprecated', 0, 'is deprecated', lines)
  compareStability(position, declaredStability(a), declaredStability(b), REQUEST, lines)
  const [was, is] = [a.extensions['x-filter'], b.extensions['x-filter']]
  if (was !== is) {
    const said = is === undefined ? 'no longer compares by equality' : `now compares by ${String(is)}`
    found(position, 'filter-changed', is === undefined ? REQUEST : 0, said, lines)
  }
  const read = pair.translated ? a : asReadBy(position, a, b)
  if (read !== a)
    found(position, 'type-widened', 0, `is now ${describe(b.schema)}; it was ${describe(a.schema)}`, lines)
  compareSerialization(position, read, b, REQUEST, pair.translated)
  compareSchemas(position, read.schema, b.schema)
}

function compareBodies(pair: DocumentPair, a: ApiOperation, b: ApiOperation): void {
  const position = positionAt(pair, REQUEST, (path) => ({ kind: 'body', operation: b.id, path }))
  if (!a.body && b.body) {
    const code = b.body.required ? 'body-added-required' : 'body-added'
    const said = b.body.required ? 'must now have a body' : 'may now have a body'
    found(position, code, b.body.required ? REQUEST : 0, said, { old: a.place, new: b.body.place })
  } else if (a.body && !b.body) {
    found(position, 'body-removed', REQUEST, 'no longer has a body', { old: a.body.place, new: b.place })
  } else if (a.body && b.body) {
    const lines = places(a.body, b.body)
    if (!a.body.required && b.body.required)
      found(position, 'body-required', REQUEST, 'must now have a body', lines)
    if (a.body.required && !b.body.required)
      found(position, 'body-optional', 0, 'may now have no body', lines)
    compareContents(position, a.body, b.body)
  }
}

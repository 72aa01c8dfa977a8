/**
 * Compares two schemas by the values that they allow. References to the same component become edges instead of
 * being followed, so that each pair of components is compared once. Prose, examples and order are ignored.
 */

import type { Api, IntersectionSchema, Scalar, Schema } from '../ir/model.ts'
import { obeys } from '../ir/unheld.ts'
import { compareArrays, compareNumbers, compareStrings } from './bounds.ts'
import { admittedBy, asEnum, compareEnums } from './enums.ts'
import { areUntyped, compareKeywords, compareTyping, compareUntyped, withoutShared } from './keywords.ts'
import { pairUp } from './match.ts'
import { merge } from './merge.ts'
import { compareObjects } from './objects.ts'
import {
  BOTH,
  type ComparisonPosition,
  found,
  NARROWING,
  places,
  REQUEST,
  shapeOf,
  targetOf,
  WIDENING,
} from './position.ts'
import { compareUnions } from './unions.ts'
import { unwrap } from './unwrap.ts'

/** Compares two schemas and adds the differences to the position's result. */
export function compareSchemas(position: ComparisonPosition, before: Schema, after: Schema): void {
  const old = unwrap(before)
  const next = unwrap(after)
  if (old.kind === 'ref' && next.kind === 'ref') return compareReferences(position, old, next)
  const [a, b] = withoutShared(
    withClosing(dereference(position.old, old)),
    withClosing(dereference(position.next, next)),
  )
  compareNull(position, a, b)
  compareDefaults(position, a, b)
  compareKeywords(position, a, b)
  if (areUntyped(a, b)) return compareUntyped(position, a, b)
  compareTyping(position, a, b)
  const [one, other] = [asEnum(position.old, a), asEnum(position.next, b)]
  if (one && other) return compareEnums(position, one, other)
  const parts = hasUnion(a) || hasUnion(b)
  if (!parts && (a.kind === 'union' || b.kind === 'union'))
    return compareUnions(position, a, b, compareSchemas)
  if (a.kind === 'intersection' || b.kind === 'intersection') return compareIntersections(position, a, b)
  if (a.kind !== b.kind) return compareKinds(position, a, b)
  compareAlike(position, a, b)
}

/** Resolves a reference. The result is nullable if either is; a default next to the reference overrides the target's. */
function dereference(api: ComparisonPosition['old'], schema: Schema): Schema {
  if (schema.kind !== 'ref') return schema
  const target = unwrap(targetOf(api, schema))
  const nullable = schema.nullable || target.nullable
  const withDefault = schema.default === undefined ? target : { ...target, default: schema.default }
  return nullable === target.nullable ? withDefault : { ...withDefault, nullable }
}

/** Treats `unevaluatedProperties: false` as `additionalProperties: false` if all properties are known. */
function withClosing(schema: Schema): Schema {
  const { unevaluatedProperties, ...keywords } = schema.unheld?.keywords ?? {}
  if (unevaluatedProperties !== false || Object.keys(keywords).some((name) => BRANCHES.has(name)))
    return schema
  const unheld = { ...schema.unheld!, keywords }
  if (schema.kind === 'object')
    return schema.additional === 'open' ? { ...schema, additional: 'closed', unheld } : schema
  if (schema.kind !== 'intersection' || hasUnion(schema)) return schema
  const { place, deprecated, extensions, examples } = schema
  const base = { place, deprecated, extensions, examples, nullable: false }
  const closing: Schema = { ...base, kind: 'object', properties: [], additional: 'closed', patterns: [] }
  return { ...schema, members: [...schema.members, closing], unheld }
}

/** Keywords whose subschemas may declare more properties. */
const BRANCHES: ReadonlySet<string> = new Set([
  'if',
  'then',
  'else',
  'dependentSchemas',
  'not',
  'anyOf',
  'oneOf',
])

/** Returns whether a schema combines a union with other constraints. */
const hasUnion = (schema: Schema): boolean =>
  schema.kind === 'intersection' && schema.members.some((member) => member.kind === 'union')

type Ref = Extract<Schema, { kind: 'ref' }>

function compareReferences(position: ComparisonPosition, old: Ref, next: Ref): void {
  compareNull(position, old, next)
  compareDefaults(position, old, next)
  const pair = { old: old.name, new: next.name }
  // If the old name was removed and the new name was added, the component was renamed, and both are compared as
  // one.
  const renamed = !position.next.schemas.has(old.name) && !position.old.schemas.has(next.name)
  if (old.name === next.name || renamed) position.result.edges.push({ pair, mask: position.mask })
  else
    position.result.edges.push({
      pair,
      mask: position.mask,
      replaced: { at: position.locate(position.path), ...places(old, next) },
    })
}

function compareNull(position: ComparisonPosition, old: Schema, next: Schema): void {
  const [was, is] = [admitsNull(position.old, old), admitsNull(position.next, next)]
  if (was === is || old.kind === 'any' || next.kind === 'any') return
  if (is) found(position, 'null-added', WIDENING, 'may now be null', places(old, next))
  else found(position, 'null-removed', NARROWING, 'may no longer be null', places(old, next))
}

/** Returns whether null is valid. All parts of `allOf` must allow it, except that in 3.0 `nullable` next to them suffices. */
function admitsNull(api: Api, schema: Schema, depth = 0): boolean {
  if (schema.kind !== 'intersection') return schema.nullable
  if (schema.nullable && String(api.document.openapi).startsWith('3.0')) return true
  return schema.members.every((member) => {
    const target = targetOf(api, member)
    const isFree = target.kind === 'any' || target.untyped === true || member.nullable
    return isFree || (depth < 20 && admitsNull(api, target, depth + 1))
  })
}

/** A default is the meaning of an absent member, so it matters only in requests. */
function compareDefaults(position: ComparisonPosition, old: Schema, next: Schema): void {
  const [was, is] = [JSON.stringify(old.default), JSON.stringify(next.default)]
  if (was === is) return
  const value = isScalar(old.default) ? old.default : undefined
  const detail = { mask: position.mask & REQUEST, ...(value !== undefined && { value }) }
  if (was === undefined)
    found(position, 'default-added', 0, `absence now means ${is}`, places(old, next), detail)
  else if (is === undefined)
    found(position, 'default-removed', REQUEST, `absence no longer means ${was}`, places(old, next), detail)
  else
    found(
      position,
      'default-changed',
      REQUEST,
      `absence now means ${is}; it meant ${was}`,
      places(old, next),
      detail,
    )
}

const isScalar = (value: unknown): value is Scalar => value === null || typeof value !== 'object'

/** Compares two schemas of the same kind, neither of which is a reference, a union or an intersection. */
function compareAlike(position: ComparisonPosition, a: Schema, b: Schema): void {
  if (a.kind === 'object' && b.kind === 'object')
    return compareObjects(position, merge(position.old, [a]), merge(position.next, [b]), compareSchemas)
  if (a.kind === 'array' && b.kind === 'array') return compareArrays(position, a, b, compareSchemas)
  if (a.kind === 'enum' && b.kind === 'enum') return compareEnums(position, a, b)
  if (a.kind === 'string' && b.kind === 'string') return compareStrings(position, a, b)
  if (a.kind === 'number' && b.kind === 'number') return compareNumbers(position, a, b)
}

function compareIntersections(position: ComparisonPosition, a: Schema, b: Schema): void {
  const old = merge(position.old, conjuncts(a))
  const next = merge(position.next, conjuncts(b))
  if (old.isObject && next.isObject) compareObjects(position, old, next, compareSchemas)
  else if (next.isObject) found(position, 'type-narrowed', NARROWING, 'must now be an object', places(a, b))
  else if (old.isObject)
    found(position, 'type-widened', WIDENING, 'no longer has to be an object', places(a, b))
  const { pairs, alone, left } = pairUp(old.rest, next.rest, [
    (one, other) => shapeOf(position.old, one, 3) === shapeOf(position.next, other, 3),
    counterparts,
  ])
  for (const [one, other] of pairs) compareSchemas(position, one, other)
  const [was, is] = [pairs.map(([one]) => one), pairs.map(([, other]) => other)]
  for (const one of alone.filter((each) => !isImplied(position.old, each, was)))
    found(position, 'type-widened', WIDENING, `no longer has to be ${describe(one)}`, places(one, b))
  for (const other of left.filter((each) => !isImplied(position.next, each, is)))
    found(position, 'type-narrowed', NARROWING, `must now also be ${describe(other)}`, places(a, other))
}

/** Returns whether a part adds nothing, because it allows every value of another part that both versions have. */
const isImplied = (api: Api, part: Schema, kept: readonly Schema[]): boolean =>
  kept.some((each) => {
    const other = targetOf(api, each)
    if (other.nullable || other.untyped || other.unheld?.untyped || part.unheld) return false
    return other.kind === 'enum' ? holds(part, other) : other.kind === part.kind && isBare(api, part)
  })

/** Returns whether a string or a number has no constraints. */
const isBare = (api: Api, schema: Schema): boolean =>
  /^(string|number)$/.test(schema.kind) && shapeOf(api, schema, 0) === JSON.stringify([['kind', schema.kind]])

const conjuncts = (schema: Schema): readonly Schema[] =>
  schema.kind === 'intersection' ? (schema satisfies IntersectionSchema).members : [schema]

const counterparts = (one: Schema, other: Schema): boolean =>
  one.kind === 'ref' && other.kind === 'ref' ? one.name === other.name : one.kind === other.kind

/** Compares schemas of different kinds, one of which may still include all values of the other. */
function compareKinds(position: ComparisonPosition, a: Schema, b: Schema): void {
  const said = `is now ${describe(b)}; it was ${describe(a)}`
  if (holds(b, a) && holds(a, b)) return
  if (holds(b, a)) found(position, 'type-widened', WIDENING, said, places(a, b))
  else if (holds(a, b)) found(position, 'type-narrowed', NARROWING, said, places(a, b))
  else found(position, 'type-changed', BOTH, said, places(a, b))
}

/** Returns whether every value of the narrow schema is certainly allowed by the wide one. */
function holds(wide: Schema, narrow: Schema): boolean {
  if (wide.kind === 'any' || narrow.kind === 'never') return true
  if (narrow.kind === 'null') return wide.nullable
  if (narrow.kind === 'boolean' && wide.kind === 'enum')
    return [true, false].every((value) => admittedBy(wide).includes(value))
  return narrow.kind === 'enum' && admittedBy(narrow).every((value) => admits(wide, value))
}

function admits(schema: Schema, value: Scalar): boolean {
  if (schema.kind === 'string')
    return typeof value === 'string' && schema.format === undefined && obeys(value, schema)
  if (schema.kind === 'number')
    return typeof value === 'number' && (!schema.integer || Number.isInteger(value)) && obeys(value, schema)
  return schema.kind === 'boolean' && typeof value === 'boolean'
}

/** Describes a schema for messages: `a string (date)`, `one of a, b`, `a list`. */
export function describe(schema: Schema): string {
  switch (schema.kind) {
    case 'ref':
      return schema.name
    case 'enum':
      return schema.values.length === 1
        ? JSON.stringify(schema.values[0])
        : `one of ${schema.values.slice(0, 4).join(', ')}${schema.values.length > 4 ? ', …' : ''}`
    case 'string':
      return schema.format === undefined ? 'a string' : `a string (${schema.format})`
    case 'number':
      return schema.integer ? 'an integer' : 'a number'
    case 'array':
      return 'a list'
    case 'object':
      return 'an object'
    case 'union':
      return schema.members.map(describe).join(' or ')
    case 'intersection':
      return schema.members.map(describe).join(' and ')
    case 'boolean':
      return 'a boolean'
    case 'any':
      return 'anything'
    case 'never':
      return 'nothing'
    case 'null':
      return 'null'
  }
}

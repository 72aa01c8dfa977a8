/** Checks the object keywords. */
import { findNearest } from '../nearest.ts'
import { patternOf } from './scalars.ts'
import {
  type CheckOf,
  checkBelow,
  count,
  fault,
  isFull,
  type Json,
  type KnownDocument,
  listIn,
  membersIn,
  numberIn,
  own,
  type Walk,
} from './walk.ts'

export function makeObject(known: KnownDocument, rules: Json): CheckOf<Json> | undefined {
  const [least, most] = [numberIn(rules, 'minProperties'), numberIn(rules, 'maxProperties')]
  const required = listIn(rules, 'required').map(String)
  const member = makeMember(known, rules)
  const named = known.checkOf(rules.propertyNames)
  const dependent = makeDependent(known, rules)
  return (walk, object) => {
    if (least !== undefined || most !== undefined) {
      const size = Object.keys(object).length
      if (least !== undefined && size < least) {
        fault(walk, 'minProperties', `must have at least ${count(least, 'member')}`)
      }
      if (most !== undefined && size > most) {
        const wanted = most === 0 ? 'must be empty' : `must have at most ${count(most, 'member')}`
        return fault(walk, 'maxProperties', wanted)
      }
    }
    for (const name of required)
      if (own(object, name) === undefined) fault(walk, 'required', 'is required', name)
    dependent?.(walk, object)
    if (!member && !named) return
    for (const name in object) {
      if (isFull(walk)) return
      if (named) checkBelow(walk, named, name, name)
      const value = object[name]
      if (member && value !== undefined) member(walk, value, name)
    }
  }
}

/** Returns the check of an object's members; undefined if all are allowed. */
function makeMember(
  known: KnownDocument,
  rules: Json,
): ((walk: Walk, value: unknown, name: string) => void) | undefined {
  const properties = new Map(
    membersIn(rules, 'properties').map(([name, each]) => [name, known.checkOf(each)] as const),
  )
  const named = membersIn(rules, 'patternProperties').map(
    ([pattern, each]) => [patternOf(pattern), known.checkOf(each)] as const,
  )
  const closed = rules.additionalProperties === false
  const rest = closed ? undefined : known.checkOf(rules.additionalProperties)
  if (properties.size === 0 && named.length === 0 && !closed && !rest) return undefined
  return (walk, value, name) => {
    const own = properties.get(name)
    if (own) checkBelow(walk, own, value, name)
    let matched = own !== undefined || properties.has(name)
    if (matched && named.length === 0) return
    for (const [pattern, each] of named) {
      if (!pattern.test(name)) continue
      matched = true
      if (each) checkBelow(walk, each, value, name)
    }
    if (matched) return
    if (closed)
      fault(
        walk,
        'additionalProperties',
        'is not a known property',
        name,
        findNearest(name, properties.keys()),
      )
    else if (rest) checkBelow(walk, rest, value, name)
  }
}

/** Returns the check of keywords by which one property requires others. */
function makeDependent(known: KnownDocument, rules: Json): CheckOf<Json> | undefined {
  const names = membersIn(rules, 'dependentRequired')
  const schemas = membersIn(rules, 'dependentSchemas')
  if (names.length === 0 && schemas.length === 0) return undefined
  return (walk, object) => {
    for (const [name, needed] of names) {
      if (own(object, name) === undefined || !Array.isArray(needed)) continue
      for (const other of needed.map(String)) {
        if (own(object, other) === undefined)
          fault(walk, 'dependentRequired', `is required if ${name} is present`, other)
      }
    }
    for (const [name, schema] of schemas)
      if (own(object, name) !== undefined) known.checkOf(schema)?.(walk, object)
  }
}

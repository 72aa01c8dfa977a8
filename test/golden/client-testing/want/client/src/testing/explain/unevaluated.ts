/**
 * Checks `unevaluatedProperties` and `unevaluatedItems`, which apply to members that no adjacent keyword has evaluated.
 * That includes references and the branches that the value matches (JSON Schema 2020-12, section 11).
 */
import { patternOf } from './scalars.ts'
import {
  attempt,
  type Check,
  checkBelow,
  fault,
  isFull,
  isObject,
  type Json,
  type KnownDocument,
  listIn,
  membersIn,
  own,
  type Walk,
} from './walk.ts'

export function makeUnevaluated(known: KnownDocument, rules: Json): Check | undefined {
  const [items, properties] = [rules.unevaluatedItems, rules.unevaluatedProperties]
  if (items === undefined && properties === undefined) return undefined
  return (walk, value) => {
    const list = Array.isArray(value)
    const schema = list ? items : properties
    if (schema === undefined || typeof value !== 'object' || value === null) return
    const check = known.checkOf(schema)
    if (!check) return
    const keyword = list ? 'unevaluatedItems' : 'unevaluatedProperties'
    const seen = evaluated({ known, walk, value }, rules, keyword)
    for (const key of keysOf(value)) {
      if (isFull(walk)) return
      if (seen.has(key)) continue
      if (schema === false)
        fault(walk, keyword, list ? 'is an extra item that is not allowed' : 'is not a known property', key)
      else checkBelow(walk, check, (value as Json)[key], key)
    }
  }
}

type Key = string | number

const keysOf = (value: object): Key[] => (Array.isArray(value) ? [...value.keys()] : Object.keys(value))

interface Look {
  readonly known: KnownDocument
  readonly walk: Walk
  readonly value: object
}

/**
 * Returns the keys that a matching schema has evaluated. @param asking the keyword for which they are needed; it is
 * skipped.
 */
function evaluated(look: Look, rules: Json, asking?: string): Set<Key> {
  const { known, value } = look
  const seen = new Set(Array.isArray(value) ? itemsSeen(look, rules) : propertiesSeen(look, rules))
  const all = Array.isArray(value) ? 'unevaluatedItems' : 'unevaluatedProperties'
  if (asking !== all && rules[all] !== undefined) return new Set(keysOf(value))
  for (const branch of branches(look, rules)) for (const key of evaluatedBy(look, branch)) seen.add(key)
  for (const ref of [rules.$ref, rules.$dynamicRef]) {
    if (typeof ref !== 'string') continue
    for (const key of evaluatedBy(look, known.targetOf(rules, ref))) seen.add(key)
  }
  return seen
}

const evaluatedBy = (look: Look, schema: unknown): Iterable<Key> =>
  isObject(schema) ? evaluated(look, schema) : []

/** Returns the subschemas that apply to the same value and that it matches. */
function branches(look: Look, rules: Json): unknown[] {
  const fits = (schema: unknown) => attempt(look.walk, look.known.checkOf(schema), look.value).length === 0
  const chosen = (['anyOf', 'oneOf'] as const).flatMap((mode) => listIn(rules, mode).filter(fits))
  const dependent = membersIn(rules, 'dependentSchemas')
    .filter(([name]) => own(look.value, name) !== undefined)
    .map(([, schema]) => schema)
  const conditional = 'if' in rules ? (fits(rules.if) ? [rules.if, rules.then] : [rules.else]) : []
  return [...listIn(rules, 'allOf'), ...chosen, ...dependent, ...conditional]
}

function itemsSeen({ known, walk, value }: Look, rules: Json): Key[] {
  const list = value as readonly unknown[]
  if (rules.items !== undefined) return [...list.keys()]
  const prefix = listIn(rules, 'prefixItems').length
  const contains = rules.contains === undefined ? undefined : known.checkOf(rules.contains)
  const fitting = (item: unknown) =>
    rules.contains !== undefined && attempt(walk, contains, item).length === 0
  return [...list.keys()].filter((index) => index < prefix || fitting(list[index]))
}

function propertiesSeen({ value }: Look, rules: Json): Key[] {
  if (rules.additionalProperties !== undefined) return Object.keys(value)
  const patterns = membersIn(rules, 'patternProperties').map(([pattern]) => patternOf(pattern))
  return Object.keys(value).filter(
    (name) => own(rules.properties, name) !== undefined || patterns.some((pattern) => pattern.test(name)),
  )
}

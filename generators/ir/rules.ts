/**
 * Converts schemas that the IR represents only partly to JSON Schema 2020-12. Keywords of OpenAPI and of 3.0 are
 * translated, annotations are dropped, and each reference becomes `#` with the target's pointer. Invalid keywords
 * are dropped, because they are already in the report.
 */
import { SUBSCHEMAS } from '../runtime/explain/references.ts'
import { tagsIn } from '../runtime/explain/tags.ts'
import { KEYWORDS } from './keywords.ts'
import type { JsonSchema } from './model.ts'
import { child, entries, isObject, items, type ObjectValue, type Source, sourceAt } from './source.ts'

type Rules = Record<string, unknown>

/** Adds a schema, and everything that it refers to, to the rules of its document. */
export function collectRules(source: Source): void {
  const { rules } = source.reader
  const waiting = [source]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (!rules.has(next.pointer))
      rules.set(
        next.pointer,
        rulesOf(next, (target) => waiting.push(target)),
      )
  }
}

type FollowReference = (target: Source) => void

function rulesOf(source: Source, follow: FollowReference): JsonSchema {
  const { value } = source
  if (typeof value === 'boolean') return value
  if (!isObject(value)) return true
  const { openapi30 } = source.reader
  if (openapi30 && typeof value.$ref === 'string') return referenceOf(source, value.$ref, follow)[0] ?? true
  const rules: Rules = {}
  for (const [name, { holds }] of KEYWORDS) {
    const inside = child(source, name)
    if (!inside) continue
    if (holds === 'schema') putSchemas(rules, name, inside, follow)
    else if (holds !== 'reference' && HOLDS[holds](inside.value)) rules[name] = inside.value
  }
  if (value['x-judged'] === 'each') delete rules.items
  narrow(rules)
  renameProto(rules)
  if (openapi30) putExclusive(rules, value)
  const also = [
    ...['$ref', '$dynamicRef'].flatMap((name) => referenceOf(source, value[name], follow)),
    ...tagged(source, rules),
  ]
  if (also.length > 0) rules.allOf = [...also, ...((rules.allOf as JsonSchema[] | undefined) ?? [])]
  return openapi30 && value.nullable === true ? { anyOf: [{ type: 'null' }, rules] } : rules
}

const THEN = 'then'

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']

const isList = (value: unknown): value is unknown[] => Array.isArray(value)
const isTexts = (value: unknown): boolean => isList(value) && value.every((each) => typeof each === 'string')

/** Type checks of keyword values. */
const HOLDS = {
  number: (value: unknown) => typeof value === 'number' && Number.isFinite(value),
  text: (value: unknown) => typeof value === 'string',
  flag: (value: unknown) => typeof value === 'boolean',
  list: isList,
  lists: (value: unknown) => isObject(value) && Object.values(value).every(isTexts),
  value: (value: unknown) => value !== undefined,
}

function putSchemas(rules: Rules, name: string, inside: Source, follow: FollowReference): void {
  const how = SUBSCHEMAS.get(name)
  if (how === 'one') rules[name] = rulesOf(inside, follow)
  else if (how === 'list') {
    const list = items(inside)
    // ajv rejects an empty list.
    if (list.length > 0) rules[name] = list.map((each) => rulesOf(each, follow))
  } else {
    const named = entries(inside).map(([key, each]) => [key, rulesOf(each, follow)] as const)
    rules[name] = Object.fromEntries(
      name === 'patternProperties' ? named.filter(([key]) => isPattern(key)) : named,
    )
  }
}

/** Normalizes keywords that documents use differently from JSON Schema. */
function narrow(rules: Rules): void {
  const types = (isList(rules.type) ? rules.type : [rules.type]).filter((each) =>
    TYPES.includes(String(each)),
  )
  if (types.length > 0) rules.type = types.length === 1 ? types[0] : [...new Set(types)]
  else delete rules.type
  if (typeof rules.pattern === 'string' && !isPattern(rules.pattern)) delete rules.pattern
  if (isList(rules.required)) rules.required = [...new Set(rules.required.map(String))]
  if (isList(rules.enum) && rules.enum.length === 0) {
    delete rules.enum
    rules.not = {}
  }
  if (rules.format !== 'int32' || !types.some((type) => type === 'integer' || type === 'number')) return
  // Treats int32 as bounds.
  rules.minimum ??= -(2 ** 31)
  rules.maximum ??= 2 ** 31 - 1
}

/** ajv ignores a property named `__proto__`, which JSON allows, so it becomes a pattern property. */
function renameProto(rules: Rules): void {
  const { properties } = rules
  if (!isObject(properties) || !Object.hasOwn(properties, PROTO)) return
  rules.properties = Object.fromEntries(Object.entries(properties).filter(([name]) => name !== PROTO))
  rules.patternProperties = { ...(rules.patternProperties as Rules), [`^${PROTO}$`]: properties[PROTO] }
}

const PROTO = '__proto__'

/** In OpenAPI 3.0, exclusiveMinimum and exclusiveMaximum are flags. */
function putExclusive(rules: Rules, value: ObjectValue): void {
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (value[flag] !== true || rules[bound] === undefined) continue
    rules[flag] = rules[bound]
    delete rules[bound]
  }
}

/**
 * Returns whether a pattern is valid. JSON Schema uses Unicode mode, but many patterns are written for the older
 * mode.
 */
export function isPattern(pattern: string): boolean {
  for (const flags of ['u', '']) {
    try {
      new RegExp(pattern, flags)
      return true
    } catch {}
  }
  return false
}

function referenceOf(source: Source, ref: unknown, follow: FollowReference): { $ref: string }[] {
  if (typeof ref !== 'string') return []
  const pointer = source.reader.references.pointerOf(source.value as ObjectValue, ref)
  const target = pointer === undefined ? undefined : sourceAt(source.reader, pointer)
  if (!target) return []
  follow(target)
  return [{ $ref: `#${target.pointer}` }]
}

/** For a union with a usable discriminator, returns the rule that selects the member by its tag. */
function tagged(source: Source, rules: Rules): JsonSchema[] {
  const { discriminator } = source.value as ObjectValue
  const property = isObject(discriminator) ? discriminator.propertyName : undefined
  if (typeof property !== 'string') return []
  const { references } = source.reader
  return ['oneOf', 'anyOf'].flatMap((mode) => {
    const members = items(child(source, mode)).map((each) => each.value)
    const tags = tagsIn(source.value as ObjectValue, members, property, (schema, ref) => {
      const pointer = references.pointerOf(schema, ref)
      return pointer === undefined ? undefined : sourceAt(source.reader, pointer)?.value
    })
    if (tags.size === 0) return []
    const printed = rules[mode] as JsonSchema[]
    delete rules[mode]
    const choices = [...tags].map(([value, index]) =>
      Object.fromEntries([
        ['if', { properties: { [property]: { const: value } } }],
        [THEN, printed[index]],
      ]),
    )
    const named = {
      type: 'object',
      required: [property],
      properties: { [property]: { enum: [...tags.keys()] } },
    }
    return [named, ...choices]
  })
}

/**
 * Compiles a schema into a function that finds the problems of a value. Supports all keywords of JSON Schema 2020-12,
 * and the deviations of OpenAPI 3.0.
 */
import { findNearest } from '../nearest.ts'
import { makeArray } from './arrays.ts'
import { makeComposition } from './composition.ts'
import { makeObject } from './objects.ts'
import { indexReferences, lookUp } from './references.ts'
import { makeNumber, makeString } from './scalars.ts'
import { makeUnevaluated } from './unevaluated.ts'
import { type Check, canonical, fault, isFull, isObject, type Json, type KnownDocument } from './walk.ts'

/** Returns the checks of a document. Each is compiled at its first use. */
export function knowDocument(document: Json): KnownDocument {
  const openapi30 = String(document.openapi).startsWith('3.0')
  const checks = new WeakMap<object, Check>()
  const references = indexReferences(document, openapi30)
  const known: KnownDocument = {
    openapi30,
    checkOf(schema) {
      if (schema === false) return (walk) => fault(walk, 'false', 'is not allowed')
      if (!isObject(schema)) return undefined
      const made = checks.get(schema) ?? makeCheck(known, schema)
      checks.set(schema, made)
      return made
    },
    targetOf(schema, ref) {
      const pointer = references.pointerOf(schema, ref)
      return pointer === undefined ? undefined : lookUp(document, pointer)
    },
  }
  return known
}

function makeCheck(known: KnownDocument, rules: Json): Check {
  const referred = makeReferences(known, rules)
  // Before OpenAPI 3.1, keywords next to a reference are ignored.
  if (known.openapi30 && typeof rules.$ref === 'string') return referred!
  const ofType = makeType(rules)
  const ofEnum = makeEnum(rules)
  const ofString = makeString(rules)
  const ofNumber = makeNumber(rules)
  const ofArray = makeArray(known, rules)
  const ofObject = makeObject(known, rules)
  const composed = makeComposition(known, rules)
  const unevaluated = makeUnevaluated(known, rules)
  const nullable = known.openapi30 && rules.nullable === true
  return (walk, value) => {
    if ((nullable && value === null) || isFull(walk)) return
    const before = walk.faults.length
    referred?.(walk, value)
    if (ofType && !ofType(value)) return fault(walk, 'type', `must be ${namesOf(typesOf(rules)!)}`)
    ofEnum?.(walk, value)
    if (typeof value === 'string') ofString?.(walk, value)
    else if (typeof value === 'number') ofNumber?.(walk, value)
    else if (Array.isArray(value)) ofArray?.(walk, value)
    else if (isObject(value)) ofObject?.(walk, value)
    if (composed && walk.faults.length === before) composed(walk, value)
    if (unevaluated && walk.faults.length === before) unevaluated(walk, value)
  }
}

function makeReferences(known: KnownDocument, rules: Json): Check | undefined {
  const refs = [rules.$ref, rules.$dynamicRef].filter((each) => typeof each === 'string')
  if (refs.length === 0) return undefined
  let targets: readonly (Check | undefined)[] | undefined
  return (walk, value) => {
    // Resolved at the first use, because schemas can be recursive.
    targets ??= refs.map((ref) => known.checkOf(known.targetOf(rules, ref)))
    for (const target of targets) target?.(walk, value)
  }
}

function typesOf(rules: Json): readonly string[] | undefined {
  if (typeof rules.type === 'string') return [rules.type]
  return Array.isArray(rules.type) ? rules.type.map(String) : undefined
}

const namesOf = (types: readonly string[]): string =>
  types
    .map((type) => (type === 'null' ? 'null' : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`))
    .join(' or ')

function makeType(rules: Json): ((value: unknown) => boolean) | undefined {
  const types = typesOf(rules)
  return types && ((value) => types.some((type) => hasType(value, type)))
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    default:
      return typeof value === type
  }
}

function makeEnum(rules: Json): Check | undefined {
  const checks: Check[] = []
  if ('const' in rules) {
    const wanted = canonical(rules.const)
    checks.push((walk, value) => {
      if (canonical(value) !== wanted) fault(walk, 'const', `must be ${JSON.stringify(rules.const)}`)
    })
  }
  if (Array.isArray(rules.enum)) checks.push(oneOfValues(rules.enum))
  if (checks.length < 2) return checks[0]
  return (walk, value) => {
    for (const check of checks) check(walk, value)
  }
}

/**
 * A list of up to SHOWN values is shown completely. A longer list shows at most SHOWN values and about MAX_LETTERS
 * characters.
 */
const SHOWN = 12
const MAX_LETTERS = 160

/** Formats a list of values, shortened if it is long. */
function listSome(values: readonly unknown[]): string {
  const words = values.map((member) => JSON.stringify(member))
  if (words.length <= SHOWN) return words.join(', ')
  let letters = 0
  const shown = words.slice(0, SHOWN).filter((word, index) => {
    letters += word.length + 2
    return index === 0 || letters <= MAX_LETTERS
  })
  return `${shown.join(', ')}, …`
}

function oneOfValues(values: readonly unknown[]): Check {
  const issue = `must be one of ${listSome(values)}`
  const wanted = new Set(values.map(canonical))
  const words = values.filter((member) => typeof member === 'string')
  return (walk, value) => {
    if (wanted.has(canonical(value))) return
    fault(walk, 'enum', issue, undefined, typeof value === 'string' ? findNearest(value, words) : undefined)
  }
}

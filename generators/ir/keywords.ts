/**
 * The JSON Schema 2020-12 keywords that reject values: the type of each keyword's value, and the keywords next to
 * which the printer of validators supports it. ajv compiles a schema that uses a keyword in an unsupported
 * combination.
 */
import { subschemas } from '../runtime/explain/references.ts'
import { child, isObject, type ObjectValue, type Source } from './source.ts'

/** Keywords that apply to values of one type and accept all other types. */
export type KeywordGroup = 'object' | 'array' | 'string' | 'number'

/**
 * Combinations that the printer supports. `always`: next to any keyword. `alone`: only next to `type` and `$ref`. A
 * group: next to `type`, or if all such keywords are of the same group. `never`: ajv compiles it.
 */
type Printed = 'always' | 'alone' | 'never' | KeywordGroup

interface Keyword {
  readonly holds: 'schema' | 'reference' | 'number' | 'text' | 'flag' | 'value' | 'list' | 'lists'
  readonly printed: Printed
}

const holding = (holds: Keyword['holds'], printed: Printed, names: string): [string, Keyword][] =>
  names.split(' ').map((name) => [name, { holds, printed }])

export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ...holding('schema', 'always', 'allOf anyOf oneOf'),
  ...holding('schema', 'object', 'properties patternProperties additionalProperties propertyNames'),
  ...holding('schema', 'array', 'prefixItems items'),
  ...holding('schema', 'never', 'not if then else contains dependentSchemas'),
  ...holding('schema', 'never', 'unevaluatedItems unevaluatedProperties'),
  ...holding('reference', 'always', '$ref'),
  ...holding('reference', 'never', '$dynamicRef'),
  ...holding('value', 'always', 'type'),
  ...holding('list', 'alone', 'enum'),
  ...holding('value', 'alone', 'const'),
  ...holding('list', 'object', 'required'),
  ...holding('lists', 'never', 'dependentRequired'),
  ...holding('number', 'object', 'minProperties maxProperties'),
  ...holding('number', 'array', 'minItems maxItems'),
  ...holding('flag', 'array', 'uniqueItems'),
  ...holding('number', 'never', 'minContains maxContains'),
  ...holding('number', 'string', 'minLength maxLength'),
  ...holding('text', 'string', 'pattern format'),
  ...holding('number', 'number', 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'),
])

/** Returns the first group of keywords in a schema without a `type`. */
export function groupOf(rules: ObjectValue): KeywordGroup | undefined {
  return groupsOf(rules)[0]
}

const GROUPS: readonly KeywordGroup[] = ['object', 'array', 'string', 'number']

function groupsOf(rules: ObjectValue): KeywordGroup[] {
  const spoken = new Set(Object.keys(rules).map((keyword) => KEYWORDS.get(keyword)?.printed))
  return GROUPS.filter((group) => spoken.has(group))
}

/** Returns the subschemas that the IR does not represent. */
export function neverPrinted(source: Source): Source[] {
  return subschemas(source.value as ObjectValue).flatMap(([tokens]) => {
    if (KEYWORDS.get(tokens[0]!)?.printed !== 'never') return []
    const inside = tokens.reduce<Source | undefined>((at, token) => at && child(at, token), source)
    return inside ? [inside] : []
  })
}

/**
 * Returns whether the printer supports a combination of keywords.
 *
 * @param refusesNull whether a schema in a union with `{type: null}` cannot be null.
 */
export function isPrinted(
  rules: ObjectValue,
  openapi30: boolean,
  refusesNull: (schema: unknown) => boolean,
): boolean {
  // Before 3.1, keywords next to a reference are ignored.
  if (openapi30 && '$ref' in rules) return true
  const spoken = Object.keys(rules).filter((name) => KEYWORDS.has(name))
  const of = (printed: Printed) => spoken.filter((name) => KEYWORDS.get(name)!.printed === printed)
  if (of('never').length > 0) return false
  const alone = of('alone')
  if (alone.length > 0) return areAlone(alone, spoken, rules)
  if (!('type' in rules) && groupsOf(rules).length > 1) return false
  return areNamesListed(rules) && isNullClear(rules, openapi30, refusesNull)
}

function areAlone(alone: readonly string[], spoken: readonly string[], rules: ObjectValue): boolean {
  const beside = spoken.filter((name) => !alone.includes(name) && name !== 'type' && name !== '$ref')
  const values = Array.isArray(rules.enum) ? rules.enum : [rules.const]
  return (
    alone.length === 1 &&
    beside.length === 0 &&
    values.every((value) => typeof value !== 'object' || value === null)
  )
}

/**
 * The IR lists required names among the properties, so a required name that is not a property would escape
 * `additionalProperties`.
 */
function areNamesListed(rules: ObjectValue): boolean {
  const { required, properties, additionalProperties: rest = true } = rules
  if (rest === true || !Array.isArray(required)) return true
  return required.every((name) => isObject(properties) && Object.hasOwn(properties, String(name)))
}

/**
 * Whether the IR's single `nullable` flag describes null correctly; it cannot with combined schemas, or with two
 * null members in `oneOf`.
 */
function isNullClear(
  rules: ObjectValue,
  openapi30: boolean,
  refusesNull: (schema: unknown) => boolean,
): boolean {
  const combined = ['allOf', 'anyOf', 'oneOf'].some((name) => name in rules)
  if (!openapi30 && combined && [rules.type].flat().includes('null')) return false
  if (!Array.isArray(rules.oneOf) || !rules.oneOf.some(isNull)) return true
  const others = rules.oneOf.filter((_, index) => index !== (rules.oneOf as unknown[]).findIndex(isNull))
  return others.every(refusesNull)
}

const isNull = (schema: unknown): boolean =>
  isObject(schema) && [schema.type].flat().every((type) => type === 'null')

/** Keywords that reject nothing and may be next to `$ref`. */
export const PROSE: ReadonlySet<string> = new Set([
  '$ref',
  '$id',
  '$schema',
  '$anchor',
  '$dynamicAnchor',
  '$defs',
  '$comment',
  'title',
  'description',
  'summary',
  'deprecated',
  'default',
  'example',
  'examples',
  'externalDocs',
  'readOnly',
  'writeOnly',
  'xml',
])

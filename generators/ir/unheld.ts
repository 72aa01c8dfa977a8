/**
 * Finds keywords of a schema that its IR node does not represent: keywords next to `enum`, keywords for several
 * types without a `type`, and keywords that no node has. The gate compares them in raw form, so that it misses no
 * difference.
 */
import { isMultiple } from '../runtime/explain/scalars.ts'
import { KEYWORDS, type KeywordGroup, PROSE } from './keywords.ts'
import type { Scalar, Schema, Unheld } from './model.ts'
import { isObject, type ObjectValue, type Source } from './source.ts'

/** Names that do not constrain values, in addition to annotations. */
const SILENT = new Set([
  'nullable',
  'discriminator',
  '$id',
  '$schema',
  '$anchor',
  '$defs',
  '$vocabulary',
  '$dynamicAnchor',
])
const COMPOSITION = ['oneOf', 'anyOf', 'allOf']
/** Keywords by the type of values that they apply to. */
const SPEAKS_OF = (['object', 'array', 'string', 'number'] as const).map(
  (type: KeywordGroup) =>
    [type, [...KEYWORDS].flatMap(([name, { printed }]) => (printed === type ? [name] : []))] as const,
)
const TYPED: ReadonlySet<string> = new Set(SPEAKS_OF.flatMap(([, keywords]) => keywords))
/** Keywords for single values, which restrict the members of an enumeration. */
const OF_SCALARS = [
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
]

/** Returns undefined if the node represents everything. */
export function unheldOf({ value, pointer }: Source, schema: Schema): Unheld | undefined {
  if (!isObject(value) || '$ref' in value) return undefined
  const types = [value.type].flat().filter((type) => type !== undefined && type !== 'null')
  const implied = types.length > 0 ? undefined : impliedType(value)
  const composed = COMPOSITION.some((keyword) => keyword in value)
  const plain = !composed || types.length > 0 || implied !== undefined
  const listed = plain && isHeldEnum(value)
  // Next to a union, string and number keywords apply only to members of that type.
  const loose = (implied === 'string' || implied === 'number') && ('oneOf' in value || 'anyOf' in value)
  const held = (name: string): boolean => {
    if (PROSE.has(name) || SILENT.has(name) || COMPOSITION.includes(name)) return true
    if (name === 'type' || name.startsWith('x-')) return true
    if (name === 'enum' || name === 'const') return listed && (name === 'enum' || !('enum' in value))
    if (!TYPED.has(name)) return false
    if (listed) return OF_SCALARS.includes(name) || types.length > 0
    return types.length > 0 || (speaksOf(implied, name) && !loose)
  }
  const silent = withoutEffect(value)
  const keywords = Object.fromEntries(
    Object.entries(value).filter(([name]) => !held(name) && !silent.has(name)),
  )
  for (const access of ['readOnly', 'writeOnly'])
    if (value[access] === true && !isProperty(pointer)) keywords[access] = true
  const admitted =
    listed && schema.kind === 'enum'
      ? schema.values.filter((each) => isOfTypes(each, types) && obeys(each, value))
      : []
  const fewer = listed && schema.kind === 'enum' && admitted.length < schema.values.length
  const untyped = implied !== undefined && !composed && !listed
  if (Object.keys(keywords).length === 0 && !fewer && !untyped) return undefined
  return {
    keywords,
    ...(fewer && { admitted }),
    ...(loose && { loose }),
    ...(untyped && {
      untyped: Object.fromEntries(Object.entries(value).filter(([name]) => TYPED.has(name))),
    }),
  }
}

/** Returns keywords without effect, because the keyword that they depend on is missing. */
function withoutEffect(value: ObjectValue): ReadonlySet<string> {
  const isCondition = 'if' in value && ('then' in value || 'else' in value)
  const { minContains: least = 1 } = value
  const counts = 'contains' in value && (least !== 0 || 'maxContains' in value || 'unevaluatedItems' in value)
  return new Set([
    ...(isCondition ? [] : ['if', 'then', 'else']),
    ...(counts ? [] : ['contains', 'minContains', 'maxContains']),
    ...(least === 1 ? ['minContains'] : []),
  ])
}

const isProperty = (pointer: string): boolean => /\/properties\/[^/]+$/.test(pointer)

const impliedType = (value: ObjectValue): string | undefined =>
  SPEAKS_OF.find(([, keywords]) => keywords.some((keyword) => keyword in value))?.[0]

const speaksOf = (type: string | undefined, name: string): boolean =>
  SPEAKS_OF.some(([each, keywords]) => each === type && keywords.includes(name))

function isHeldEnum(value: ObjectValue): boolean {
  const listed = Array.isArray(value.enum) ? value.enum : 'const' in value ? [value.const] : []
  return listed.length > 0 && listed.every((each) => each === null || typeof each !== 'object')
}

const isOfTypes = (value: Scalar, types: readonly unknown[]): boolean =>
  types.length === 0 || types.some((type) => isOf(value, type))

/** Returns whether a single value satisfies the keywords for its type. Keywords for other types do not apply. */
export function obeys(value: Scalar, all: object): boolean {
  const rules = all as ObjectValue
  const limit = (name: string): number | undefined => {
    const rule = rules[name]
    return typeof rule === 'number' ? rule : undefined
  }
  if (typeof value === 'string') {
    const length = [...value].length
    if (length < (limit('minLength') ?? 0) || length > (limit('maxLength') ?? length)) return false
    return typeof rules.pattern !== 'string' || matches(rules.pattern, value)
  }
  if (typeof value !== 'number') return true
  if (value < (limit('minimum') ?? value) || value > (limit('maximum') ?? value)) return false
  if (
    rules.exclusiveMinimum === true
      ? value === rules.minimum
      : value <= (limit('exclusiveMinimum') ?? -Infinity)
  )
    return false
  if (
    rules.exclusiveMaximum === true
      ? value === rules.maximum
      : value >= (limit('exclusiveMaximum') ?? Infinity)
  )
    return false
  const step = limit('multipleOf')
  return step === undefined || isMultiple(value, step)
}

function isOf(value: Scalar, type: unknown): boolean {
  if (type === 'integer') return typeof value === 'number' && Number.isInteger(value)
  return type === typeof value
}

function matches(pattern: string, value: string): boolean {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags).test(value)
    } catch {}
  }
  return true
}

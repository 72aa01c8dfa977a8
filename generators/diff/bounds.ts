/**
 * Compares bounds, patterns and formats. A tighter one rejects requests; a looser one lets through values that
 * readers do not expect.
 */

import type { ArraySchema, NumberSchema, Schema, StringSchema } from '../ir/model.ts'
import { isMultiple } from '../runtime/explain/scalars.ts'
import {
  BOTH,
  type Compare,
  type ComparisonPosition,
  found,
  inside,
  NARROWING,
  places,
  REQUEST,
  WIDENING,
} from './position.ts'

interface NumericBound {
  readonly name: string
  readonly side: 'lower' | 'upper'
  readonly old: number | undefined
  readonly new: number | undefined
}

/** Compares one bound of both schemas. An absent bound counts as infinite; a minimum length of 0 counts as absent. */
export function compareBound(position: ComparisonPosition, a: Schema, b: Schema, bound: NumericBound): void {
  const absent = bound.side === 'lower' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  const [was, is] = [bound.old ?? absent, bound.new ?? absent]
  if (was === is) return
  const tighter = bound.side === 'lower' ? is > was : is < was
  const said = `${bound.name} is now ${bound.new ?? 'absent'}; it was ${bound.old ?? 'absent'}`
  if (tighter) found(position, 'bound-tightened', NARROWING, said, places(a, b))
  else found(position, 'bound-loosened', WIDENING, said, places(a, b))
}

const length = (value: number | undefined): number | undefined => (value === 0 ? undefined : value)

export function compareStrings(position: ComparisonPosition, a: StringSchema, b: StringSchema): void {
  compareBound(position, a, b, {
    name: 'minLength',
    side: 'lower',
    old: length(a.minLength),
    new: length(b.minLength),
  })
  compareBound(position, a, b, { name: 'maxLength', side: 'upper', old: a.maxLength, new: b.maxLength })
  comparePatterns(position, a, b)
  compareFormats(position, a, b)
}

/** Patterns that every string matches. Only `[\s\S]` includes line breaks, so the anchors matter next to `.*`. */
const ANY: ReadonlySet<string> = new Set([
  '',
  ...['.*', '^.*', '.*$'],
  ...['[\\s\\S]*', '^[\\s\\S]*', '[\\s\\S]*$', '^[\\s\\S]*$'],
])

/** Every string without line breaks matches it, so it usually means any string. */
const ANY_LINE = '^.*$'

function comparePatterns(position: ComparisonPosition, a: StringSchema, b: StringSchema): void {
  const [was, is] = [a, b].map(({ pattern }) => (ANY.has(pattern ?? '') ? undefined : pattern))
  if (was === is) return
  if (is !== undefined && (was === undefined || was === ANY_LINE))
    found(position, 'pattern-added', NARROWING, `must now match ${is}`, places(a, b))
  else if (is === undefined || is === ANY_LINE)
    found(position, 'pattern-removed', WIDENING, `no longer has to match ${was}`, places(a, b))
  else found(position, 'pattern-changed', BOTH, `must match ${b.pattern}, not ${a.pattern}`, places(a, b))
}

/** Pairs of formats; every value of the first also has the second. */
const HELD: readonly (readonly [string, string])[] = [
  ['int32', 'int64'],
  ['float', 'double'],
]

function compareFormats(
  position: ComparisonPosition,
  a: StringSchema | NumberSchema,
  b: StringSchema | NumberSchema,
): void {
  if (a.format === b.format) return
  const said = `format is now ${b.format ?? 'absent'}; it was ${a.format ?? 'absent'}`
  const within = (one?: string, other?: string) => HELD.some(([x, y]) => x === one && y === other)
  if (a.format === undefined) found(position, 'format-added', NARROWING, said, places(a, b))
  else if (b.format === undefined) found(position, 'format-removed', WIDENING, said, places(a, b))
  else if (within(a.format, b.format)) found(position, 'format-changed', WIDENING, said, places(a, b))
  else if (within(b.format, a.format)) found(position, 'format-changed', NARROWING, said, places(a, b))
  else found(position, 'format-changed', BOTH, said, places(a, b))
}

export function compareNumbers(position: ComparisonPosition, a: NumberSchema, b: NumberSchema): void {
  if (a.integer !== b.integer) {
    if (b.integer)
      found(position, 'type-narrowed', NARROWING, 'is now an integer; it was any number', places(a, b))
    else found(position, 'type-widened', WIDENING, 'is now any number; it was an integer', places(a, b))
  }
  const lower = { name: 'the minimum', side: 'lower' } as const
  const upper = { name: 'the maximum', side: 'upper' } as const
  compareLimit(position, a, b, lower, lowerLimit(a), lowerLimit(b))
  compareLimit(position, a, b, upper, upperLimit(a), upperLimit(b))
  compareFactors(position, a, b)
  compareFormats(position, a, b)
}

/**
 * A bound, and whether the bound itself is excluded. Exclusive bounds of integers are converted to inclusive ones.
 */
interface Limit {
  readonly value: number
  readonly exclusive: boolean
}

function lowerLimit(schema: NumberSchema): Limit | undefined {
  const { minimum, exclusiveMinimum } = schema
  if (exclusiveMinimum !== undefined && exclusiveMinimum >= (minimum ?? Number.NEGATIVE_INFINITY)) {
    return schema.integer
      ? { value: Math.floor(exclusiveMinimum) + 1, exclusive: false }
      : { value: exclusiveMinimum, exclusive: true }
  }
  return minimum === undefined ? undefined : { value: minimum, exclusive: false }
}

function upperLimit(schema: NumberSchema): Limit | undefined {
  const { maximum, exclusiveMaximum } = schema
  if (exclusiveMaximum !== undefined && exclusiveMaximum <= (maximum ?? Number.POSITIVE_INFINITY)) {
    return schema.integer
      ? { value: Math.ceil(exclusiveMaximum) - 1, exclusive: false }
      : { value: exclusiveMaximum, exclusive: true }
  }
  return maximum === undefined ? undefined : { value: maximum, exclusive: false }
}

function compareLimit(
  position: ComparisonPosition,
  a: Schema,
  b: Schema,
  bound: Pick<NumericBound, 'name' | 'side'>,
  old: Limit | undefined,
  next: Limit | undefined,
): void {
  if (old && next && old.value === next.value) {
    if (old.exclusive === next.exclusive) return
    const said = `${bound.name}, ${next.value}, is ${next.exclusive ? 'no longer' : 'now'} included`
    if (next.exclusive) found(position, 'bound-tightened', NARROWING, said, places(a, b))
    else found(position, 'bound-loosened', WIDENING, said, places(a, b))
  } else compareBound(position, a, b, { ...bound, old: old?.value, new: next?.value })
}

/** Returns the factor of a number schema, or undefined for an integer whose factor divides 1 and so has no effect. */
const stepOf = ({ integer, multipleOf }: NumberSchema): number | undefined =>
  multipleOf !== undefined && (!integer || !isMultiple(1, multipleOf)) ? multipleOf : undefined

function compareFactors(position: ComparisonPosition, a: NumberSchema, b: NumberSchema): void {
  const [was, is] = [stepOf(a), stepOf(b)]
  if (was === is) return
  const said =
    is === undefined ? `no longer has to be a multiple of ${was}` : `must now be a multiple of ${is}`
  if (was === undefined || (is !== undefined && isMultiple(is, was)))
    found(position, 'bound-tightened', NARROWING, said, places(a, b))
  else if (is === undefined || isMultiple(was, is))
    found(position, 'bound-loosened', WIDENING, said, places(a, b))
  else found(position, 'bound-tightened', BOTH, `${said}; it was ${was}`, places(a, b))
}

export function compareArrays(
  position: ComparisonPosition,
  a: ArraySchema,
  b: ArraySchema,
  compare: Compare,
): void {
  compareBound(position, a, b, {
    name: 'minItems',
    side: 'lower',
    old: length(a.minItems),
    new: length(b.minItems),
  })
  compareBound(position, a, b, { name: 'maxItems', side: 'upper', old: a.maxItems, new: b.maxItems })
  if (a.uniqueItems !== b.uniqueItems) {
    const said = b.uniqueItems ? 'items must now be unique' : 'items no longer have to be unique'
    if (b.uniqueItems) found(position, 'bound-tightened', NARROWING, said, places(a, b))
    else found(position, 'bound-loosened', WIDENING, said, places(a, b))
  }
  const checked = (schema: Schema) => schema.extensions['x-judged'] === 'each'
  if (checked(a) !== checked(b)) {
    const said = checked(b)
      ? 'items are now validated one by one'
      : 'items are now validated with the request'
    found(position, 'items-checked-changed', REQUEST, said, places(a, b), { mask: position.mask & REQUEST })
  }
  for (let index = 0; index < Math.max(a.prefix.length, b.prefix.length); index++) {
    compare(inside(position, `[${index}]`), a.prefix[index] ?? a.items, b.prefix[index] ?? b.items)
  }
  compare(inside(position, '[]'), a.items, b.items)
}

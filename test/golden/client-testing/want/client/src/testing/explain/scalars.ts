/** Checks the keywords of strings and numbers. */
import { type CheckOf, count, fault, type Json, listIn, numberIn } from './walk.ts'

export const patterns = new Map<string, RegExp>()

/** Compiles a pattern. JSON Schema uses Unicode mode; patterns that are invalid there are compiled without it. */
export function patternOf(text: string): RegExp {
  const known = patterns.get(text)
  if (known) return known
  let pattern: RegExp
  try {
    pattern = new RegExp(text, 'u')
  } catch {
    pattern = new RegExp(text)
  }
  patterns.set(text, pattern)
  return pattern
}

/** Counts code points, as JSON Schema requires. */
function codePoints(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

/** Number formats do not apply to strings. */
const NUMBER_FORMATS = ['int32', 'int64', 'float', 'double']

export function makeString(rules: Json): CheckOf<string> | undefined {
  const [least, most] = [numberIn(rules, 'minLength'), numberIn(rules, 'maxLength')]
  const pattern = typeof rules.pattern === 'string' ? patternOf(rules.pattern) : undefined
  const format =
    typeof rules.format === 'string' && !NUMBER_FORMATS.includes(rules.format) ? rules.format : undefined
  if (least === undefined && most === undefined && !pattern && format === undefined) return undefined
  const shape = pattern && describeShape(rules, pattern)
  return (walk, text) => {
    if (most !== undefined && text.length > most && (text.length > 2 * most || codePoints(text) > most)) {
      return fault(walk, 'maxLength', `must have at most ${count(most, 'character')}`)
    }
    // The pattern comes before the minimum length, because it is more specific: `x` is not an ID of any length.
    if (pattern && !pattern.test(text)) return fault(walk, 'pattern', `must ${shape}`)
    if (least !== undefined && text.length < 2 * least && codePoints(text) < least) {
      return fault(walk, 'minLength', `must have at least ${count(least, 'character')}`)
    }
    const check =
      format !== undefined && Object.hasOwn(walk.formats, format) ? walk.formats[format] : undefined
    if (check && !check(text)) fault(walk, 'format', `must be a valid ${format}`)
  }
}

/** Longer examples are harder to follow than a pattern. */
const MAX_EXAMPLE = 60

/** Describes a pattern by the schema's examples, if any of them match. */
function describeShape(rules: Json, pattern: RegExp): string {
  const fitting = listIn(rules, 'examples').filter(
    (each) => typeof each === 'string' && each.length <= MAX_EXAMPLE && pattern.test(each),
  )
  if (fitting.length === 0) return `match the pattern ${String(rules.pattern)}`
  return `look like ${fitting
    .slice(0, 2)
    .map((each) => JSON.stringify(each))
    .join(' or ')}`
}

/** `int32` restricts only numbers; it is informative for other types. */
const isNumeric = (type: unknown): boolean =>
  (Array.isArray(type) ? type : [type]).some((each) => each === 'integer' || each === 'number')

export function makeNumber(rules: Json): CheckOf<number> | undefined {
  const narrow = rules.format === 'int32' && isNumeric(rules.type)
  const least = numberIn(rules, 'minimum') ?? (narrow ? -(2 ** 31) : undefined)
  const most = numberIn(rules, 'maximum') ?? (narrow ? 2 ** 31 - 1 : undefined)
  // In OpenAPI 3.0 this keyword is a flag for the bound; in 3.1 it is the bound.
  const above = rules.exclusiveMinimum === true ? least : numberIn(rules, 'exclusiveMinimum')
  const below = rules.exclusiveMaximum === true ? most : numberIn(rules, 'exclusiveMaximum')
  const step = numberIn(rules, 'multipleOf')
  if ([least, most, above, below, step].every((each) => each === undefined)) return undefined
  return (walk, value) => {
    if (above !== undefined && value <= above)
      fault(walk, 'exclusiveMinimum', `must be greater than ${above}`)
    else if (least !== undefined && value < least) fault(walk, 'minimum', `must be at least ${least}`)
    if (below !== undefined && value >= below) fault(walk, 'exclusiveMaximum', `must be less than ${below}`)
    else if (most !== undefined && value > most) fault(walk, 'maximum', `must be at most ${most}`)
    if (step !== undefined && !isMultiple(value, step)) {
      fault(walk, 'multipleOf', `must be a multiple of ${step}`)
    }
  }
}

/**
 * Returns whether a decimal number is a multiple of a different one, for example 0.07 of 0.01. Compares the shortest
 * decimal representations, because the binary values are not exact.
 */
export function isMultiple(value: number, step: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return value % step === 0
  const [a, b] = [decimalOf(value), decimalOf(step)]
  if (b.digits === 0n) return false
  const shift = a.exponent - b.exponent
  return shift < 0
    ? a.digits % (b.digits * 10n ** BigInt(-shift)) === 0n
    : (a.digits * 10n ** BigInt(shift)) % b.digits === 0n
}

/** Converts a number to integer digits times a power of ten. */
function decimalOf(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [coefficient = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = coefficient.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

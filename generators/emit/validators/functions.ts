/** Functions that generated validators call. A file contains only those that it uses. */
import { stringLiteral } from '../../print/literal.ts'

/** String formats that are validated, with the validators of `ajv-formats`. Other formats are annotations. */
export const STRING_FORMATS = [
  'byte',
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'iso-date-time',
  'iso-time',
  'json-pointer',
  'json-pointer-uri-fragment',
  'regex',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'url',
  'uuid',
]

const FUNCTIONS = {
  isObject: `function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}`,
  own: `/** A property whose name every object inherits. */
function own(value, name) {
  return Object.hasOwn(value, name) ? value[name] : undefined
}`,
  length: `/** Characters as JSON Schema counts them: code points. */
function length(text) {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--
      at++
    }
  }
  return count
}`,
  closed: `/** Whether an object has only properties of these names, given how many of them it has. */
function closed(value, known, names) {
  for (const name in value) if (--known < 0 && !names.has(name)) return false
  if (known === 0) return true
  for (const name in value) if (!names.has(name)) return false
  return true
}`,
  unique: `/** Returns whether all items are different, in one loop. */
function unique(list) {
  const scalars = new Set()
  const others = new Set()
  for (const item of list) {
    const other = typeof item === 'object' && item !== null
    const seen = other ? others : scalars
    const mark = other ? canonical(item) : item
    if (seen.has(mark)) return false
    seen.add(mark)
  }
  return true
}`,
  canonical: `/** JSON with sorted names: the same for equal values. */
function canonical(value) {
  if (Array.isArray(value)) return \`[\${value.map(canonical).join()}]\`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = '{'
  for (const name of Object.keys(value).sort()) text += \`\${JSON.stringify(name)}:\${canonical(value[name])},\`
  return text
}`,
  isMultiple: `/** Whether one decimal number is a multiple of another, as both are written: 0.07 of 0.01. */
function isMultiple(value, step) {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return value % step === 0
  const [a, b] = [decimalOf(value), decimalOf(step)]
  if (b.digits === 0n) return false
  const shift = a.exponent - b.exponent
  return shift < 0
    ? a.digits % (b.digits * 10n ** BigInt(-shift)) === 0n
    : (a.digits * 10n ** BigInt(shift)) % b.digits === 0n
}

/** Converts the shortest spelling of a number to integer digits times a power of ten. */
function decimalOf(value) {
  const [coefficient, exponent = '0'] = String(value).split('e')
  const [whole, fraction = ''] = coefficient.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}`,
  pattern: `/** Compiles a pattern in Unicode mode, as JSON Schema requires, or without it if the pattern is invalid there. */
function pattern(text) {
  try {
    return new RegExp(text, 'u')
  } catch {
    return new RegExp(text)
  }
}`,
  equal: `function equal(a, b) {
  return canonical(a) === canonical(b)
}`,
  format: `function format(name) {
  const validator = formats.fullFormats[name]
  if (typeof validator === 'function') return validator
  return validator instanceof RegExp ? (value) => validator.test(value) : validator.validate
}`,
  guarded: `/** Makes a validator refuse a value that is nested too deeply for the stack, instead of throwing. */
function guarded(validator) {
  return (value) => {
    try {
      return validator(value)
    } catch (error) {
      if (error instanceof RangeError) return false
      throw error
    }
  }
}`,
} as const

/** Names that `validators.js` uses for itself, in addition to names with a `$`. */
export const OWN_NAMES: readonly string[] = [
  ...Object.keys(FUNCTIONS),
  'formats',
  'decimalOf',
  'Array',
  'BigInt',
  'Infinity',
  'JSON',
  'NaN',
  'Number',
  'Object',
  'RangeError',
  'RegExp',
  'Set',
  'String',
]

export type SharedFunction = keyof typeof FUNCTIONS

/** Prints the functions with these names, in a fixed order. */
export const printFunctions = (names: ReadonlySet<SharedFunction>): string =>
  Object.entries(FUNCTIONS)
    .filter(([name]) => names.has(name as SharedFunction))
    .map(([, text]) => `${text}\n\n`)
    .join('')

/**
 * Prints a regular expression in Unicode mode, as JSON Schema requires, or in the older mode if it is invalid
 * there.
 */
export function printPattern(pattern: string): string {
  try {
    new RegExp(pattern, 'u')
    return `new RegExp(${stringLiteral(pattern)}, 'u')`
  } catch {
    return `new RegExp(${stringLiteral(pattern)})`
  }
}

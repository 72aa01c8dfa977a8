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
  isObject: `function isObject(v) {
  return typeof v === 'object' && v !== null && !Array.isArray(v)
}`,
  own: `/** An own property. For names that all objects inherit, such as \`constructor\`. */
function own(v, name) {
  return Object.hasOwn(v, name) ? v[name] : undefined
}`,
  length: `/** Counts code points, as JSON Schema requires. */
function length(v) {
  let n = v.length
  for (let at = 0; at < v.length - 1; at++) {
    if ((v.charCodeAt(at) & 0xfc00) === 0xd800 && (v.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      n--
      at++
    }
  }
  return n
}`,
  closed: `/** Whether an object has only known properties. The caller has already found \`n\` of them. */
function closed(v, n, names) {
  for (const name in v) if (--n < 0 && !names.has(name)) return false
  if (n === 0) return true
  for (const name in v) if (!names.has(name)) return false
  return true
}`,
  unique: `/** Whether all items are different, in a single pass. */
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
  canonical: `/** JSON with sorted names, so that equal values give the same text. */
function canonical(v) {
  if (Array.isArray(v)) return \`[\${v.map(canonical).join()}]\`
  if (typeof v !== 'object' || v === null) return JSON.stringify(v)
  let text = '{'
  for (const name of Object.keys(v).sort()) text += \`\${JSON.stringify(name)}:\${canonical(v[name])},\`
  return text
}`,
  isMultiple: `/** Whether a decimal number is a multiple of a different one, for example 0.07 of 0.01. Binary values are not exact. */
function isMultiple(v, step) {
  if (Number.isSafeInteger(v) && Number.isSafeInteger(step)) return v % step === 0
  const [a, b] = [decimalOf(v), decimalOf(step)]
  if (b.digits === 0n) return false
  const shift = a.exponent - b.exponent
  return shift < 0
    ? a.digits % (b.digits * 10n ** BigInt(-shift)) === 0n
    : (a.digits * 10n ** BigInt(shift)) % b.digits === 0n
}

/** Converts the shortest spelling of a number to integer digits times a power of ten. */
function decimalOf(v) {
  const [coefficient, exponent = '0'] = String(v).split('e')
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
  return validator instanceof RegExp ? (v) => validator.test(v) : validator.validate
}`,
  guarded: `/** Makes a validator refuse a value that is nested too deeply for the stack, instead of throwing. */
function guarded(validator) {
  return (v) => {
    try {
      return validator(v)
    } catch (error) {
      if (error instanceof RangeError) return false
      throw error
    }
  }
}`,
} as const

/** Names that the file of all validators uses itself, in addition to those with a `$`. */
export const OWN_NAMES: readonly string[] = [
  ...Object.keys(FUNCTIONS),
  'formats',
  'Array',
  'JSON',
  'Number',
  'Object',
  'RangeError',
  'RegExp',
  'Set',
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

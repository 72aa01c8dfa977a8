/**
 * Generates numbers and strings that satisfy their schema. If constraints contradict each other or are too large,
 * the values do not fit; laws skip those.
 */
import fc from 'fast-check'
import type { Schema, StringSchema } from '../ir/model.ts'
import { patternOf } from '../runtime/explain/scalars.ts'
import { trying } from './arbitrary-kinds.ts'

const SPAN = 2_000_000

export function numbers(schema: Extract<Schema, { kind: 'number' }>): fc.Arbitrary<number> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const isAbove = exclusiveMinimum !== undefined && exclusiveMinimum >= (minimum ?? exclusiveMinimum)
  const isBelow = exclusiveMaximum !== undefined && exclusiveMaximum <= (maximum ?? exclusiveMaximum)
  const [least, most] = [isAbove ? exclusiveMinimum : minimum, isBelow ? exclusiveMaximum : maximum]
  const min = least ?? (most !== undefined && most < SPAN / -2 ? most - SPAN : SPAN / -2)
  const max = most ?? min + SPAN
  if (schema.integer || schema.multipleOf !== undefined) {
    const step = schema.multipleOf ?? 1
    const from = Math.max(Math.ceil(min / step) + (isAbove && min % step === 0 ? 1 : 0), -SAFE)
    const to = Math.min(Math.floor(max / step) - (isBelow && max % step === 0 ? 1 : 0), SAFE)
    // Rounded, because 3 × 0.1 is not 0.3 in binary floating point.
    return from > to
      ? fc.constant(min)
      : fc
          .integer({ min: from, max: to })
          .map((each) => (Number.isInteger(step) ? each * step : Number((each * step).toPrecision(12))))
  }
  if (min > max || (min === max && (isAbove || isBelow))) return fc.constant(min)
  return fc.double({
    min,
    max,
    minExcluded: isAbove,
    maxExcluded: isBelow,
    noNaN: true,
    noDefaultInfinity: true,
  })
}

const SAFE = Number.MAX_SAFE_INTEGER

const times = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': times.map((date) => date.toISOString()),
  'iso-date-time': times.map((date) => date.toISOString()),
  date: times.map((date) => date.toISOString().slice(0, 10)),
  time: times.map((date) => date.toISOString().slice(11)),
  'iso-time': times.map((date) => date.toISOString().slice(11)),
  duration: fc.constantFrom('P1D', 'PT15M', 'P1Y2M3DT4H5M6S', 'P2W'),
  uri: fc.constantFrom('https://example.test/a', 'https://hooks.example.test/b?c=d'),
  url: fc.constantFrom('https://example.test/a', 'https://hooks.example.test/b?c=d'),
  'uri-reference': fc.constantFrom('/a/b', 'https://example.test/a#b', '?c=d'),
  'uri-template': fc.constantFrom('/books/{id}', 'https://example.test/a{?page,size}'),
  iri: fc.constantFrom('https://example.test/ä'),
  'iri-reference': fc.constantFrom('/ä'),
  email: fc.constantFrom('ada@example.test', 'b@example.test'),
  'idn-email': fc.constantFrom('ada@example.test'),
  hostname: fc.constantFrom('example.test', 'a', 'hooks-1.example.test'),
  'idn-hostname': fc.constantFrom('example.test'),
  uuid: fc.uuid(),
  ipv4: fc.ipV4(),
  ipv6: fc.constantFrom('2001:db8::1', '::1', 'fe80:0:0:0:1:2:3:4'),
  regex: fc.constantFrom('^a+$', '[0-9]{2}'),
  'json-pointer': fc.constantFrom('', '/a/0', '/a~1b'),
  'json-pointer-uri-fragment': fc.constantFrom('#', '#/a/0'),
  'relative-json-pointer': fc.constantFrom('0', '1/a'),
  byte: fc.uint8Array({ maxLength: 12 }).map((bytes) => btoa(String.fromCharCode(...bytes))),
}

/** Cached string arbitraries by constraints; compiling the same patterns again would dominate the run time. */
const texts = new Map<string, fc.Arbitrary<string>>()

export function strings(schema: StringSchema): fc.Arbitrary<string> {
  const key = JSON.stringify([schema.pattern, schema.format, schema.minLength, schema.maxLength])
  const known = texts.get(key) ?? makeStrings(schema)
  texts.set(key, known)
  return known
}

/** Maximum length of generated strings, regardless of the document. */
const MAX_LENGTH = 4096
const TYPICAL_LENGTH = 12

function makeStrings(schema: StringSchema): fc.Arbitrary<string> {
  const { pattern, format = '' } = schema
  const minLength = Math.min(Math.max(Math.ceil(schema.minLength ?? 0), 0), MAX_LENGTH)
  const maxLength = Math.max(schema.maxLength ?? TYPICAL_LENGTH, minLength)
  const plain = fc.string({ minLength, maxLength: Math.min(maxLength, Math.max(minLength, TYPICAL_LENGTH)) })
  const own = pattern === undefined ? undefined : matching(pattern)
  const made = own ?? FORMATS[format]
  if (!made) return plain
  const isBounded = schema.minLength !== undefined || schema.maxLength !== undefined
  if (!isBounded && (!own || !FORMATS[format])) return made
  const matches = pattern === undefined ? undefined : patternOf(pattern)
  const fits = (text: string) =>
    text.length >= minLength &&
    text.length <= (schema.maxLength ?? Number.POSITIVE_INFINITY) &&
    matches?.test(text) !== false
  return trying(own && FORMATS[format] ? fc.oneof(made, FORMATS[format]) : made, fits)
}

/** Returns undefined for a pattern that strings cannot be generated for, such as one with lookahead. */
function matching(pattern: string): fc.Arbitrary<string> | undefined {
  try {
    return fc.stringMatching(patternOf(pattern))
  } catch {
    return undefined
  }
}

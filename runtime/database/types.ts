import pg from 'pg'

const INT8 = 20
const DATE = 1082
const TIMESTAMPTZ = 1184

/** A digit's value at a position of an ISO text. */
function pair(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48
}

/** Milliseconds after the dot: PostgreSQL leaves zeros at the end away. */
function fraction(text: string, end: number): number {
  let value = 0
  for (let at = 20, weight = 100; at < end && weight >= 1; at += 1, weight /= 10) {
    value += (text.charCodeAt(at) - 48) * weight
  }
  return value
}

/** `2026-05-19 12:34:56.789+00` as milliseconds since the epoch; infinity stays infinite. */
export function parseTimestamp(text: string): number {
  if (text === 'infinity') return Number.POSITIVE_INFINITY
  if (text === '-infinity') return Number.NEGATIVE_INFINITY
  const zone = text.length - 3
  if (text.charCodeAt(10) !== 32 || !text.endsWith('+00')) return parseOtherTimestamp(text)
  const year = pair(text, 0) * 100 + pair(text, 2)
  const whole = Date.UTC(
    year,
    pair(text, 5) - 1,
    pair(text, 8),
    pair(text, 11),
    pair(text, 14),
    pair(text, 17),
  )
  return zone > 19 ? whole + fraction(text, zone) : whole
}

/**
 * Sessions in other zones, for operators' databases that set one. A timestamp outside the years 1 to 9999 is NaN: one such row
 * must not keep the rest of an answer from being read, and `toTimestamp` and the API refuse to write it.
 */
function parseOtherTimestamp(text: string): number {
  return Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
}

/**
 * A number, or a bigint beyond the range in which numbers are exact. So a row with such a value is read with the others of its
 * answer, and what calculates with it or writes it as JSON throws a TypeError for this row alone; it is never rounded.
 */
function parseInt8(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

function asText(text: string): string {
  return text
}

/**
 * How values arrive: timestamptz as milliseconds since the epoch, bigint as number (as bigint beyond ±2^53),
 * numeric and date as text, the rest as pg does it.
 */
export const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (format === undefined || format === 'text') {
      if (oid === TIMESTAMPTZ) return parseTimestamp
      if (oid === INT8) return parseInt8
      if (oid === DATE) return asText
    }
    return pg.types.getTypeParser(oid, format)
  },
}

/** A bigint of the database as a number. Throws a RangeError if it is beyond the range in which numbers are exact. */
export function requireExact(value: number, what: string): number {
  if (Number.isSafeInteger(value)) return value
  throw new RangeError(`${what} is ${value}, which is beyond the range of exact numbers`)
}

/** Milliseconds since the epoch as a value for a timestamptz parameter. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString()
}

import pg from 'pg'

const INT8 = 20
const DATE = 1082
const TIMESTAMPTZ = 1184

/** Reads two digits of an ISO timestamp as a number. */
function pair(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48
}

/** Milliseconds after the dot. PostgreSQL omits trailing zeros. */
function fraction(text: string, end: number): number {
  let value = 0
  for (let at = 20, weight = 100; at < end && weight >= 1; at += 1, weight /= 10) {
    value += (text.charCodeAt(at) - 48) * weight
  }
  return value
}

/** Parses `2026-05-19 12:34:56.789+00` to milliseconds since the epoch. Infinity stays infinite. */
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
 * Parses other formats, for databases in which an operator sets a different time zone. A timestamp outside the years 1
 * to 9999 becomes NaN, so that one such row does not make the other rows unreadable. `toTimestamp` and the API refuse
 * to write NaN.
 */
function parseOtherTimestamp(text: string): number {
  return Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
}

/**
 * Returns a bigint if the value exceeds the safe integer range; values are never rounded. The row can still be read
 * with the others of its result. Arithmetic on the value or JSON serialization throws a TypeError for this row only.
 */
function parseInt8(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

function asText(text: string): string {
  return text
}

/**
 * Type parsers: timestamptz becomes milliseconds since the epoch, bigint a number (a bigint beyond ±2^53), and numeric
 * and date stay text. Other types use the parsers of pg.
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

/** Returns a database bigint as a number. Throws a RangeError if the value is outside the safe integer range. */
export function requireExact(value: number, what: string): number {
  if (Number.isSafeInteger(value)) return value
  throw new RangeError(`${what} is ${value}, which is beyond the range of exact numbers`)
}

/** Formats milliseconds since the epoch for a timestamptz parameter. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString()
}

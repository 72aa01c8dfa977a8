/** RFC 3339, and what else the format `date-time` of the documents' validators lets through: a space, an offset without colon or minutes. */
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt\s](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?))?$/

/** The years that the interface can write, in UTC. */
const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00.000Z')
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads a date (its first instant in UTC) or a date and time with offset, ISO 8601: the one reader of every instant that
 * callers send. Gives milliseconds since the epoch; a half stands for whatever lies between two of them. Undefined for
 * what no calendar has, such as 30 February, and for what lies outside the years 0001 to 9999 in UTC.
 */
export function parseInstant(text: string): number | undefined {
  const parts = INSTANT.exec(text)
  if (!parts) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0))
  if (hour! > 23 || minute! > 59 || second! > 59) return undefined
  const date = new Date(0)
  // Date.UTC reads the years 0 to 99 as those of the last century.
  date.setUTCFullYear(year!, month! - 1, day!)
  // A day that its month lacks becomes another day, a month that there is not another year.
  if (date.getUTCFullYear() !== year || date.getUTCDate() !== day) return undefined
  const [offsetHours, offsetMinutes] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)]
  if (offsetHours > 23 || offsetMinutes > 59) return undefined
  const local = date.setUTCHours(hour!, minute, second)
  const offset = (offsetHours * 60 + offsetMinutes) * (parts[8] === '-' ? -60_000 : 60_000)
  const digits = (parts[7] ?? '').padEnd(3, '0')
  const instant = local - offset + Number(digits.slice(0, 3))
  if (instant < FIRST_INSTANT || instant > LAST_INSTANT) return undefined
  // No half after the last millisecond: rounded up, it would lie in the year 10000.
  return instant < LAST_INSTANT && /[1-9]/.test(digits.slice(3)) ? instant + 0.5 : instant
}

const DAY_MS = 86_400_000

/** `00` to `99`. */
const PAIRS = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'))

let writtenDay = Number.NaN
let writtenDate = ''

/**
 * Writes an instant as the interface shows them: UTC with milliseconds. By hand and with the last date kept, because a list
 * shows a hundred of them and `toISOString` takes six times as long.
 *
 * @param ms whole milliseconds since the epoch, in the years 0001 to 9999.
 */
export function writeInstant(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (day !== writtenDay) {
    writtenDate = new Date(ms).toISOString().slice(0, 11)
    writtenDay = day
  }
  const rest = ms - day * DAY_MS
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  const fraction = rest - seconds * 1000
  const tens = Math.floor(fraction / 10)
  return `${writtenDate}${PAIRS[Math.floor(minutes / 60)]}:${PAIRS[minutes % 60]}:${PAIRS[seconds % 60]}.${PAIRS[tens]}${fraction - tens * 10}Z`
}

/** The second that an instant lies in; both in milliseconds. */
export function floorToSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d)))?$/

/**
 * Reads a date (its first instant in UTC) or a date and time with offset, ISO 8601. Gives milliseconds since the epoch;
 * a half stands for whatever lies between two of them. Undefined for what no calendar has, such as 30 February.
 */
export function parseInstant(text: string): number | undefined {
  const parts = INSTANT.exec(text)
  if (!parts) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0))
  const local = Date.UTC(year!, month! - 1, day!, hour, minute, second)
  const date = new Date(local)
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) {
    return undefined
  }
  if (hour! > 23 || minute! > 59 || second! > 59) return undefined
  const offset = Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)
  const digits = (parts[7] ?? '.').slice(1).padEnd(3, '0')
  const fraction = Number(digits.slice(0, 3)) + (/[1-9]/.test(digits.slice(3)) ? 0.5 : 0)
  return local + fraction - (parts[8] === '-' ? -offset : offset) * 60_000
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

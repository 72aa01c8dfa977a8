/** Windows of local time on weekdays. */
import type { components } from '../../../generated/canonical/types.ts'

type AllowedTimes = components['schemas']['AllowedTimes']
type Weekday = components['schemas']['Weekday']

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const satisfies readonly Weekday[]

/** Sunday is the first day of `Date.getUTCDay`. */
const weekdayOf = (day: number): Weekday => WEEKDAYS[(day + 6) % 7]!

const MINUTE_MS = 60_000
const QUARTER_MS = 15 * MINUTE_MS

/** The offset of a time zone in a quarter of an hour. Offsets change only between quarters. */
interface KnownOffset {
  readonly quarter: number
  readonly offsetMs: number
}

interface Zone {
  readonly format: Intl.DateTimeFormat
  last: KnownOffset | undefined
}

/** By name, as callers spell it. */
const zones = new Map<string, Zone>()

/** There are about 600 time zones, but each name has many spellings, because case does not matter. */
const MAX_ZONES = 2000

/** Whether the runtime knows an IANA time zone. Offsets such as `+02:00` are not time zones. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && zoneOf(name) !== undefined
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Throws `RangeError` for an unknown time zone, which is never stored. */
function zoneOf(name: string): Zone {
  const known = zones.get(name)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const zone = { format, last: undefined }
  if (zones.size >= MAX_ZONES) zones.clear()
  zones.set(name, zone)
  return zone
}

/** Returns an instant whose UTC fields are the local time at `at`. Many instants lie in the same quarter of an hour. */
function localOf(name: string, at: number): Date {
  const zone = zoneOf(name)
  const quarter = Math.floor(at / QUARTER_MS)
  if (zone.last?.quarter !== quarter) {
    const start = quarter * QUARTER_MS
    const parts = Object.fromEntries(
      zone.format.formatToParts(start).map(({ type, value }) => [type, Number(value)]),
    )
    const { year, month, day, hour, minute, second } = parts as Readonly<Record<string, number>>
    const local = Date.UTC(year!, month! - 1, day, hour, minute, second)
    zone.last = { quarter, offsetMs: local - start }
  }
  return new Date(at + zone.last.offsetMs)
}

/** Returns the minutes since midnight of `hh:mm`. */
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/**
 * Returns whether an instant lies in a window. The local clock decides: an hour that the clock repeats is twice in the
 * window, and an hour that it leaves out is in no window. A window whose end is before its start ends on the next day.
 * @param at milliseconds since the epoch.
 */
export function isWithin({ days, start, end, time_zone }: AllowedTimes, at: number): boolean {
  const local = localOf(time_zone, at)
  const minute = local.getUTCHours() * 60 + local.getUTCMinutes()
  const day = local.getUTCDay()
  const [from, until] = [minutesOf(start), minutesOf(end)]
  const begins = days.includes(weekdayOf(day))
  if (from < until) return begins && from <= minute && minute < until
  return (begins && minute >= from) || (days.includes(weekdayOf(day + 6)) && minute < until)
}

/** The time zone in which a page shows times. */
import { AsyncLocalStorage } from 'node:async_hooks'

const UTC = 'UTC'

const zones = new AsyncLocalStorage<string>()

/** Runs work whose pages show times in a time zone. Times outside such work are in UTC. @param zone an IANA name. */
export function inTimeZone<Result>(zone: string | null, work: () => Result): Result {
  return zones.run(zone ?? UTC, work)
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  })
  formats.set(zone, made)
  return made
}

/** Formats a time in the time zone of the page, such as `2026-11-26 21:40:39 CET`. */
export function writeInstant(time: Date): string {
  const parts = formatIn(zones.getStore() ?? UTC).formatToParts(time)
  const of = Object.fromEntries(parts.map(({ type, value }) => [type, value]))
  return `${of.year}-${of.month}-${of.day} ${of.hour}:${of.minute}:${of.second} ${of.timeZoneName}`
}

/** Returns the IANA name in its usual spelling, or undefined if the text is not the name of a time zone. */
export function readTimeZone(text: string): string | undefined {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+){0,2}$/.test(text)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Returns all time zones by IANA name, UTC first. */
export function listTimeZones(): readonly string[] {
  return [UTC, ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== UTC)]
}

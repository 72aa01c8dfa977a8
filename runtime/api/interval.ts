/** Reads the interval of a request that looks back at records. */
import type { Detail } from 'dateline/runtime'
import { parseInstant, writeInstant } from '../platform/instants.ts'
import { validationFailed } from './errors/errors.ts'

/** Five years, including leap days. */
const MAX_INTERVAL_MS = (5 * 365 + 2) * 86_400_000

/** Milliseconds since the epoch. The end is not part of the interval. */
interface Interval {
  readonly interval_start: number
  readonly interval_end: number
}

/**
 * Reads the interval. Throws `validation_failed` if it is empty, too long, or not over yet.
 * @param now service time.
 */
export function readInterval(body: Readonly<Record<keyof Interval, string>>, now: number): Interval {
  const faults: Detail[] = []
  const read = (field: keyof Interval) => {
    const instant = parseInstant(body[field])
    if (instant === undefined)
      faults.push({ field, issue: 'must be a UTC timestamp in the years 0001 to 9999' })
    return Math.ceil(instant ?? 0) // records are dated in whole milliseconds
  }
  const [interval_start, interval_end] = [read('interval_start'), read('interval_end')]
  const refuse = (issue: string) => faults.push({ field: 'interval_end', issue })
  if (faults.length === 0) {
    if (interval_end <= interval_start) refuse('must be after interval_start')
    else if (interval_end - interval_start > MAX_INTERVAL_MS)
      refuse('must be at most five years after interval_start')
    else if (interval_end > now)
      refuse(`must not be in the future: the service clock is at ${writeInstant(now)}`)
  }
  if (faults.length > 0) throw validationFailed(faults)
  return { interval_start, interval_end }
}

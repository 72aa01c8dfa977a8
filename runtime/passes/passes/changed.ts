/**
 * Computes the `Last-Modified` time of a pass file: the last change of anything that the file shows.
 *
 * Devices send the value back to ask for news, so two states of a pass must never share it. The pass and its template
 * can both change, even in the same second. Each change therefore moves the value forward by at least one second, ahead
 * of the clock if necessary. Times are milliseconds since the epoch, in whole seconds.
 */
import { floorToSecond } from '../../platform/instants.ts'
import { type StatusFacts, statusAt } from './status.ts'

const SECOND = 1000

export interface ChangeFacts extends StatusFacts {
  /** Set by the last change of the pass itself. */
  readonly changed: number
  /** Template revision at that change. */
  readonly seen_revision: number
  /** Time of the last template change. */
  readonly template_changed: number
  /** Number of template changes. */
  readonly template_revision: number
}

/**
 * Returns the time of the last visible change. An expiry counts from `expires_at` on, even before a worker records it.
 *
 * @param now service time.
 */
export function changedAt(pass: ChangeFacts, now: number): number {
  const { expires_at, status, changed, seen_revision, template_changed, template_revision } = pass
  const written = Math.max(template_changed, changed + (template_revision - seen_revision) * SECOND)
  const isOverdue = expires_at !== null && statusAt(pass, now) !== status
  return isOverdue ? Math.max(written + SECOND, floorToSecond(expires_at)) : written
}

/**
 * Returns the columns to write with a change of the pass. The caller must hold the template's lock: otherwise a
 * concurrent template change could end up with the same time.
 */
export function changeNow(pass: ChangeFacts, now: number): Pick<ChangeFacts, 'changed' | 'seen_revision'> {
  return {
    changed: Math.max(floorToSecond(now), changedAt(pass, now) + SECOND),
    seen_revision: pass.template_revision,
  }
}

/** Returns the columns to write when an expiry is recorded: the time that callers have seen since `expires_at`. */
export function changeAtExpiry(
  pass: ChangeFacts,
  now: number,
): Pick<ChangeFacts, 'changed' | 'seen_revision'> {
  return { changed: changedAt(pass, now), seen_revision: pass.template_revision }
}

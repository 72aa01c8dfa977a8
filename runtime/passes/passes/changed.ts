/**
 * When what a pass's file shows changed last: its `Last-Modified`. Devices send that back to ask whether there is anything
 * new, so no two states of a pass may have the same one, whether the pass changed, its template, or both at once. Each change
 * moves it by a second at least, ahead of the clock where changes come faster. Times in milliseconds, whole seconds.
 */
import { floorToSecond } from '../../platform/instants.ts'
import { type StatusFacts, statusAt } from './status.ts'

const SECOND = 1000

/** What it follows from. */
export interface ChangeFacts extends StatusFacts {
  /** As the last change of the pass itself set it. */
  readonly changed: number
  /** The template's revision at that time. */
  readonly seen_revision: number
  /** When the template changed last. */
  readonly template_changed: number
  /** How often the template changed. */
  readonly template_revision: number
}

/** @param now service time: an expiry counts from its instant on, though nobody has written it down yet. */
export function changedAt(pass: ChangeFacts, now: number): number {
  const { expires_at, status, changed, seen_revision, template_changed, template_revision } = pass
  const written = Math.max(template_changed, changed + (template_revision - seen_revision) * SECOND)
  const isOverdue = expires_at !== null && statusAt(pass, now) !== status
  return isOverdue ? Math.max(written + SECOND, floorToSecond(expires_at)) : written
}

/** What a change of the pass writes. The template must be locked with it: a change that is not seen could hide this one. */
export function changeNow(pass: ChangeFacts, now: number): Pick<ChangeFacts, 'changed' | 'seen_revision'> {
  return {
    changed: Math.max(floorToSecond(now), changedAt(pass, now) + SECOND),
    seen_revision: pass.template_revision,
  }
}

/** What is written with an expiry: what everybody has been shown since its instant. */
export function changeAtExpiry(
  pass: ChangeFacts,
  now: number,
): Pick<ChangeFacts, 'changed' | 'seen_revision'> {
  return { changed: changedAt(pass, now), seen_revision: pass.template_revision }
}

/** Events as the tenant's version shows them. */
import { isDeepStrictEqual } from 'node:util'
import type { EmittedEvent, EventView, NewEvent } from '../contract.ts'
import { newId } from '../platform/ids.ts'
import { writeInstant } from '../platform/instants.ts'

/** The tables of generated/events.ts: views by version and type. */
export type EventViews = Readonly<Record<string, Readonly<Record<string, EventView>>>>

/** An event ready to be written. */
export interface RenderedEvent extends EmittedEvent {
  /** What was rendered, in the form of the canonical version; absent where the body says the same. */
  readonly source?: { readonly data: unknown; readonly before?: unknown }
  /** Service time, milliseconds since the epoch. */
  readonly created: number
  readonly recipients?: NewEvent['recipients']
}

type Members = Readonly<Record<string, unknown>>

interface WholeEvent {
  readonly data: Members
  readonly previous_attributes?: unknown
}

/**
 * Renders an event in a version, once and for all. Undefined where the version does not know the type: there it never
 * happens. An event of change tells what the changed properties were before: both states are rendered whole and then
 * compared, so that it speaks of what the receiver can see. Undefined too when nothing but `updated` changed.
 *
 * @param now service time, milliseconds since the epoch.
 */
export function renderEvent(
  views: EventViews,
  version: string,
  event: NewEvent,
  now: number,
): RenderedEvent | undefined {
  const { type, data, before, recipients } = event
  const view = views[version]?.[type]
  if (!view) return undefined
  const id = newId('evt', now)
  const at = writeInstant(now)
  const show = (state: Members): WholeEvent => {
    const whole = { id, object: 'event', type, version, emitted_at: at, created: at, data: state }
    const told = before ? { ...whole, previous_attributes: {} } : whole
    return view.down ? (view.down(told) as WholeEvent) : told
  }
  const shown = show(data)
  let previous: Members | undefined
  if (before) {
    previous = changedMembers(show(before).data, shown.data)
    if (Object.keys(previous).every((name) => name === 'updated')) return undefined
  }
  const body = JSON.stringify(shown.previous_attributes ? { ...shown, previous_attributes: previous } : shown)
  return {
    id,
    type,
    version,
    body,
    created: now,
    ...(view.down && { source: before ? { data, before } : { data } }),
    ...(recipients && { recipients }),
  }
}

/** Of the one object in `data`: its members that differ, as they were. */
function changedMembers(before: Members, after: Members): Members {
  const [name] = Object.keys(after)
  return name === undefined ? {} : previousOf(before[name] as Members, after[name] as Members)
}

/** Members of maps are told one by one, anything else whole; null stands for what was not there. */
function previousOf(before: Members, after: Members): Members {
  const previous: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]]
    if (isDeepStrictEqual(old, now)) continue
    previous[name] = isMap(old) && isMap(now) ? previousOf(old, now) : (old ?? null)
  }
  return previous
}

function isMap(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

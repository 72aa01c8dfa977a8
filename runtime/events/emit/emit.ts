/** Events: emitted by whoever changes something, rendered at once as the tenant's version shows them, and written with the change. */

import { isDeepStrictEqual } from 'node:util'
import type { EventView } from 'dateline/runtime'
import type { EventPayloads } from '../../../generated/canonical/events.ts'
import { events as views } from '../../../generated/events.ts'
import { versions } from '../../../generated/versions.ts'
import type { Database } from '../../database/database.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import { appendEvents, type EmittedEvent, type NewEvent, type RenderedEvent } from './queries.ts'

/** Types whose events carry `previous_attributes`. */
type ChangeType = {
  [Type in keyof EventPayloads]: EventPayloads[Type] extends { previous_attributes: unknown } ? Type : never
}[keyof EventPayloads]

/** A typed event: what belongs to its type, and the state before where it tells of a change. */
export type TypedEvent<Type extends keyof EventPayloads> = {
  readonly type: Type
  readonly data: EventPayloads[Type]['data']
  readonly recipients?: NewEvent['recipients']
} & (Type extends ChangeType ? { readonly before: EventPayloads[Type]['data'] } : { readonly before?: never })

/** Whoever collects events for a transaction: the context of a request, or a worker's own. */
export interface EventSink {
  emit(event: NewEvent): EmittedEvent | undefined
}

/**
 * Records that something happened; it is written with the rest of the transaction, or not at all.
 *
 * @returns the event as it will be sent; undefined where the tenant's version does not have its type, or nothing changed.
 */
export function emit<Type extends keyof EventPayloads>(
  emitter: EventSink,
  event: TypedEvent<Type>,
): EmittedEvent | undefined {
  return emitter.emit(event as NewEvent)
}

type SunsetVersion = Pick<(typeof versions)[number], 'name' | 'sunset'>

/**
 * The version in which a tenant's events are rendered: its pin; the oldest that is still answered where the pin is past
 * its sunset; the newest where there is no pin.
 *
 * @param now service time, milliseconds since the epoch.
 */
export function renderingVersion(
  pin: string | null,
  now: number,
  all: readonly SunsetVersion[] = versions,
): string {
  const isAnswered = ({ sunset }: SunsetVersion) => sunset === undefined || Date.parse(sunset) > now
  const pinned = pin === null ? all.at(-1) : all.find(({ name }) => name === pin)
  const version = pinned && isAnswered(pinned) ? pinned : all.find(isAnswered)
  if (!version) throw new Error('every version is past its sunset')
  return version.name
}

/** How a tenant's events are rendered. */
export interface RenderingScope {
  /** What the tenant is pinned to in the environment. */
  readonly pin: string | null
  /** Service time, milliseconds since the epoch. */
  readonly now: number
}

/** An event as the tenant will see it; undefined where its version has no such type, or nothing visible changed. */
export function renderFor({ pin, now }: RenderingScope, event: NewEvent): RenderedEvent | undefined {
  return renderEvent(views, renderingVersion(pin, now), event, now)
}

/** Who the events are about and how they are rendered. */
export interface EmissionScope extends RenderingScope {
  readonly tenantId: string
}

/**
 * Collects events and writes them into the transaction; gives whether there may be attempts to plan. Call `write` when
 * everything else of the transaction has been sent, before the audit log: it locks the end of the tenant's sequence.
 */
export function collectEvents(scope: EmissionScope): EventSink & { write(db: Database): Promise<boolean> } {
  const rendered: RenderedEvent[] = []
  return {
    emit(event) {
      const each = renderFor(scope, event)
      if (each) rendered.push(each)
      return each
    },
    write: (db) => appendEvents(db, scope.tenantId, rendered),
  }
}

/** The tables of generated/events.ts: views by version and type. */
export type EventViews = Readonly<Record<string, Readonly<Record<string, EventView>>>>

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
    return view.down ? (view.down(told as never) as WholeEvent) : told
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

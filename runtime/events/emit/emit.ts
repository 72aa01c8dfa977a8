/**
 * Renders events in the version that the tenant is pinned to, and writes them in the transaction that caused them.
 */

import { isDeepStrictEqual } from 'node:util'
import type { EventView } from 'dateline/runtime'
import type { EventPayloads } from '../../../generated/canonical/events.ts'
import { events as views } from '../../../generated/events.ts'
import { versions } from '../../../generated/versions.ts'
import type { Database } from '../../database/database.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { AuditEntry } from '../../tenants/audit/entry.ts'
import { contextToStore } from '../../tracing/span.ts'
import {
  appendEvents,
  appendEventsAndEntries,
  type EmittedEvent,
  type NewEvent,
  type RenderedEvent,
} from './queries.ts'

/** Event types whose events carry `previous_attributes`. */
type ChangeType = {
  [Type in keyof EventPayloads]: EventPayloads[Type] extends { previous_attributes: unknown } ? Type : never
}[keyof EventPayloads]

/** Event types that change how many passes have which status. Every write of a pass status emits one of them. */
type PassType = Extract<keyof EventPayloads, `pass.${string}`>

/**
 * An event with the payload of its type. A change event also needs `before`, the state before the change, and an event of a
 * pass needs the change of the pass counts.
 */
export type TypedEvent<Type extends keyof EventPayloads> = {
  readonly type: Type
  readonly data: EventPayloads[Type]['data']
  readonly recipients?: NewEvent['recipients']
} & (Type extends ChangeType
  ? { readonly before: EventPayloads[Type]['data'] }
  : { readonly before?: never }) &
  (Type extends PassType ? { readonly passMove: string } : { readonly passMove?: never })

/** Collects the events of a transaction: the context of a request, or the collector of a worker. */
export interface EventSink {
  emit(event: NewEvent): EmittedEvent | undefined
}

/**
 * Records an event, which is written with the rest of the transaction or not at all.
 *
 * @returns the event as it will be sent; undefined if the tenant's version lacks the event type, or if nothing
 * changed.
 */
export function emit<Type extends keyof EventPayloads>(
  emitter: EventSink,
  event: TypedEvent<Type>,
): EmittedEvent | undefined {
  return emitter.emit(event as NewEvent)
}

type SunsetVersion = Pick<(typeof versions)[number], 'name' | 'sunset'>

/**
 * Returns the version in which a tenant's events are rendered. This is the pinned version, or the newest one if the
 * tenant has no pin. If the pinned version is past its sunset, it is the oldest version that is not.
 *
 * @param now service time, milliseconds since the epoch.
 * @throws Error if every version is past its sunset.
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

export interface RenderingScope {
  /** The version that the tenant is pinned to in the environment; null if there is no pin. */
  readonly pin: string | null
  /** Service time, milliseconds since the epoch. */
  readonly now: number
}

/**
 * Renders an event for a tenant. Returns undefined if the tenant's version lacks the type, or if nothing visible
 * changed.
 */
export function renderFor({ pin, now }: RenderingScope, event: NewEvent): RenderedEvent | undefined {
  return renderEvent(views, renderingVersion(pin, now), event, now)
}

/** The tenant whose events are emitted, and how they are rendered. */
export interface EmissionScope extends RenderingScope {
  readonly tenantId: string
}

/** Collects events, and writes them into a transaction. */
export interface EventCollector extends EventSink {
  /**
   * Resolves with whether there may be attempts to plan. It locks the end of the tenant's sequence, so call it after every
   * other statement of the transaction except the audit entry.
   */
  write(db: Database): Promise<boolean>
  /** Also writes audit entries, as the last statements of the transaction. @param isDistributed see `appendEventsAndEntries` */
  writeWith(db: Database, entries: readonly AuditEntry[], isDistributed: boolean): Promise<boolean>
}

export function collectEvents(scope: EmissionScope): EventCollector {
  const rendered: RenderedEvent[] = []
  return {
    emit(event) {
      const each = renderFor(scope, event)
      if (each) rendered.push(each)
      return each
    },
    write: (db) => appendEvents(db, scope.tenantId, rendered),
    writeWith: (db, entries, isDistributed) =>
      appendEventsAndEntries(db, scope.tenantId, rendered, entries, isDistributed),
  }
}

/** The tables of generated/events.ts: event views by version and type. */
export type EventViews = Readonly<Record<string, Readonly<Record<string, EventView>>>>

type Members = Readonly<Record<string, unknown>>

interface WholeEvent {
  readonly data: Members
  readonly previous_attributes?: unknown
}

/**
 * Renders an event in a version. Returns undefined if the version lacks the event type. For a change event, it
 * renders the states before and after the change, and compares them to find `previous_attributes`. So
 * `previous_attributes` holds only what the receiver can see, and the event is dropped (undefined) if nothing but
 * `updated` changed.
 *
 * @param now service time, milliseconds since the epoch.
 */
export function renderEvent(
  views: EventViews,
  version: string,
  event: NewEvent,
  now: number,
): RenderedEvent | undefined {
  const { type, data, before, recipients, passMove } = event
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
  const trace = contextToStore()
  const body = JSON.stringify(shown.previous_attributes ? { ...shown, previous_attributes: previous } : shown)
  return {
    id,
    type,
    version,
    body,
    created: now,
    ...(view.down && { source: before ? { data, before } : { data } }),
    ...(recipients && { recipients }),
    ...(trace !== undefined && { trace }),
    ...(passMove && { passMove }),
  }
}

/** Compares the one object in `data`. Returns the members that differ, with their previous values. */
function changedMembers(before: Members, after: Members): Members {
  const [name] = Object.keys(after)
  return name === undefined ? {} : previousOf(before[name] as Members, after[name] as Members)
}

/** Compares maps member by member, and other values as a whole. Null means that the member did not exist before. */
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

/** Events of the past as other versions would have told them. */
import { translateNoting } from 'dateline/runtime/touched'
import { events as views } from '../../../generated/events.ts'
import { type EventViews, renderEvent } from './emit.ts'
import type { StoredEvent } from './queries.ts'

type Members = Readonly<Record<string, unknown>>

interface StoredBody {
  readonly data: Members
  readonly previous_attributes?: Members
}

/** What a version makes of an event that was rendered in another one. */
export type RenderedAgain =
  | { readonly kind: 'same'; readonly body: unknown }
  | { readonly kind: 'other'; readonly body: unknown }
  /** The version has no events of the type, or nothing that it shows has changed. */
  | { readonly kind: 'none' }

/** @returns the event as a tenant that was pinned to the version would have been sent it; under the same identifier and time. */
export function renderAgain(event: StoredEvent, version: string, all: EventViews = views): RenderedAgain {
  const sent = JSON.parse(event.body) as StoredBody
  if (version === event.version) return { kind: 'same', body: sent }
  const canonical = event.source ?? sourceOf(sent)
  const again = renderEvent(all, version, { type: event.type, ...canonical }, event.created)
  if (!again) return { kind: 'none' }
  return { kind: 'other', body: { ...(JSON.parse(again.body) as StoredBody), id: event.id } }
}

/** The changes that made a difference when an event was rendered in its version, each as `2026-05-19/block-categories`. */
export function changesOf(event: StoredEvent, all: EventViews = views): ReadonlySet<string> {
  const down = all[event.version]?.[event.type]?.down
  const touched = new Set<string>()
  if (!down || !event.source) return touched
  const sent = JSON.parse(event.body) as StoredBody
  const { data, before } = event.source
  for (const state of before ? [data, before] : [data])
    translateNoting(down, { ...sent, data: state }, (change) => touched.add(change))
  return touched
}

/** Of an event whose body is in the form of the canonical version: the state before has what is told of it, and the rest of now. */
function sourceOf({ data, previous_attributes: previous }: StoredBody): NonNullable<StoredEvent['source']> {
  const [name] = Object.keys(data)
  if (!previous || name === undefined) return { data }
  return { data, before: { [name]: overlay(data[name] as Members, previous) } }
}

/** Members of maps are told one by one, as when the event was rendered. */
function overlay(after: Members, previous: Members): Members {
  const before: Record<string, unknown> = { ...after }
  for (const [name, old] of Object.entries(previous)) {
    before[name] = isMap(old) && isMap(after[name]) ? overlay(after[name], old) : old
  }
  return before
}

function isMap(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

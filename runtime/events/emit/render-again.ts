/** Renders past events as a different version would have shown them. */
import { translateNoting } from 'dateline/runtime/touched'
import { events as views } from '../../../generated/events.ts'
import { type EventViews, renderEvent } from './emit.ts'
import type { StoredEvent } from './queries.ts'

type Members = Readonly<Record<string, unknown>>

interface StoredBody {
  readonly data: Members
  readonly previous_attributes?: Members
}

/** The result of rendering a stored event in a version: `same` if it is the version in which the event was sent. */
export type RenderedAgain =
  | { readonly kind: 'same'; readonly body: unknown }
  | { readonly kind: 'other'; readonly body: unknown }
  /** The version lacks the event type, or nothing that it shows has changed. */
  | { readonly kind: 'none' }

/** @returns the event as a tenant pinned to `version` would have received it, with the same identifier and time. */
export function renderAgain(event: StoredEvent, version: string, all: EventViews = views): RenderedAgain {
  const sent = JSON.parse(event.body) as StoredBody
  if (version === event.version) return { kind: 'same', body: sent }
  const canonical = event.source ?? sourceOf(sent)
  const again = renderEvent(all, version, { type: event.type, ...canonical }, event.created)
  if (!again) return { kind: 'none' }
  return { kind: 'other', body: { ...(JSON.parse(again.body) as StoredBody), id: event.id } }
}

/**
 * Returns the version changes that altered the event when it was rendered, each as `2026-05-19/block-categories`.
 */
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

/**
 * Restores the source of an event whose body is in canonical form: `before` is `data` with the previous attributes
 * put back.
 */
function sourceOf({ data, previous_attributes: previous }: StoredBody): NonNullable<StoredEvent['source']> {
  const [name] = Object.keys(data)
  if (!previous || name === undefined) return { data }
  return { data, before: { [name]: overlay(data[name] as Members, previous) } }
}

/** Merges maps member by member, as `renderEvent` compares them. */
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

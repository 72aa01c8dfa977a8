/** Events beside events: they only ever travel down. */

import type { Api, EventType, Operation } from '../ir/model.ts'
import { compareContents, compareHeaders } from './answers.ts'
import type { Root } from './pairs.ts'
import { type Desk, emptySheet, found, places, RESPONSE, type Spot, shapeOf, spotAt } from './sheet.ts'

/** @returns one root for each event type of either document. */
export function compareEvents(old: Api, next: Api): Root[] {
  const before = new Map(old.events.map((each) => [each.name, each]))
  const roots = next.events.map((event) => {
    const desk = { old, next, sheet: emptySheet() }
    const counterpart = before.get(event.name)
    before.delete(event.name)
    if (counterpart) compareEvent(desk, counterpart, event)
    else lonely(desk, event, 'new')
    return { use: event.name, sheet: desk.sheet }
  })
  for (const event of before.values()) {
    const desk = { old, next, sheet: emptySheet() }
    lonely(desk, event, 'old')
    roots.push({ use: event.name, sheet: desk.sheet })
  }
  return roots
}

/** What an operation asks to be sent is an event of its own. */
export function compareCallbacks(desk: Desk, a: Operation, b: Operation): void {
  const named = (event: EventType): EventType => ({ ...event, name: `${b.id} ${event.name}` })
  const before = new Map(a.callbacks.map((each) => [each.name, each]))
  for (const next of b.callbacks) {
    const old = before.get(next.name)
    before.delete(next.name)
    if (!old) {
      lonely(desk, named(next), 'new')
      continue
    }
    if (old.url !== next.url)
      found(
        eventSpot(desk, named(next)),
        'callback-url-changed',
        RESPONSE,
        `goes to ${next.url}, not to ${old.url}`,
        places(old, next),
      )
    compareEvent(desk, named(old), named(next))
  }
  for (const old of before.values()) lonely(desk, named(old), 'old')
}

const eventSpot = (desk: Desk, { name }: EventType): Spot =>
  spotAt(desk, RESPONSE, (path) => ({ kind: 'event', event: name, path }))

function lonely(desk: Desk, event: EventType, side: 'old' | 'new'): void {
  const api = side === 'old' ? desk.old : desk.next
  const shape = event.payload ? shapeOf(api, event.payload.schema, 1) : ''
  const detail = { subject: { name: event.name, side, shape, examples: [] } }
  const spot = eventSpot(desk, event)
  if (side === 'new')
    found(spot, 'event-added', 0, `${event.name} is new`, { old: desk.old.place, new: event.place }, detail)
  else
    found(
      spot,
      'event-removed',
      RESPONSE,
      `${event.name} is never sent now`,
      { old: event.place, new: desk.next.place },
      detail,
    )
}

function compareEvent(desk: Desk, a: EventType, b: EventType): void {
  const spot = eventSpot(desk, b)
  if (!a.deprecated && b.deprecated) found(spot, 'deprecated', 0, 'is deprecated', places(a, b))
  compareHeaders(desk, a, b, ({ name }) =>
    spotAt(desk, RESPONSE, (path) => ({ kind: 'event-header', event: b.name, name, path })),
  )
  if (a.body?.required && b.body && !b.body.required)
    found(spot, 'payload-optional', RESPONSE, 'may come without a payload now', places(a.body, b.body))
  if (a.body && b.body) compareContents(spot, a.body, b.body)
  else if (a.payload) found(spot, 'payload-removed', RESPONSE, 'has no payload now', places(a.payload, b))
  else if (b.payload) found(spot, 'payload-added', 0, 'has a payload now', places(a, b.payload))
}

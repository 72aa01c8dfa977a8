/** Events beside events: they only ever travel down. */

import { compareHeaders } from './diff-operations.ts'
import type { Root } from './diff-pairs.ts'
import { compareSchemas } from './diff-schemas.ts'
import { type Desk, emptySheet, found, places, RESPONSE, type Spot, shapeOf, spotAt } from './diff-sheet.ts'
import type { Api, EventType } from './model.ts'

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
  if (a.payload && b.payload) compareSchemas(spot, a.payload.schema, b.payload.schema)
  else if (a.payload) found(spot, 'payload-removed', RESPONSE, 'has no payload now', places(a.payload, b))
  else if (b.payload) found(spot, 'payload-added', 0, 'has a payload now', places(a, b.payload))
}

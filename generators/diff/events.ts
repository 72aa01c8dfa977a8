/** Compares events, which only go from the new version to the old one. */

import type { Api, ApiOperation, EventType } from '../ir/model.ts'
import { taggedStability } from '../ir/stability.ts'
import { compareContents, compareHeaders } from './answers.ts'
import type { Root } from './pairs.ts'
import {
  type ComparisonPosition,
  type DocumentPair,
  emptyResult,
  found,
  places,
  positionAt,
  RESPONSE,
  shapeOf,
} from './position.ts'
import { compareStability } from './stability.ts'

/** Returns one root for each event type of either document. */
export function compareEvents(old: Api, next: Api): Root[] {
  const before = new Map(old.events.map((each) => [each.name, each]))
  const roots = next.events.map((event) => {
    const pair = { old, next, result: emptyResult() }
    const counterpart = before.get(event.name)
    before.delete(event.name)
    if (counterpart) compareEvent(pair, counterpart, event)
    else lonely(pair, event, 'new')
    return { use: event.name, result: pair.result }
  })
  for (const event of before.values()) {
    const pair = { old, next, result: emptyResult() }
    lonely(pair, event, 'old')
    roots.push({ use: event.name, result: pair.result })
  }
  return roots
}

/** Compares the callbacks of an operation, each as an event. */
export function compareCallbacks(pair: DocumentPair, a: ApiOperation, b: ApiOperation): void {
  const named = (event: EventType): EventType => ({ ...event, name: `${b.id} ${event.name}` })
  const before = new Map(a.callbacks.map((each) => [each.name, each]))
  for (const next of b.callbacks) {
    const old = before.get(next.name)
    before.delete(next.name)
    if (!old) {
      lonely(pair, named(next), 'new')
      continue
    }
    if (old.url !== next.url)
      found(
        eventPosition(pair, named(next)),
        'callback-url-changed',
        RESPONSE,
        `is now sent to ${next.url} instead of ${old.url}`,
        places(old, next),
      )
    compareEvent(pair, named(old), named(next))
  }
  for (const old of before.values()) lonely(pair, named(old), 'old')
}

const eventPosition = (pair: DocumentPair, { name }: EventType): ComparisonPosition =>
  positionAt(pair, RESPONSE, (path) => ({ kind: 'event', event: name, path }))

function lonely(pair: DocumentPair, event: EventType, side: 'old' | 'new'): void {
  const api = side === 'old' ? pair.old : pair.next
  const shape = event.payload ? shapeOf(api, event.payload.schema, 1) : ''
  const detail = { subject: { name: event.name, side, shape, examples: [] } }
  const position = eventPosition(pair, event)
  if (side === 'new')
    found(
      position,
      'event-added',
      0,
      `${event.name} was added`,
      { old: pair.old.place, new: event.place },
      detail,
    )
  else
    found(
      position,
      'event-removed',
      RESPONSE,
      `${event.name} is no longer sent`,
      { old: event.place, new: pair.next.place },
      detail,
    )
}

function compareEvent(pair: DocumentPair, a: EventType, b: EventType): void {
  const position = eventPosition(pair, b)
  if (!a.deprecated && b.deprecated) found(position, 'deprecated', 0, 'is deprecated', places(a, b))
  compareStability(
    position,
    taggedStability(pair.old, a),
    taggedStability(pair.next, b),
    RESPONSE,
    places(a, b),
  )
  compareHeaders(pair, a, b, ({ name }) =>
    positionAt(pair, RESPONSE, (path) => ({ kind: 'event-header', event: b.name, name, path })),
  )
  if (a.body?.required && b.body && !b.body.required)
    found(position, 'payload-optional', RESPONSE, 'may now have no payload', places(a.body, b.body))
  if (a.body && b.body) compareContents(position, a.body, b.body)
  else if (a.payload)
    found(position, 'payload-removed', RESPONSE, 'no longer has a payload', places(a.payload, b))
  else if (b.payload) found(position, 'payload-added', 0, 'now has a payload', places(a, b.payload))
}

import type { EventsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { events as views } from '../../../generated/events.ts'
import { current } from '../../../generated/versions.ts'
import { invalidParameter, notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { BEFORE_EVENTS, type EventPlace, listEvents, readEvent, readEventHead } from '../emit/queries.ts'

type Event = components['schemas']['Event']

const ALL_TYPES = Object.keys(views[current] ?? {})

export const eventsHandlers = {
  async listEvents(context, { query }) {
    // Events of types that the caller's version lacks must be excluded here: if they were dropped later, pages would
    // be short.
    const types: readonly string[] = query.type ?? [...context.events.types]
    const areMost = ALL_TYPES.every((type) => types.includes(type))
    return answerList(
      context,
      query,
      (db, space, { created }, page) => listEvents(db, space, { created, types, areMost }, page),
      ({ body }) => JSON.parse(body) as Event,
    )
  },

  async getEvent({ caller, db, events }, { path }) {
    const row = await readEvent(db, caller.space, path.event_id)
    if (!row || !events.types.has(row.type)) throw notFound()
    return { status: 200, body: JSON.parse(row.body) as Event }
  },

  async streamEvents(context) {
    return { status: 200, body: context.events.stream(await startOf(context)) }
  },
} satisfies EventsHandlers<Context>

const LAST_SEEN = 'Last-Event-ID'

/** Returns where a stream starts: after the event in `Last-Event-ID`, or at the end of the sequence. */
async function startOf({ caller, request, db }: Context): Promise<EventPlace> {
  const last = request.header(LAST_SEEN)
  if (last === undefined) return readEventHead(db, caller.space)
  if (last === BEFORE_EVENTS) return { sequence: 0, id: last }
  const event = await readEvent(db, caller.space, last)
  if (event) return event
  throw invalidParameter('invalid_format', LAST_SEEN, `${LAST_SEEN} is not the id of a stored event.`)
}

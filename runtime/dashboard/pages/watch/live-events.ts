/** The live tail of the events page: sends new table rows in the order of the events. */
import { events as views } from '../../../../generated/events.ts'
import { current } from '../../../../generated/versions.ts'
import { readEvent, readEventHead } from '../../../events/emit/queries.ts'
import type { EventStreams, StreamStart } from '../../../events/emit/streams.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { linkNaming } from '../../engine/links.ts'
import { queryText, writeRow } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { EVENT_COLUMNS, type EventObject, subjectOf } from '../resources/events.ts'
import { openTail, seenBy, type Tails, writeMessage } from './tails.ts'
import { findPlace, type Watching } from './watching.ts'

/** A tail starts at most 1,000 events in the past, even if the page shows an older event. */
const MAX_BACK = 1000

/** The session and the tenant's space are checked again after 5 s, so a removed member or a wipe takes effect by then. */
const KNOWN_FOR_MS = 5000

const TYPES = new Set(Object.keys(views[current] ?? {}))

export function liveEventRoutes(watching: Watching, tails: Tails): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/events/live`,
    environment,
    needs: roleFor('listEvents'),
    handle: (visit) => openTail(tails, visit, () => open(watching, visit)),
  }))
}

async function open(watching: Watching, visit: DashboardVisit): Promise<AsyncIterable<string>> {
  const type = queryText(visit, 'type').trim()
  return watching.streams[visit.environment].open({
    after: await startOf(watching, visit),
    types: type === '' ? TYPES : new Set([type]),
    findSpace: rememberSpace(watching, visit),
    write: async (events) => {
      const shown = events.map(({ body }) => JSON.parse(body) as EventObject)
      const link = await linkNaming(visit, shown.map(subjectOf))
      return shown.map((each) => writeMessage(each.id, writeRow(EVENT_COLUMNS, each, link).text)).join('')
    },
  })
}

async function startOf(watching: Watching, visit: DashboardVisit): Promise<StreamStart> {
  const { db, space } = await findPlace(watching, visit)
  const [head, seen] = await Promise.all([readEventHead(db, space), readEvent(db, space, seenBy(visit))])
  const earliest = head.sequence - MAX_BACK
  return seen && seen.sequence > earliest ? seen : head
}

/** Caches the space, because the stream looks it up many times a second. */
function rememberSpace(
  watching: Watching,
  visit: DashboardVisit,
): Parameters<EventStreams['open']>[0]['findSpace'] {
  let known: { readonly space: string; readonly until: number } | undefined
  return async () => {
    const now = performance.now()
    if (known && now < known.until) return known.space
    if (!(await visit.isSignedIn())) return undefined
    const { space } = await findPlace(watching, visit)
    known = { space, until: now + KNOWN_FOR_MS }
    return space
  }
}

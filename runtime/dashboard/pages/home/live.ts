/** Sends the parts of the home page again when they have changed, as server-sent events. */
import { setTimeout as pause } from 'node:timers/promises'
import { readTotalsPosition } from '../../../account/totals/reading.ts'
import type { Environment } from '../../../platform/environment.ts'
import type { Html } from '../../../platform/html.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { DashboardVisit, TenantPlace } from '../../engine/visit.ts'
import { openTail, seenBy, type Tails, writeMessage } from '../watch/tails.ts'

type WriteParts = (visit: DashboardVisit, place: TenantPlace) => Promise<readonly Html[]>

/** Also the shortest time between two messages. */
const POLL_MS = 1000

/** Some figures change without new totals, such as those of the last 24 hours. */
const MAX_AGE_MS = 30_000

export function liveHomeRoute(environment: Environment, tails: Tails, write: WriteParts): DashboardRoute {
  return {
    method: 'GET',
    path: `/${environment}/home/live`,
    environment,
    needs: 'viewer',
    handle: (visit) => openTail(tails, visit, async () => follow(visit, write)),
  }
}

/**
 * Yields messages with the changed parts by number, such as `{"1":"<p>…"}`, and the position of the totals as ID. It starts
 * from the position that the page or the last message shows.
 */
async function* follow(visit: DashboardVisit, write: WriteParts): AsyncGenerator<string> {
  let known = seenBy(visit)
  let writtenAt = performance.now()
  let sent: readonly string[] = []
  while (await visit.isSignedIn()) {
    const place = await visit.place()
    const position = await readTotalsPosition(place.db, place.space)
    if (position === known && performance.now() - writtenAt < MAX_AGE_MS) yield ':\n\n'
    else {
      writtenAt = performance.now()
      known = position
      const texts = (await write(visit, place)).map(({ text }) => text)
      const changed = [...texts.entries()].filter(([at, text]) => text !== sent[at])
      yield writeMessage(position, JSON.stringify(Object.fromEntries(changed)))
      sent = texts
    }
    await pause(POLL_MS)
  }
}

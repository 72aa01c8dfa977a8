/** Compares an event rendered in a chosen version with the event as it was sent. */
import { versions } from '../../../../generated/versions.ts'
import { readStoredEvent } from '../../../events/emit/queries.ts'
import { renderAgain } from '../../../events/emit/render-again.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { writeJson } from '../../engine/json.ts'
import { linkIn } from '../../engine/links.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { ApiRefused, type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { panel } from '../../html/records.ts'
import { linkVersions } from '../resources/events.ts'
import { findPlace, type Watching } from './watching.ts'

export function eventVersionRoutes(send: SendFramed, watching: Watching): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/events/:id/in/:version`,
    environment,
    needs: roleFor('getEvent'),
    handle: (visit, id) => show(watching, visit, id, send),
  }))
}

async function show(watching: Watching, visit: DashboardVisit, id: string, send: SendFramed): Promise<void> {
  const version = versions.find(({ name }) => name === visit.request.params.version)
  if (!version) throw new ApiRefused(404, 'API version not found.')
  const { db, space } = await findPlace(watching, visit)
  const event = await readStoredEvent(db, space, id)
  if (!event) throw new ApiRefused(404, 'Event not found.')
  const again = renderAgain(event, version.name)
  const link = linkIn(visit)
  const sent: unknown = JSON.parse(event.body)
  const content = html`${linkVersions(event, link, version.name)}
<div class="beside">
${panel(
  `In version ${version.name}`,
  again.kind === 'none'
    ? html`<p class="empty">This event is not sent in this version. The version does not define the event type, or none of the changed fields exist in it.</p>`
    : writeJson(again.body, visit, sent),
)}
${panel(`As sent, in version ${event.version}`, writeJson(sent, visit, again.kind === 'other' ? again.body : undefined))}
</div>`
  const trail = html`${link('events', 'Events')} / ${link(`events/${id}`, event.type)}`
  send(visit, 200, { title: event.type, path: 'events', trail, content })
}

import type { components } from '../../../../generated/canonical/types.ts'
import { versions } from '../../../../generated/versions.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type ApiPage, type LinkTo, type ListColumn, resource } from '../../engine/shapes.ts'
import { code, json, when } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { ATTEMPT_COLUMNS, type DeliveryAttempt, type EndpointObject } from './webhook-endpoints.ts'

export type EventObject = components['schemas']['Event']

/** With a link, for other pages than the list itself. */
export const EVENT_COLUMNS: readonly ListColumn<EventObject>[] = [
  { title: 'Event', show: ({ id, type }, link) => link(`events/${id}`, type) },
  { title: 'Identifier', show: ({ id }) => code(id) },
  { title: 'When', show: ({ created }) => when(created) },
]

export const EVENTS = resource<EventObject>({
  path: 'events',
  title: 'Events',
  intro: 'What has happened, newest first, as it is sent to your endpoints.',
  list: {
    operation: 'listEvents',
    columns: [{ title: 'Event', show: ({ type }) => type }, ...EVENT_COLUMNS.slice(1)],
    filters: { type: 'Type' },
    isLive: true,
    empty: 'Nothing has happened yet. Issue a pass or make a card, and its events appear here.',
  },
  detail: {
    operation: 'getEvent',
    parameter: 'event_id',
    name: ({ type }) => type,
    facts: ({ id, version, created, emitted_at }) => [
      ['Identifier', code(id)],
      ['Version', version],
      ['Happened', when(created)],
      ['Sent from', when(emitted_at)],
    ],
    sections: [
      {
        title: 'Payload',
        write: (event, _visit, link) => html`${linkVersions(event, link)}\n${json(event)}`,
      },
      { title: 'Deliveries', write: writeDeliveries },
    ],
  },
})

/** To the payload as tenants of each version are sent it. */
export function linkVersions(
  { id, version }: Pick<EventObject, 'id' | 'version'>,
  link: LinkTo,
  shown = version,
): Html {
  return html`<p class="versions">As in ${versions
    .toReversed()
    .map(({ name }) =>
      name === shown
        ? html` <strong>${name}</strong>`
        : html` ${link(name === version ? `events/${id}` : `events/${id}/in/${name}`, name)}`,
    )}</p>`
}

/** Endpoints whose attempts are asked for. */
const ENDPOINTS = '10'

/** The attempts of each endpoint at this event. */
async function writeDeliveries({ id }: EventObject, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const endpoints = await visit.read<ApiPage<EndpointObject>>('listWebhookEndpoints', {
    query: { limit: ENDPOINTS },
  })
  const attempts = await Promise.all(
    endpoints.data.map((endpoint) =>
      visit.read<ApiPage<DeliveryAttempt>>('listDeliveryAttempts', {
        path: { whe_id: endpoint.id },
        query: { event_id: id },
      }),
    ),
  )
  const all = attempts.flatMap(({ data }) => data)
  return all.length > 0
    ? writeTable('Deliveries', ATTEMPT_COLUMNS, all, link)
    : html`<p class="empty">No endpoint has been sent this event. ${link('webhook-endpoints', 'Webhook endpoints')} say which types they want.</p>`
}

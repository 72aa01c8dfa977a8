import type { components } from '../../../../generated/canonical/types.ts'
import { versions } from '../../../../generated/versions.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type ApiPage, type LinkTo, type ListColumn, resource } from '../../engine/shapes.ts'
import { code, json, shortId, when } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { ATTEMPT_COLUMNS, type DeliveryAttempt, type EndpointObject } from './webhook-endpoints.ts'

export type EventObject = components['schemas']['Event']

/** Returns the ID of the record that the event is about. */
export function subjectOf({ data }: Pick<EventObject, 'data'>): string | null {
  const [record] = Object.values(data) as readonly { readonly id?: string }[]
  return record?.id ?? null
}

/** Columns for pages other than the events list. The event type links to the event. */
export const EVENT_COLUMNS: readonly ListColumn<EventObject>[] = [
  { title: 'Event', show: ({ id, type }, link) => link(`events/${id}`, type) },
  { title: 'Record', show: (event, link) => link.to(subjectOf(event)) },
  { title: 'ID', show: ({ id }) => shortId(id) },
  { title: 'Created', show: ({ created }) => when(created) },
]

export const EVENTS = resource<EventObject>({
  path: 'events',
  title: 'Events',
  intro: 'Events on your account, newest first, as they are sent to your webhook endpoints.',
  list: {
    operation: 'listEvents',
    columns: [{ title: 'Event', show: ({ type }) => type }, ...EVENT_COLUMNS.slice(1)],
    filters: { type: 'Type' },
    empty: 'No events yet. Issue a pass or a card to see its events here.',
  },
  detail: {
    operation: 'getEvent',
    parameter: 'event_id',
    name: ({ type }) => type,
    facts: ({ id, version, created, emitted_at }) => [
      ['ID', code(id)],
      ['Version', version],
      ['Created', when(created)],
      ['Emitted', when(emitted_at)],
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

/** Links to the payload of the event in each API version. */
export function linkVersions(
  { id, version }: Pick<EventObject, 'id' | 'version'>,
  link: LinkTo,
  shown = version,
): Html {
  return html`<p class="versions">Show in version ${versions
    .toReversed()
    .map(({ name }) =>
      name === shown
        ? html` <strong>${name}</strong>`
        : html` ${link(name === version ? `events/${id}` : `events/${id}/in/${name}`, name)}`,
    )}</p>`
}

/** The maximum number of endpoints whose attempts are read. */
const ENDPOINTS = '10'

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
    : html`<p class="empty">No deliveries for this event. ${link('webhook-endpoints', 'Webhook endpoints')} receive only the event types that they are subscribed to.</p>`
}

import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import {
  type ApiPage,
  type FormField,
  type FormValues,
  type LinkTo,
  type ListColumn,
  resource,
} from '../../engine/shapes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { promotes } from '../promotions/promotions.ts'

export type EndpointObject = components['schemas']['WebhookEndpoint']
export type DeliveryAttempt = components['schemas']['WebhookDeliveryAttempt']

export const ATTEMPT_COLUMNS: readonly ListColumn<DeliveryAttempt>[] = [
  {
    title: 'Attempt',
    show: ({ id, webhook_endpoint_id, attempt }, link) =>
      link(`webhook-endpoints/${webhook_endpoint_id}/attempts/${id}`, `No. ${attempt}`),
  },
  { title: 'State', show: ({ status }) => state(status) },
  { title: 'Event', show: ({ event_id }, link) => link.to(event_id) },
  { title: 'Answer', show: ({ response_status, error }) => String(response_status ?? orDash(error)) },
  { title: 'When', show: ({ attempted_at, scheduled_at }) => when(attempted_at ?? scheduled_at) },
]

const FIELDS: readonly FormField[] = [
  { name: 'url', label: 'Address', hint: 'Where your server listens on the public internet; https in live.' },
  {
    name: 'enabled_events',
    label: 'Events',
    kind: 'lines',
    value: '*',
    hint: 'One type a line, such as pass.created; * is all of them.',
  },
  { name: 'description', label: 'Description', optional: true },
]

function readEndpoint({ url, enabled_events = '', description }: FormValues) {
  const types = enabled_events.split(/[\s,]+/).filter((type) => type !== '')
  return { url, enabled_events: types, ...(description && { description }) }
}

const secretOf = (answer: unknown) => (answer as EndpointObject).secret

export const WEBHOOK_ENDPOINTS = resource<EndpointObject>({
  path: 'webhook-endpoints',
  title: 'Webhook endpoints',
  intro: 'Addresses of yours that are told of events, signed, in order of what happened.',
  list: {
    operation: 'listWebhookEndpoints',
    columns: [
      { title: 'Address', show: ({ url }) => url },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Description', show: ({ description }) => orDash(description) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'State' },
    empty: 'No endpoint yet. Add one, and events reach you within seconds of what happened.',
  },
  create: {
    operation: 'createWebhookEndpoint',
    title: 'Add an endpoint',
    button: 'Add',
    fields: FIELDS,
    body: readEndpoint,
    secret: secretOf,
  },
  detail: {
    operation: 'getWebhookEndpoint',
    parameter: 'whe_id',
    name: ({ url }) => url,
    facts: ({ id, status, disabled_reason, enabled_events, description, created, updated }) => [
      ['Identifier', code(id)],
      ['State', html`${state(status)}${disabled_reason === null ? '' : ` ${words(disabled_reason)}`}`],
      ['Events', enabled_events.join(', ')],
      ['Description', orDash(description)],
      ['Created', when(created)],
      ['Changed', when(updated)],
    ],
    ways: [promotes('webhook_endpoint')],
    actions: [
      { name: 'test', operation: 'testWebhookEndpoint', button: 'Send a test event' },
      {
        name: 'disable',
        operation: 'updateWebhookEndpoint',
        button: 'Disable',
        when: ({ status }) => status === 'enabled',
        body: () => ({ status: 'disabled' }),
      },
      {
        name: 'enable',
        operation: 'updateWebhookEndpoint',
        button: 'Enable',
        when: ({ status }) => status === 'disabled',
        body: () => ({ status: 'enabled' }),
      },
      {
        name: 'rotate',
        operation: 'rotateWebhookEndpointSecret',
        button: 'Rotate the secret',
        warning:
          'A new secret is made and shown once. The old one goes on signing for a while, so that you can change over.',
        secret: secretOf,
      },
      {
        name: 'delete',
        operation: 'deleteWebhookEndpoint',
        button: 'Delete',
        warning: 'Events are no longer sent there, and its attempts are gone. This cannot be undone.',
        isDanger: true,
        removes: true,
      },
    ],
    sections: [{ title: 'Latest attempts', write: writeAttempts }],
  },
})

async function writeAttempts({ id }: EndpointObject, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const { data } = await visit.read<ApiPage<DeliveryAttempt>>('listDeliveryAttempts', {
    path: { whe_id: id },
  })
  return data.length > 0
    ? writeTable('Latest attempts', ATTEMPT_COLUMNS, data, link)
    : html`<p class="empty">Nothing has been sent there yet. Send a test event to see whether it arrives.</p>`
}

import { filters } from '../../../../generated/canonical/records.ts'
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { bodyOf } from '../../engine/bodies.ts'
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
import { ALL } from '../../html/controls.ts'
import { promotes } from '../promotions/promotions.ts'

export type EndpointObject = components['schemas']['WebhookEndpoint']
export type DeliveryAttempt = components['schemas']['WebhookDeliveryAttempt']

export const ATTEMPT_COLUMNS: readonly ListColumn<DeliveryAttempt>[] = [
  {
    title: 'Attempt',
    show: ({ id, webhook_endpoint_id, attempt }, link) =>
      link(`webhook-endpoints/${webhook_endpoint_id}/attempts/${id}`, `Attempt\u00a0${attempt}`),
  },
  { title: 'Status', show: ({ status }) => state(status) },
  { title: 'Event', show: ({ event_id }, link) => link.to(event_id) },
  { title: 'Response', show: ({ response_status, error }) => String(response_status ?? orDash(error)) },
  { title: 'Time', show: ({ attempted_at, scheduled_at }) => when(attempted_at ?? scheduled_at) },
]

const FIELDS: readonly FormField[] = [
  { name: 'url', label: 'URL', kind: 'url', hint: 'A public URL of your server. Live requires https.' },
  {
    name: 'enabled_events',
    label: 'Events',
    kind: 'checks',
    value: ALL,
    options: [
      [ALL, 'All events, including types that are added later'],
      ...filters.listEvents.type.map((type) => [type, type, words(type.split('.')[0]!)] as const),
    ],
  },
  { name: 'description', label: 'Description', optional: true },
]

/** The box for all events includes the other boxes. */
function readEndpoint(values: FormValues): unknown {
  const types = (values.enabled_events ?? '').split('\n')
  return bodyOf(FIELDS, { ...values, ...(types.includes(ALL) && { enabled_events: ALL }) })
}

const secretOf = (answer: unknown) => (answer as EndpointObject).secret

export const WEBHOOK_ENDPOINTS = resource<EndpointObject>({
  path: 'webhook-endpoints',
  title: 'Webhook endpoints',
  intro: 'URLs on your servers that receive signed events, in the order in which they occurred.',
  list: {
    operation: 'listWebhookEndpoints',
    columns: [
      { title: 'URL', show: ({ url }) => url },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Description', show: ({ description }) => orDash(description) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status' },
    empty: 'No webhook endpoints yet. Add an endpoint to receive events within seconds.',
  },
  create: {
    operation: 'createWebhookEndpoint',
    title: 'Add webhook endpoint',
    button: 'Add webhook endpoint',
    fields: FIELDS,
    body: readEndpoint,
    secret: secretOf,
  },
  detail: {
    operation: 'getWebhookEndpoint',
    parameter: 'whe_id',
    name: ({ url }) => url,
    facts: ({ id, status, disabled_reason, enabled_events, description, created, updated }) => [
      ['ID', code(id)],
      ['Status', html`${state(status)}${disabled_reason === null ? '' : ` ${words(disabled_reason)}`}`],
      ['Events', enabled_events.join(', ')],
      ['Description', orDash(description)],
      ['Created', when(created)],
      ['Updated', when(updated)],
    ],
    ways: [promotes('webhook_endpoint')],
    actions: [
      { name: 'test', operation: 'testWebhookEndpoint', button: 'Send test event' },
      {
        name: 'disable',
        isBulk: true,
        operation: 'updateWebhookEndpoint',
        button: 'Disable endpoint',
        when: ({ status }) => status === 'enabled',
        body: () => ({ status: 'disabled' }),
      },
      {
        name: 'enable',
        isBulk: true,
        operation: 'updateWebhookEndpoint',
        button: 'Enable endpoint',
        when: ({ status }) => status === 'disabled',
        body: () => ({ status: 'enabled' }),
      },
      {
        name: 'rotate',
        operation: 'rotateWebhookEndpointSecret',
        button: 'Rotate signing secret',
        warning:
          'A new signing secret is created and shown once. Events are also signed with the old secret for a limited time, so that you can switch over.',
        secret: secretOf,
      },
      {
        name: 'delete',
        operation: 'deleteWebhookEndpoint',
        button: 'Delete endpoint',
        warning:
          'The endpoint no longer receives events, and its delivery attempts are deleted. You cannot undo this.',
        isDanger: true,
        removes: true,
      },
    ],
    sections: [{ title: 'Recent delivery attempts', write: writeAttempts }],
  },
})

async function writeAttempts({ id }: EndpointObject, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const { data } = await visit.read<ApiPage<DeliveryAttempt>>('listDeliveryAttempts', {
    path: { whe_id: id },
  })
  return data.length > 0
    ? writeTable('Recent delivery attempts', ATTEMPT_COLUMNS, data, link)
    : html`<p class="empty">No delivery attempts yet. Send a test event to check the endpoint.</p>`
}

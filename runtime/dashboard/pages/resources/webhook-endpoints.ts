import { filters } from '../../../../generated/canonical/records.ts'
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { bodyOf } from '../../engine/bodies.ts'
import { keyField } from '../../engine/form-page.ts'
import { linkNaming } from '../../engine/links.ts'
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
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { ALL } from '../../html/controls.ts'
import { promotes } from '../promotions/promotions.ts'
import { writeHealth } from './endpoint-health.ts'
import { RECOVER, writeRecoveries } from './webhook-recoveries.ts'

export type EndpointObject = components['schemas']['WebhookEndpoint']
export type DeliveryAttempt = components['schemas']['WebhookDeliveryAttempt']

const RETRY = 'retryDeliveryAttempt'

/** Columns of delivery attempts after the first, which says what was sent or to whom. The last one sends an attempt again. */
export function attemptColumns(visit: DashboardVisit): readonly ListColumn<DeliveryAttempt>[] {
  const columns: readonly ListColumn<DeliveryAttempt>[] = [
    { title: 'Status', show: writeStatus },
    { title: 'Response', show: writeResponse },
    { title: 'Time', show: ({ attempted_at, scheduled_at }) => when(attempted_at ?? scheduled_at) },
  ]
  if (!mayAct(visit.member.role, roleFor(RETRY))) return columns
  return [...columns, { title: 'Action', show: (attempt) => writeRetry(attempt, visit, 'second small') }]
}

/** Links the status to the attempt. Only later attempts show their number. */
function writeStatus({ id, webhook_endpoint_id, status, attempt }: DeliveryAttempt, link: LinkTo): Html {
  const page = link(`webhook-endpoints/${webhook_endpoint_id}/attempts/${id}`, state(status))
  return attempt === 1 ? page : html`${page} <span class="quiet">attempt\u00a0${String(attempt)}</span>`
}

function writeResponse({ response_status, error, duration_ms }: DeliveryAttempt): Html | string {
  if (response_status === null || duration_ms === null) return orDash(error)
  return html`<span class="number">${String(response_status)} in ${String(duration_ms)} ms</span>`
}

/** Writes the button that sends an attempt again now. */
export function writeRetry(
  { id, webhook_endpoint_id, attempt }: DeliveryAttempt,
  visit: DashboardVisit,
  style = 'second',
): Html {
  const address = `/${visit.environment}/webhook-endpoints/${webhook_endpoint_id}/attempts/${id}/retry`
  return html`<form method="post" action="${address}">${visit.guard(address)}${keyField()}<button class="${style}" type="submit" aria-label="Send again: attempt ${String(attempt)}">Send again</button></form>`
}

const SIGNATURE: FormField = {
  name: 'signature',
  label: 'Signatures',
  kind: 'choice',
  options: [
    ['service', 'The header of this API'],
    ['standard_webhooks', 'Also the headers of Standard Webhooks, with Ed25519'],
  ],
}

const SCHEDULE: FormField = {
  name: 'retry_schedule',
  label: 'Retries',
  kind: 'choice',
  options: [
    ['standard', 'Over 5 hours'],
    ['extended', 'Over 3 days'],
  ],
}

const FILTERS: FormField = {
  name: 'filters',
  label: 'Filters',
  kind: 'rows',
  noun: 'filter',
  hint: 'Only events that match every filter are sent.',
  optional: true,
  row: [
    { name: 'property', label: 'Property', hint: 'Such as data.pass.template_id.' },
    { name: 'equals', label: 'Value' },
  ],
}

/** The choice of `delivery: fifo` with `fifo_key: object`. */
const BY_OBJECT = 'object'

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
  {
    name: 'delivery',
    label: 'Order',
    kind: 'choice',
    options: [
      ['unordered', 'Several events at the same time'],
      ['fifo', 'One event at a time, in order: a failure holds up later events'],
      [BY_OBJECT, 'In order for each object: a failure holds up later events of the same pass or card'],
    ],
    hint: 'You cannot change the order later.',
  },
  SCHEDULE,
  SIGNATURE,
  FILTERS,
]

/** A row of the form has one value, and one choice sets the order and its key. */
function withChoices(body: unknown): unknown {
  const { filters, ...rest } = body as {
    readonly delivery?: string
    readonly filters?: readonly Readonly<Record<string, string>>[]
  }
  return {
    ...rest,
    ...(rest.delivery === BY_OBJECT && { delivery: 'fifo', fifo_key: 'object' }),
    ...(filters && { filters: filters.map((each) => ({ ...each, equals: [each.equals] })) }),
  }
}

/** The box for all events includes the other boxes. */
function readEndpoint(values: FormValues): unknown {
  const types = (values.enabled_events ?? '').split('\n')
  return withChoices(bodyOf(FIELDS, { ...values, ...(types.includes(ALL) && { enabled_events: ALL }) }))
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
    facts: ({ id, status, disabled_reason, enabled_events, description, created, updated, ...choices }) => [
      ['ID', code(id)],
      ['Status', html`${state(status)}${disabled_reason === null ? '' : ` ${words(disabled_reason)}`}`],
      ['Events', writeEventTypes(enabled_events)],
      ['Description', orDash(description)],
      ['Order', writeOrder(choices)],
      ['Filters', writeFilters(choices.filters ?? [])],
      ['Retries', choices.retry_schedule === 'extended' ? 'Over 3 days' : 'Over 5 hours'],
      ['Signatures', words(choices.signature ?? 'service')],
      ['Public keys', choices.jwks_url === undefined ? '–' : code(choices.jwks_url)],
      ['Created', when(created)],
      ['Updated', when(updated)],
    ],
    ways: [
      {
        operation: 'listDeliveryAttempts',
        text: 'Compare deliveries',
        to: ({ id }) => `webhook-endpoints/${id}/compare`,
      },
      promotes('webhook_endpoint'),
    ],
    actions: [
      { name: 'test', operation: 'testWebhookEndpoint', button: 'Send test event' },
      RECOVER,
      {
        name: 'change',
        operation: 'updateWebhookEndpoint',
        button: 'Change signatures and retries',
        fields: [SIGNATURE, SCHEDULE],
        values: ({ signature = 'service', retry_schedule = 'standard' }) => ({ signature, retry_schedule }),
      },
      {
        name: 'skip',
        operation: 'skipBlockedEvent',
        button: 'Skip blocked event',
        warning: 'The event is not sent to this endpoint. The events after it follow. You cannot undo this.',
        isDanger: true,
        when: ({ blocked }) => blocked != null,
        fields: [{ name: 'event_id', label: 'Event' }],
        values: ({ blocked }) => ({ event_id: blocked?.event_id ?? '' }),
      },
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
    picture: ({ id }, visit) => writeHealth(id, visit),
    sections: [
      { title: 'Blocked', when: ({ blocked }) => blocked != null, write: writeBlock },
      { title: 'Recent delivery attempts', write: writeAttempts },
      { title: 'Recoveries', write: writeRecoveries },
    ],
  },
})

function writeOrder({ delivery, fifo_key }: Pick<EndpointObject, 'delivery' | 'fifo_key'>): string {
  if (delivery !== 'fifo') return 'Any order'
  return fifo_key === 'object' ? 'One at a time for each object' : 'One at a time, in order'
}

function writeFilters(filters: NonNullable<EndpointObject['filters']>): Html | string {
  if (filters.length === 0) return '–'
  return html`<ul class="plain">${filters.map(({ property, equals }) => html`<li>${code(property)}: ${equals.map(String).join(', ')}</li>`)}</ul>`
}

type Block = NonNullable<EndpointObject['blocked']>

/** Says which events hold up others, why, and what to do. */
async function writeBlock(
  { id, blocked, blocked_keys }: EndpointObject,
  visit: DashboardVisit,
): Promise<Html> {
  if (!blocked) return html``
  const blocks = blocked_keys ?? [blocked]
  const link = await linkNaming(visit, blocks)
  const object: ListColumn<Block> = { title: 'Object', show: ({ key }) => link.to(key || null) }
  const columns: readonly ListColumn<Block>[] = [
    { title: 'Event', show: ({ event_id }) => link.to(event_id) },
    { title: 'Failed', show: ({ since, reason }) => html`${when(since)}: ${reason}` },
    {
      title: 'Waiting',
      show: ({ waiting_events: count = 0 }) => (count < 1000 ? String(count) : '1,000 or more'),
    },
    {
      title: 'Next attempt',
      show: (each) =>
        link(`webhook-endpoints/${id}/attempts/${each.delivery_attempt_id}`, when(each.next_attempt_at)),
    },
  ]
  return html`<p>${
    blocked_keys ? 'Later events of these objects wait.' : 'Later events wait.'
  } Send the next attempt again now, or skip the event.</p>
${writeTable('Blocked', blocked_keys ? [object, ...columns] : columns, blocks, link)}`
}

/** Writes the event types by the record that they are about. */
function writeEventTypes(types: readonly string[]): Html | string {
  if (types.includes('*')) return 'All event types'
  const groups = Map.groupBy(types, (type) => type.slice(0, type.lastIndexOf('.')))
  return html`<ul class="plain">${[...groups].map(
    ([group, members]) =>
      html`<li>${words(group.replaceAll('.', '_'))}: ${members.map((type) => type.slice(group.length + 1).replaceAll('_', ' ')).join(', ')}</li>`,
  )}</ul>`
}

/** Number of attempts on the page of an endpoint. */
const SHOWN = '15'

async function writeAttempts({ id }: EndpointObject, visit: DashboardVisit): Promise<Html> {
  const { data } = await visit.read<ApiPage<DeliveryAttempt>>('listDeliveryAttempts', {
    path: { whe_id: id },
    query: { limit: SHOWN },
  })
  if (data.length === 0)
    return html`<p class="empty">No delivery attempts yet. Send a test event to check the endpoint.</p>`
  const link = await linkNaming(visit, data)
  const event: ListColumn<DeliveryAttempt> = { title: 'Event', show: ({ event_id }) => link.to(event_id) }
  return writeTable('Recent delivery attempts', [event, ...attemptColumns(visit)], data, link)
}

/** The recoveries of a webhook endpoint: their progress, and the button that cancels one. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { bodyOf, readDay } from '../../engine/bodies.ts'
import { describe, keyField, perform } from '../../engine/form-page.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ApiPage, FormField, ItemAction, LinkTo, ListColumn } from '../../engine/shapes.ts'
import { state, when, words } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'

type Schemas = components['schemas']
type Recovery = Schemas['WebhookRecovery']

const CANCEL = { operation: 'cancelWebhookRecovery', button: 'Cancel recovery', fields: [] } as const

/** Number of recoveries on the page of an endpoint. */
const SHOWN = '5'

const FIELDS: readonly FormField[] = [
  { name: 'since', label: 'First day (UTC)', kind: 'date' },
  {
    name: 'scope',
    label: 'Events',
    kind: 'choice',
    options: [
      ['failed', 'Events that were not delivered'],
      ['all', 'All events, including delivered ones'],
    ],
  },
  { name: 'rate', label: 'Events per second', kind: 'number', value: '25', hint: '1 to 1000.' },
]

/** The form that starts a recovery. */
export const RECOVER: ItemAction<Schemas['WebhookEndpoint']> = {
  name: 'recover',
  operation: 'recoverWebhookEndpoint',
  button: 'Send missed events',
  warning:
    'Events since this day are sent again, in order and with the same IDs. New events are sent in the meantime.',
  fields: FIELDS,
  body: (values) => bodyOf(FIELDS, { ...values, since: readDay(values.since ?? '') }),
  when: ({ status }) => status === 'enabled',
}

const COLUMNS: readonly ListColumn<Recovery>[] = [
  { title: 'Since', show: ({ since }) => when(since) },
  { title: 'Events', show: ({ scope }) => words(scope) },
  { title: 'Status', show: ({ status }) => state(status) },
  {
    title: 'Progress',
    show: ({ total, sent, failed }) =>
      html`<span class="number">${`${sent} of ${total} sent, ${failed} failed`}</span>`,
  },
]

const isOpen = ({ status }: Recovery) => status === 'counting' || status === 'running'

/** Writes the latest recoveries of an endpoint. */
export async function writeRecoveries(
  { id }: { readonly id: string },
  visit: DashboardVisit,
  link: LinkTo,
): Promise<Html> {
  const { data } = await visit.read<ApiPage<Recovery>>('listWebhookRecoveries', {
    path: { whe_id: id },
    query: { limit: SHOWN },
  })
  if (data.length === 0)
    return html`<p class="empty">No recoveries yet. After an outage of your server, send the events that it missed.</p>`
  const mayCancel = mayAct(visit.member.role, roleFor(CANCEL.operation)) && data.some(isOpen)
  const action: ListColumn<Recovery> = {
    title: 'Action',
    show: (recovery) => (isOpen(recovery) ? writeCancel(recovery, visit) : ''),
  }
  return writeTable('Recoveries', mayCancel ? [...COLUMNS, action] : COLUMNS, data, link)
}

function writeCancel({ id, webhook_endpoint_id }: Recovery, visit: DashboardVisit): Html {
  const address = `/${visit.environment}/webhook-endpoints/${webhook_endpoint_id}/recoveries/${id}/cancel`
  return html`<form method="post" action="${address}">${visit.guard(address)}${keyField()}<button class="second small" type="submit">${CANCEL.button}</button></form>`
}

/** The route that cancels a recovery. It returns to the endpoint, which says what happened. */
export function recoveryRoutes(): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'POST',
    path: `/${environment}/webhook-endpoints/:id/recoveries/:recovery/cancel`,
    environment,
    needs: roleFor(CANCEL.operation),
    handle: async (visit, id) => {
      const { recovery } = visit.request.params
      const whr_id = typeof recovery === 'string' ? recovery : ''
      const answer = await perform(visit, CANCEL, { whe_id: id, whr_id })
      const done = answer.ok ? 'Recovery canceled' : describe(answer.error)
      visit.finish(`/${environment}/webhook-endpoints/${id}`, done)
    },
  }))
}

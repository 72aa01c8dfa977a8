/** The page that compares what two webhook endpoints received. */
import {
  COMPARED,
  compareDeliveries,
  type DeliveryComparison,
  type DeliveryDifference,
} from '../../../events/delivery-attempts/comparison.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ApiPage } from '../../engine/shapes.ts'
import { when } from '../../engine/values.ts'
import { type DashboardVisit, queryText, roleFor } from '../../engine/visit.ts'
import { choice } from '../../html/components.ts'
import type { EndpointObject } from './webhook-endpoints.ts'

/** Largest number of endpoints in an environment, and of a page of the API. */
const ALL = '100'

export function comparisonRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/webhook-endpoints/:id/compare`,
    environment,
    needs: roleFor('listDeliveryAttempts'),
    handle: (visit, id) => showComparison(visit, id, send),
  }))
}

async function showComparison(visit: DashboardVisit, id: string, send: SendFramed): Promise<void> {
  const [endpoint, { data }] = await Promise.all([
    visit.read<EndpointObject>('getWebhookEndpoint', { path: { whe_id: id } }),
    visit.read<ApiPage<EndpointObject>>('listWebhookEndpoints', { query: { limit: ALL } }),
  ])
  const others = data.filter((each) => each.id !== id)
  const other = others.find((each) => each.id === queryText(visit, 'with'))
  const link = linkIn(visit)
  send(visit, 200, {
    title: 'Compare deliveries',
    path: 'webhook-endpoints',
    trail: html`${link('webhook-endpoints', 'Webhook endpoints')} / ${link(`webhook-endpoints/${id}`, endpoint.url)}`,
    content: html`${writeForm(others, other)}
${other && (await writeComparison(visit, endpoint, other))}`,
  })
}

function writeForm(others: readonly EndpointObject[], other: EndpointObject | undefined): Html {
  if (others.length === 0)
    return html`<p class="empty">No other webhook endpoints yet. Add a second endpoint to compare deliveries.</p>`
  const options = others.map(({ id, url, description }) => [id, description ?? url] as const)
  return html`<p>Shows the events that only one of two endpoints received, the newest first.</p>
<form class="filters" method="get">
${choice({ name: 'with', label: 'Compare with', options, ...(other && { value: other.id }) })}
<button class="second" type="submit">Compare deliveries</button>
</form>`
}

async function writeComparison(
  visit: DashboardVisit,
  one: EndpointObject,
  other: EndpointObject,
): Promise<Html> {
  const { db, space } = await visit.place()
  const before = Number(queryText(visit, 'before'))
  const comparison = await compareDeliveries(
    db,
    space,
    [one.id, other.id],
    Number.isSafeInteger(before) && before > 0 ? before : Number.MAX_SAFE_INTEGER,
  )
  const link = linkIn(visit)
  const nameOf = ({ received_by }: DeliveryDifference) => (received_by === one.id ? one : other).url
  const columns = [
    { title: 'Event', show: ({ id }: DeliveryDifference) => link.to(id) },
    { title: 'Type', show: ({ type }: DeliveryDifference) => type },
    {
      title: 'Received only by',
      show: (row: DeliveryDifference) => link(`webhook-endpoints/${row.received_by}`, nameOf(row)),
    },
    { title: 'Time', show: ({ created }: DeliveryDifference) => when(new Date(created).toISOString()) },
  ]
  const { differences } = comparison
  return html`${
    differences.length > 0
      ? writeTable('Differences', columns, differences, link)
      : html`<p class="empty">Both endpoints received the same ${comparison.next === undefined ? '' : `of ${COMPARED.toLocaleString('en')} `}events.</p>`
  }
${writeNext(visit, one.id, other.id, comparison)}`
}

function writeNext(
  visit: DashboardVisit,
  one: string,
  other: string,
  { next }: DeliveryComparison,
): Html | undefined {
  if (next === undefined) return undefined
  const path = `/${visit.environment}/webhook-endpoints/${one}/compare`
  return html`<div class="actions"><a class="button second" href="${path}?with=${other}&amp;before=${String(next)}">Compare earlier events</a></div>`
}

/** The home page: setup steps and recent events. */

import type { OperationId } from '../../api/operate.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { html } from '../../platform/html.ts'
import type { SendFramed } from '../engine/frame.ts'
import { linkIn } from '../engine/links.ts'
import { writeTable } from '../engine/list-page.ts'
import type { DashboardRoute } from '../engine/routes.ts'
import type { ApiPage } from '../engine/shapes.ts'
import type { DashboardVisit } from '../engine/visit.ts'
import { EVENT_COLUMNS, type EventObject } from './resources/events.ts'

interface Me {
  readonly tenant: { readonly name: string; readonly plan: string }
}

interface SetupStep {
  readonly list: OperationId
  readonly path: string
  readonly text: string
}

const STEPS: readonly SetupStep[] = [
  {
    list: 'listWebhookEndpoints',
    path: 'webhook-endpoints',
    text: 'Add a webhook endpoint',
  },
  {
    list: 'listPassTemplates',
    path: 'pass-templates',
    text: 'Create a pass template',
  },
  { list: 'listPasses', path: 'passes', text: 'Issue a pass and open it on your phone' },
]

const RECENT = '5'

export function homeRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}`,
    environment,
    needs: 'viewer',
    handle: (visit) => showHome(visit, send),
  }))
}

async function showHome(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const [me, events, ...done] = await Promise.all([
    visit.read<Me>('getMe'),
    visit.read<ApiPage<EventObject>>('listEvents', { query: { limit: RECENT } }),
    ...STEPS.map(({ list }) => visit.read<ApiPage<unknown>>(list, { query: { limit: '1' } })),
  ])
  const link = linkIn(visit)
  const content = html`<section><h2>Get started</h2>
<ol class="steps">${STEPS.map(({ path, text }, index) => {
    const isDone = (done[index]?.data.length ?? 0) > 0
    return html`<li>${link(path, text)}${isDone && html` <span class="state good">Done</span>`}</li>`
  })}</ol></section>
<section><h2>Recent events</h2>
${
  events.data.length > 0
    ? html`${writeTable('Recent events', EVENT_COLUMNS, events.data, link)}<p>${link('events', 'View all events')}</p>`
    : html`<p class="empty">No events yet. Actions by you and your customers appear here.</p>`
}</section>`
  send(visit, 200, { title: me.tenant.name, path: '', content })
}

/** Requests of the last thirty days, by day and kind. */
import type { Operator } from '../../../admin/change.ts'
import { showUsage } from '../../../admin/usage.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import type { SendFramed } from '../shape/frame.ts'
import { linkIn, writeTable } from '../shape/list-page.ts'
import type { Route } from '../shape/routes.ts'
import { words } from '../shape/values.ts'
import type { Visit } from '../shape/visit.ts'

const DAYS = 30

export function usageRoutes(send: SendFramed, operator: Operator): Route[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/usage`,
    environment,
    needs: 'viewer',
    handle: (visit) => show(operator, visit, send),
  }))
}

async function show(operator: Operator, visit: Visit, send: SendFramed): Promise<void> {
  const { tenantId } = visit.member
  const { usage } = await showUsage(operator, { tenantId, environment: visit.environment, days: DAYS })
  const columns = [
    { title: 'Day', show: ({ day }: (typeof usage)[number]) => day },
    { title: 'Kind', show: ({ bucket }: (typeof usage)[number]) => words(bucket) },
    { title: 'Requests', show: ({ requests }: (typeof usage)[number]) => String(requests) },
  ]
  const content = html`<p class="quiet">Requests of the last ${String(DAYS)} days, yours on these pages among them.</p>
${
  usage.length > 0
    ? writeTable('Usage', columns, usage.toReversed(), linkIn(visit))
    : html`<p class="empty">No request has been counted yet.</p>`
}`
  send(visit, 200, { title: 'Usage', path: 'usage', content })
}

/** The page of one delivery attempt, with the endpoint's response and a retry button. */
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { describe, keyField, perform } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { facts, notice } from '../../html/components.ts'
import type { DeliveryAttempt } from './webhook-endpoints.ts'

const RETRY = { operation: 'retryDeliveryAttempt', button: 'Retry delivery', fields: [] } as const

export function attemptRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment) => {
    const path = `/${environment}/webhook-endpoints/:id/attempts/:attempt`
    const show: DashboardRoute = {
      method: 'GET',
      path,
      environment,
      needs: roleFor('getDeliveryAttempt'),
      handle: (visit, id) => showAttempt(visit, id, send),
    }
    const retry: DashboardRoute = {
      method: 'POST',
      path: `${path}/retry`,
      environment,
      needs: roleFor(RETRY.operation),
      handle: async (visit, id) => {
        const answer = await perform(visit, RETRY, { whe_id: id, wdla_id: attemptOf(visit) })
        if (!answer.ok) return showAttempt(visit, id, send, describe(answer.error))
        const next = `/${environment}/webhook-endpoints/${id}/attempts/${(answer.body as DeliveryAttempt).id}`
        visit.finish(next, 'Delivery retried')
      },
    }
    return [show, retry]
  })
}

function attemptOf({ request }: DashboardVisit): string {
  const { attempt } = request.params
  return typeof attempt === 'string' ? attempt : ''
}

async function showAttempt(
  visit: DashboardVisit,
  id: string,
  send: SendFramed,
  fault?: string,
): Promise<void> {
  const attempt = await visit.read<DeliveryAttempt>('getDeliveryAttempt', {
    path: { whe_id: id, wdla_id: attemptOf(visit) },
  })
  const link = linkIn(visit)
  const address = `/${visit.environment}/webhook-endpoints/${attempt.webhook_endpoint_id}/attempts/${attempt.id}/retry`
  const content = html`<p class="trail">${link(`webhook-endpoints/${attempt.webhook_endpoint_id}`, 'Webhook endpoint')}</p>
${fault !== undefined && notice('bad', fault)}
${facts([
  ['ID', code(attempt.id)],
  ['Status', state(attempt.status)],
  ['Event', link.to(attempt.event_id)],
  ['Trigger', words(attempt.trigger)],
  ['Scheduled', when(attempt.scheduled_at)],
  ['Sent', when(attempt.attempted_at)],
  ['Duration', attempt.duration_ms === null ? '–' : `${attempt.duration_ms} ms`],
  ['Response status', String(attempt.response_status ?? '–')],
  ['Error', orDash(attempt.error)],
  ['Next attempt', when(attempt.next_attempt_at)],
])}
${
  mayAct(visit.member.role, roleFor(RETRY.operation)) &&
  html`<form class="actions" method="post" action="${address}">${visit.guard(address)}${keyField()}<button class="second" type="submit">${RETRY.button}</button></form>`
}
<h2>Response body</h2>
${attempt.response_body ? html`<pre tabindex="0">${attempt.response_body}</pre>` : html`<p class="empty">The response body is empty or was not stored.</p>`}`
  send(visit, fault === undefined ? 200 : 409, {
    title: `Delivery attempt ${attempt.attempt}`,
    path: 'webhook-endpoints',
    content,
  })
}

/** The page of one delivery attempt, with the endpoint's response and a retry button. */
import { readTimeline } from '../../../database/backup/restored.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { describe, perform } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { writeBody } from '../../engine/json.ts'
import { linkNaming } from '../../engine/links.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { facts, notice } from '../../html/components.ts'
import { panel } from '../../html/records.ts'
import { type DeliveryAttempt, writeRetry } from './webhook-endpoints.ts'

const RETRY = { operation: 'retryDeliveryAttempt', button: 'Send again', fields: [] } as const

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

/** Says that the endpoint may have received the event before: an earlier delivery is lost if the database was restored. */
async function describeRepetition(
  { operator }: DashboardVisit,
  { scheduled_at, attempted_at }: DeliveryAttempt,
): Promise<readonly [string, string][]> {
  const { restored_at } = await readTimeline(operator.control)
  if (restored_at === null || attempted_at === null) return []
  const isRepeated = Date.parse(scheduled_at) < restored_at && Date.parse(attempted_at) >= restored_at
  return isRepeated ? [['Repeated', 'Perhaps: the database was restored after this attempt was due']] : []
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
  const link = await linkNaming(visit, attempt)
  const content = html`${fault !== undefined && notice('bad', fault)}
<div class="record"><div>${panel(
    'Response body',
    attempt.response_body
      ? writeBody(attempt.response_body, visit)
      : html`<p class="empty">The response body is empty or was not stored.</p>`,
  )}</div>
<aside class="panel" aria-label="Details">${facts([
    ['ID', code(attempt.id)],
    ['Event', link.to(attempt.event_id)],
    ['Trigger', words(attempt.trigger)],
    ['Scheduled', when(attempt.scheduled_at)],
    ['Sent', when(attempt.attempted_at)],
    ['Duration', attempt.duration_ms === null ? '–' : `${attempt.duration_ms} ms`],
    ['Response status', String(attempt.response_status ?? '–')],
    ['Error', orDash(attempt.error)],
    ['Next attempt', when(attempt.next_attempt_at)],
    ...(await describeRepetition(visit, attempt)),
  ])}</aside></div>`
  const mayRetry = mayAct(visit.member.role, roleFor(RETRY.operation))
  send(visit, fault === undefined ? 200 : 409, {
    title: `Delivery attempt ${attempt.attempt}`,
    path: 'webhook-endpoints',
    trail: html`${link('webhook-endpoints', 'Webhook endpoints')} / ${link.to(attempt.webhook_endpoint_id)}`,
    badge: state(attempt.status),
    ...(mayRetry && { actions: html`<div class="actions">${writeRetry(attempt, visit)}</div>` }),
    content,
  })
}

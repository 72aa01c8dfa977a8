/** Promotes resources from the sandbox to live: select them, create a plan, and apply the plan. */
import { html } from '../../../platform/html.ts'
import { showDetail } from '../../engine/detail-page.ts'
import { describe, KEY, keyField } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ApiPage, Identified } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import { ApiRefused, type DashboardVisit, queryText, roleFor } from '../../engine/visit.ts'
import { formField } from '../../html/forms.ts'
import { PROMOTABLE, PROMOTIONS, type Promotion } from './promotions.ts'

export const PROMOTE_PATH = 'promote'

/** Maximum number of resources in one promotion. */
const MAX_CHOICES = 100
const MAX_BYTES = 64 * 1024

export function promoteRoutes(send: SendFramed): DashboardRoute[] {
  const needs = roleFor('createPromotion')
  const live = '/live/promotions'
  return [
    {
      method: 'GET',
      environment: 'sandbox',
      path: `/sandbox/${PROMOTE_PATH}`,
      needs,
      handle: (visit) => choose(visit, send),
    },
    {
      method: 'POST',
      environment: 'live',
      path: `${live}/plan`,
      needs,
      maxBytes: MAX_BYTES,
      handle: plan,
    },
    {
      method: 'POST',
      environment: 'live',
      path: `${live}/:id/apply`,
      needs,
      operation: 'createPromotion',
      handle: (visit, id) => apply(visit, send, id),
    },
  ]
}

interface NamedSource extends Identified {
  readonly name?: string
  readonly url?: string
}

async function choose(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const asked = queryText(visit, 'type') || 'pass_template'
  const chosen = PROMOTABLE[asked]
  if (!chosen) throw new ApiRefused(404, 'This type of resource cannot be promoted.')
  const one = queryText(visit, 'id')
  const { data } = await visit.read<ApiPage<NamedSource>>(chosen.list, {
    query: { limit: String(MAX_CHOICES) },
  })
  const link = linkIn(visit)
  const address = '/live/promotions/plan'
  const content = html`<p class="quiet">Promotion copies resources from the sandbox to live. The copies get new IDs. You review a plan before anything is copied.</p>
<p>${Object.entries(PROMOTABLE).map(([type, { title }]) =>
    type === asked ? html`<strong>${title}</strong> ` : html`${link(`${PROMOTE_PATH}?type=${type}`, title)} `,
  )}</p>
${
  data.length === 0
    ? html`<p class="empty">No ${chosen.title.toLowerCase()} in the sandbox yet. ${link(`${chosen.path}/new`, 'Create one first')}.</p>`
    : html`<form method="post" action="${address}" enctype="multipart/form-data">
${visit.guard(address)}${keyField()}<input type="hidden" name="type" value="${asked}">
<fieldset><legend>${chosen.title}</legend>${data.map(
        ({ id, name, url }) =>
          html`<p><label><input type="checkbox" name="${id}" value="yes"${id === one && html` checked`}> ${name ?? url ?? words(asked)} <code>${id}</code></label></p>`,
      )}</fieldset>
<div class="actions"><button type="submit">Create plan</button></div>
</form>`
}`
  send(visit, 200, { title: 'Promote to live', path: PROMOTE_PATH, content })
}

async function plan(visit: DashboardVisit): Promise<void> {
  const { request } = visit
  const names = Object.keys((request.body ?? {}) as object)
  const answer = await visit.operate('createPromotion', {
    body: {
      resource_type: formField(request, 'type'),
      sandbox_ids: names.filter((name) => /^[a-z]+_[0-9a-z]{26}$/.test(name)),
      dry_run: true,
    },
    idempotencyKey: formField(request, KEY),
  })
  if (!answer.ok) throw new ApiRefused(422, describe(answer.error))
  visit.finish(`/live/promotions/${(answer.body as Promotion).id}`, 'Plan created')
}

async function apply(visit: DashboardVisit, send: SendFramed, id: string): Promise<void> {
  const planned = await visit.read<Promotion>('getPromotion', { path: { promotion_id: id } })
  const answer = await visit.operate('createPromotion', {
    body: {
      resource_type: planned.resource_type,
      sandbox_ids: planned.plan.map(({ sandbox_id }) => sandbox_id),
      plan_id: id,
    },
    idempotencyKey: formField(visit.request, KEY),
  })
  if (answer.ok) return visit.finish(`/live/promotions/${(answer.body as Promotion).id}`, 'Promoted to live')
  await showDetail(visit, PROMOTIONS, PROMOTIONS.detail!, id, send, describe(answer.error))
}

/** Promotions from the sandbox to live, and plans that can be applied. */
import type { ListOperation } from '../../../../generated/canonical/records.ts'
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { keyField } from '../../engine/form-page.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type Identified, type ItemLink, resource } from '../../engine/shapes.ts'
import { code, state, when, words } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { codeField } from '../../html/components.ts'

export type Promotion = components['schemas']['Promotion']
type ShownStep = Promotion['plan'][number]
export type PromotedType = Promotion['resource_type']

/** Resource types that can be promoted, with their list operations and pages. */
export const PROMOTABLE: Readonly<
  Record<string, { readonly title: string; readonly list: ListOperation; readonly path: string }>
> = {
  pass_template: { title: 'Pass templates', list: 'listPassTemplates', path: 'pass-templates' },
  card_program: { title: 'Card programs', list: 'listCardPrograms', path: 'card-programs' },
  webhook_endpoint: { title: 'Webhook endpoints', list: 'listWebhookEndpoints', path: 'webhook-endpoints' },
}

const ACTIONS: Readonly<Record<string, string>> = {
  create: 'Creates a copy in live.',
  unchanged: 'The live copy matches its source. No action.',
  differs: 'The live copy differs from its source. No action.',
  refused: 'The resource is not valid in live.',
}

const countOf = ({ plan }: Promotion, action: string) => plan.filter((step) => step.action === action).length

/** Returns the link from a resource page to the promotion form. */
export function promotes(type: PromotedType): ItemLink<Identified> {
  return {
    operation: 'createPromotion',
    environment: 'sandbox',
    text: 'Promote to live',
    to: ({ id }) => `promote?type=${type}&id=${id}`,
  }
}

export const PROMOTIONS = resource<Promotion>({
  path: 'promotions',
  title: 'Promotions',
  intro: 'Copies of sandbox configuration in live, and plans for such copies.',
  environment: 'live',
  list: {
    operation: 'listPromotions',
    columns: [
      { title: 'Promotion', show: ({ id }) => code(id) },
      { title: 'Resource type', show: ({ resource_type }) => words(resource_type) },
      { title: 'Status', show: ({ dry_run }) => state(dry_run ? 'planned' : 'done') },
      { title: 'Copies', show: ({ created }) => String(created.length) },
      { title: 'Created', show: ({ promoted_at }) => when(promoted_at) },
    ],
    empty: 'No promotions yet. Open a resource in the sandbox, and promote it to live.',
    above: ({ member }) =>
      html`${mayAct(member.role, roleFor('createPromotion')) && html`<div class="actions"><a class="button" href="/sandbox/promote">Promote to live</a></div>`}`,
  },
  detail: {
    operation: 'getPromotion',
    parameter: 'promotion_id',
    name: ({ dry_run }) => (dry_run ? 'Promotion plan' : 'Promotion'),
    facts: ({ id, resource_type, dry_run, created, promoted_at }) => [
      ['ID', code(id)],
      ['Resource type', words(resource_type)],
      ['Status', state(dry_run ? 'planned' : 'done')],
      ['Copies', String(created.length)],
      ['Created', when(promoted_at)],
    ],
    sections: [
      { title: 'Plan', write: writePlan },
      { title: 'Apply', write: writeApply },
    ],
  },
})

function writePlan({ plan, resource_type, created }: Promotion, visit: DashboardVisit): Html {
  const path = PROMOTABLE[resource_type]?.path
  const item = (environment: string, id: string) =>
    path === undefined ? code(id) : html`<a href="/${environment}/${path}/${id}">${code(id)}</a>`
  const copies = new Map(created.map(({ sandbox_id, live_id }) => [sandbox_id, live_id]))
  return writeTable(
    'Plan',
    [
      { title: 'Sandbox', show: ({ sandbox_id }: ShownStep) => item('sandbox', sandbox_id) },
      { title: 'Action', show: ({ action }) => state(action) },
      { title: 'Details', show: writeReasons },
      {
        title: 'Live',
        show: ({ sandbox_id, live_id }) => {
          const id = copies.get(sandbox_id) ?? live_id
          return id === null ? '–' : item('live', id)
        },
      },
    ],
    plan,
    linkIn(visit),
  )
}

function writeReasons({ action, differences, problems }: ShownStep): Html {
  return html`${ACTIONS[action] ?? ''}${problems.map(({ field, issue }) => html`<br>${field === '' ? 'The resource' : code(field)} ${issue}.`)}${differences.map(
    ({ field, sandbox, live }) =>
      html`<br>${code(field)}: ${sandbox ?? '–'} in the sandbox, ${live ?? '–'} in live`,
  )}`
}

function writeApply(promotion: Promotion, visit: DashboardVisit): Html {
  const count = countOf(promotion, 'create')
  if (!promotion.dry_run) return html`<p>This promotion is complete.</p>`
  if (countOf(promotion, 'refused') > 0)
    return html`<p>You cannot apply this plan, because at least one resource is refused and a promotion copies all resources or none. Fix the resource in the sandbox, and then create a new plan.</p>`
  if (count === 0) return html`<p>This plan contains no copies to create.</p>`
  if (!mayAct(visit.member.role, roleFor('createPromotion')))
    return html`<p>Only an owner can apply this plan.</p>`
  const address = `/live/promotions/${promotion.id}/apply`
  return html`<p>Applying this plan creates ${count === 1 ? '1 copy' : `${count} copies`} in live. If anything has changed since the plan was created, nothing is copied.</p>
<form method="post" action="${address}">${visit.guard(address)}${keyField()}${codeField('apply')}<div class="actions"><button type="submit">Promote to live</button></div></form>`
}

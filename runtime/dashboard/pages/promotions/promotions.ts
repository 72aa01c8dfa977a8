/** What went from the sandbox to live, and what would: a plan of each, which can be carried out. */
import type { ListOperation } from '../../../../generated/canonical/records.ts'
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { keyField } from '../../engine/form-page.ts'
import { linkIn, writeTable } from '../../engine/list-page.ts'
import { type Identified, type ItemLink, resource } from '../../engine/shapes.ts'
import { code, state, when, words } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { codeField } from '../../html/components.ts'

export type Promotion = components['schemas']['Promotion']
type ShownStep = Promotion['plan'][number]
export type PromotedType = Promotion['resource_type']

/** What can be promoted: its name, the operation that lists it, and its pages. */
export const PROMOTABLE: Readonly<
  Record<string, { readonly title: string; readonly list: ListOperation; readonly path: string }>
> = {
  pass_template: { title: 'Pass templates', list: 'listPassTemplates', path: 'pass-templates' },
  card_program: { title: 'Card programs', list: 'listCardPrograms', path: 'card-programs' },
  webhook_endpoint: { title: 'Webhook endpoints', list: 'listWebhookEndpoints', path: 'webhook-endpoints' },
}

const ACTIONS: Readonly<Record<string, string>> = {
  create: 'A copy is made.',
  unchanged: 'The copy is as its source: nothing is done.',
  differs: 'The copy differs from its source: nothing is done.',
  refused: 'It may not be in live as it is.',
}

const countOf = ({ plan }: Promotion, action: string) => plan.filter((step) => step.action === action).length

/** From the page of what can be promoted to where it is. */
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
  intro:
    'Configuration that was copied from the sandbox to live, under identifiers of its own, and plans of that.',
  environment: 'live',
  list: {
    operation: 'listPromotions',
    columns: [
      { title: 'Promotion', show: ({ id }) => code(id) },
      { title: 'What', show: ({ resource_type }) => words(resource_type) },
      { title: 'State', show: ({ dry_run }) => state(dry_run ? 'planned' : 'done') },
      { title: 'Copies', show: ({ created }) => String(created.length) },
      { title: 'Time', show: ({ promoted_at }) => when(promoted_at) },
    ],
    empty: 'Nothing was promoted yet. Open what you have made in the sandbox, and promote it from there.',
  },
  detail: {
    operation: 'getPromotion',
    parameter: 'promotion_id',
    name: ({ dry_run }) => (dry_run ? 'Plan of a promotion' : 'Promotion'),
    facts: ({ id, resource_type, dry_run, created, promoted_at }) => [
      ['Identifier', code(id)],
      ['What', words(resource_type)],
      ['State', state(dry_run ? 'planned' : 'done')],
      ['Copies', String(created.length)],
      ['Time', when(promoted_at)],
    ],
    sections: [
      { title: 'Plan', write: writePlan },
      { title: 'Carry it out', write: writeApply },
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
      { title: 'In the sandbox', show: ({ sandbox_id }: ShownStep) => item('sandbox', sandbox_id) },
      { title: 'What is done', show: ({ action }) => state(action) },
      { title: 'Why', show: writeReasons },
      {
        title: 'In live',
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
  return html`${ACTIONS[action] ?? ''}${problems.map(({ field, issue }) => html`<br>${field === '' ? 'It' : code(field)} ${issue}.`)}${differences.map(
    ({ field, sandbox, live }) =>
      html`<br>${code(field)}: ${sandbox ?? '–'} in the sandbox, ${live ?? '–'} in live`,
  )}`
}

function writeApply(promotion: Promotion, visit: DashboardVisit): Html {
  const count = countOf(promotion, 'create')
  if (!promotion.dry_run) return html`<p>It was carried out.</p>`
  if (countOf(promotion, 'refused') > 0)
    return html`<p>Not as long as something is refused: all of it is copied, or nothing. Put it right in the sandbox, and plan again.</p>`
  if (count === 0) return html`<p>There is nothing to do.</p>`
  if (!mayAct(visit.member.role, roleFor('createPromotion'))) return html`<p>An owner can do that.</p>`
  const address = `/live/promotions/${promotion.id}/apply`
  return html`<p>${count === 1 ? 'One copy is' : `${count} copies are`} made in live, and used from then on as anything else there. Nothing is done if anything has changed since the plan.</p>
<form method="post" action="${address}">${visit.guard(address)}${keyField()}${codeField('apply')}<div class="actions"><button type="submit">Promote to live</button></div></form>`
}

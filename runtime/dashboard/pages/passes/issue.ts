/** Issues a pass: the member selects a template and then enters the values of the pass. */
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { describe, faultOf, KEY, keyField } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { queryText } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ApiPage, Identified } from '../../engine/shapes.ts'
import { ApiRefused, type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { choice, field, notice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import type { TemplateObject } from '../templates/draft.ts'

const PATH = 'passes'
const TEMPLATE = 'template_id'
const MAX_CHOICES = '100'

export function issueRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => {
    const common = { environment, path: `/${environment}/${PATH}/new`, needs: roleFor('createPass') }
    return [
      { ...common, method: 'GET', handle: (visit) => begin(visit, send) },
      { ...common, method: 'POST', handle: (visit) => issue(visit, send) },
    ]
  })
}

async function begin(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const id = queryText(visit, TEMPLATE).trim()
  if (id === '') return showChoice(visit, send, 'Issue pass')
  showForm(visit, await visit.read<TemplateObject>('getPassTemplate', { path: { template_id: id } }), send)
}

/** Shows a form to select a template. The form submits to the current page. @param title page title. */
export async function showChoice(visit: DashboardVisit, send: SendFramed, title: string): Promise<void> {
  const { data } = await visit.read<ApiPage<TemplateObject>>('listPassTemplates', {
    query: { status: 'active', limit: MAX_CHOICES },
  })
  const content =
    data.length === 0
      ? html`<p class="empty">No pass templates yet. ${linkIn(visit)('pass-templates/new', 'Create a template')} before you issue a pass.</p>`
      : html`<form method="get">
${choice({
  name: TEMPLATE,
  label: 'Template',
  options: data.map(({ id, name }) => [id, name] as const),
  hint: 'Only the 100 newest templates are listed. To use an older template, start from its page.',
})}
<div class="actions"><button type="submit">Continue</button> <a class="button second" href="/${visit.environment}/${PATH}">Back</a></div>
</form>`
  send(visit, 200, { title, path: PATH, content })
}

function showForm(
  visit: DashboardVisit,
  template: TemplateObject,
  send: SendFramed,
  error?: ErrorBody,
): void {
  const list = `/${visit.environment}/${PATH}`
  const address = `${list}/new`
  const one = (name: string, label: string, rest: Readonly<{ hint?: string; of?: string }> = {}): Html =>
    field({
      name,
      label,
      optional: true,
      hint: rest.hint,
      value: formField(visit.request, name),
      fault: faultOf(rest.of ?? name, error),
    })
  const content = html`${error && notice('bad', (error.details ?? []).length > 0 ? `Check the highlighted fields. ${describe(error)}` : describe(error))}
<p>Template: ${linkIn(visit)(`pass-templates/${template.id}`, template.name)}.</p>
<form method="post" action="${address}">
${visit.guard(address)}${keyField()}<input type="hidden" name="${TEMPLATE}" value="${template.id}">
${one('holder.name', 'Holder name')}
${one('holder.email', 'Holder email')}
${template.fields.map(({ key, label, value }) =>
  one(`fields.${key}`, label === '' ? key : label, { hint: value === '' ? '' : `Default: ${value}` }),
)}
${one('expires_at', 'Expires', { hint: 'For example, 2027-01-31 or 2027-01-31T18:00:00Z. Leave empty for no expiry.' })}
<div class="actions"><button type="submit">Issue pass</button> <a class="button second" href="${list}">Back</a></div>
</form>`
  send(visit, error ? 422 : 200, { title: 'Issue pass', path: PATH, content })
}

async function issue(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { request } = visit
  const template_id = formField(request, TEMPLATE)
  if (template_id === '')
    throw new ApiRefused(422, 'The form does not contain a template. Select a template first.')
  const template = await visit.read<TemplateObject>('getPassTemplate', { path: { template_id } })
  const typed = (name: string) => formField(request, name).trim()
  const answer = await visit.operate('createPass', {
    body: passBody(
      template_id,
      { name: typed('holder.name'), email: typed('holder.email') },
      Object.fromEntries(template.fields.map(({ key }) => [key, typed(`fields.${key}`)])),
      typed('expires_at'),
    ),
    idempotencyKey: formField(request, KEY),
  })
  if (!answer.ok) return showForm(visit, template, send, answer.error)
  visit.finish(`/${visit.environment}/${PATH}/${(answer.body as Identified).id}`, 'Pass issued')
}

/** Returns the request body. Empty values are omitted, so that the values of the template apply. */
export function passBody(
  template_id: string,
  holder: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, string>>,
  expires: string,
): object {
  const given = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  return {
    template_id,
    holder: given(holder),
    fields: given(fields),
    // A date without a time means the end of that day.
    ...(expires !== '' && {
      expires_at: /^\d{4}-\d\d-\d\d$/.test(expires) ? `${expires}T23:59:59Z` : expires,
    }),
  }
}

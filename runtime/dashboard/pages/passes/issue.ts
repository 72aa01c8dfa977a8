/** Issues a pass: the member selects a template and then enters the values of the pass. */
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { writeCalls } from '../../engine/api-call.ts'
import { describe, faultOf, KEY, keyField } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { lookupOf } from '../../engine/picking.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { Identified } from '../../engine/shapes.ts'
import { ApiRefused, type DashboardVisit, queryText, roleFor } from '../../engine/visit.ts'
import { notice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import { FORM_SCRIPT, picker, typedName } from '../../html/picker.ts'
import { TEMPLATE as TEMPLATES } from '../pickers/pickable.ts'
import type { DraftContent, TemplateObject } from '../templates/draft.ts'
import { PASSES_PATH } from './pass.ts'
import { readInputs, toInstant, writeInputs, writeOutlook } from './pass-form.ts'

const TEMPLATE = 'template_id'
/** Maximum size of a form with the values of a pass. */
export const MAX_FORM_BYTES = 64 * 1024
const ACTIVE = 'active'

export function issueRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => {
    const common = { environment, path: `/${environment}/${PASSES_PATH}/new`, needs: roleFor('createPass') }
    return [
      { ...common, method: 'GET', handle: (visit) => begin(visit, send) },
      { ...common, method: 'POST', maxBytes: MAX_FORM_BYTES, handle: (visit) => issue(visit, send) },
    ]
  })
}

async function begin(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const id = pickedTemplate(visit)
  if (id === '') return showChoice(visit, send, 'Issue pass')
  const template = await visit.read<TemplateObject>('getPassTemplate', { path: { template_id: id } })
  const values = template.fields.map(({ key, value }) => [`fields.${key}`, value])
  await showForm(visit, send, template, Object.fromEntries(values))
}

/** Shows a form to find a template. The form submits to the current page. @param title page title. */
export async function showChoice(visit: DashboardVisit, send: SendFramed, title: string): Promise<void> {
  const text = queryText(visit, typedName(TEMPLATE)).trim()
  const offered = await TEMPLATES.find(visit, text, ACTIVE)
  const isMissing = text !== '' && offered.length === 0
  const content =
    offered.length === 0 && text === ''
      ? html`<p class="empty">No pass templates yet. ${linkIn(visit)('pass-templates/new', 'Create a template')} before you issue a pass.</p>`
      : html`<form method="get">
${picker({
  name: TEMPLATE,
  label: 'Template',
  offered,
  picked: offered.length === 1 ? offered.map(({ id }) => id) : [],
  lookup: lookupOf(visit, TEMPLATES, ACTIVE),
  ...(isMissing && { value: text, fault: 'No active template has this name or ID.' }),
})}
<div class="actions"><button type="submit">Continue</button> <a class="button second" href="/${visit.environment}/${PASSES_PATH}">Back</a></div>
</form>`
  send(visit, 200, { title, path: PASSES_PATH, scripts: [FORM_SCRIPT], content })
}

/** Returns the picked template. Empty if the member has yet to choose one of those that match the text. */
export function pickedTemplate(visit: DashboardVisit): string {
  return queryText(visit, typedName(TEMPLATE)).trim() === '' ? queryText(visit, TEMPLATE).trim() : ''
}

async function showForm(
  visit: DashboardVisit,
  send: SendFramed,
  template: TemplateObject,
  typed: DraftContent,
  error?: ErrorBody,
): Promise<void> {
  const list = `/${visit.environment}/${PASSES_PATH}`
  const address = `${list}/new`
  const above = html`<p class="quiet">Of the template ${linkIn(visit)(`pass-templates/${template.id}`, template.name)}.</p>`
  const content = html`${error && notice('bad', (error.details ?? []).length > 0 ? 'Check the highlighted fields.' : describe(error))}
<div class="studio">
<form method="post" action="${address}" enctype="multipart/form-data" data-preview>
${visit.guard(address)}${keyField()}<input type="hidden" name="${TEMPLATE}" value="${template.id}">
${writeInputs(template, typed, (path) => faultOf(path, error))}
<div class="actions"><button type="submit">Issue pass</button> <button class="second" type="submit" name="do" value="preview" formnovalidate>Update preview</button> <a class="button second" href="${list}">Back</a></div>
${writeCalls([{ operation: 'createPass', path: {}, body: issueBody(template, typed) }], visit.apiUrl)}
</form>
${await writeOutlook(visit, template, typed, 'New pass', above)}
</div>`
  const scripts = ['template-preview.js']
  send(visit, error ? 422 : 200, { title: 'Issue pass', path: PASSES_PATH, scripts, content })
}

async function issue(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { request } = visit
  const template_id = formField(request, TEMPLATE)
  if (template_id === '')
    throw new ApiRefused(422, 'The form does not contain a template. Select a template first.')
  const template = await visit.read<TemplateObject>('getPassTemplate', { path: { template_id } })
  const typed = readInputs(visit, template)
  if (formField(request, 'do') !== '') return showForm(visit, send, template, typed)
  const answer = await visit.operate('createPass', {
    body: issueBody(template, typed),
    idempotencyKey: formField(request, KEY),
  })
  if (!answer.ok) return showForm(visit, send, template, typed, answer.error)
  visit.finish(`/${visit.environment}/${PASSES_PATH}/${(answer.body as Identified).id}`, 'Pass issued')
}

function issueBody({ id, fields }: TemplateObject, typed: DraftContent): object {
  const text = (path: string) => String(typed[path] ?? '')
  // A value that equals the template's is not sent, so that it follows changes of the template.
  const own = fields.filter(({ key, value }) => text(`fields.${key}`) !== value)
  return passBody(
    id,
    { name: text('holder.name'), email: text('holder.email') },
    Object.fromEntries(own.map(({ key }) => [key, text(`fields.${key}`)])),
    text('expires_at'),
  )
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
    ...(expires !== '' && { expires_at: toInstant(expires) }),
  }
}

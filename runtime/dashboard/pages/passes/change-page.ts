/** The form that changes a pass, next to the pass as wallets will show it. */
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { type Html, html } from '../../../platform/html.ts'
import { describe, faultOf } from '../../engine/form-page.ts'
import { orDash } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { field, notice, textArea } from '../../html/components.ts'
import { changedPaths, type DraftContent, type TemplateObject, writeDigest } from '../templates/draft.ts'
import { drawPass, PASSES_PATH, type PassObject, WALLETS } from './pass.ts'
import { isCounted } from './steps.ts'
import { labelOf } from './values.ts'

export interface PassForm {
  readonly pass: PassObject
  readonly template: TemplateObject
  /** Content of the pass when the form was loaded. */
  readonly began: DraftContent
  readonly typed: DraftContent
  /** Paths that someone else changed in the meantime. */
  readonly taken?: readonly string[]
  readonly error?: ErrorBody
}

/** Name of the hidden field with the content of the pass when the form was loaded. */
export const BEGAN = 'began'

const LABELS: Readonly<Record<string, string>> = {
  'holder.name': 'Holder name',
  'holder.email': 'Holder email',
  expires_at: 'Expires',
}

/** Whether a text needs more than one line. */
const isLong = (text: string) => text.length > 60 || text.includes('\n')

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

export async function writePassForm(visit: DashboardVisit, form: PassForm): Promise<Html> {
  const { pass, template, began, typed, taken = [], error } = form
  const back = `/${visit.environment}/${PASSES_PATH}/${pass.id}`
  const address = `${back}/change`
  const given = (path: string, label: string, hint?: string) => ({
    name: path,
    label,
    hint,
    optional: true,
    value: textOf(typed[path]),
    fault: taken.includes(path)
      ? `Now ${textOf(began[path]) || 'empty'}, because it changed since you opened the page. To keep your value, save again.`
      : faultOf(path, error),
  })
  const writeValue = (each: TemplateObject['fields'][number]) => {
    const path = `fields.${each.key}`
    const hint =
      each.value === '' || isCounted(each.value) ? undefined : 'Leave empty for the value of the template.'
    const value = given(path, labelOf(each), hint)
    return isLong(value.value) || isLong(each.value) ? textArea(value) : field(value)
  }
  return html`${error && notice('bad', (error.details ?? []).length > 0 ? 'Check the highlighted fields.' : describe(error))}
${taken.length > 0 && notice('warn', 'The pass changed since you opened the page. Your changes are not saved yet.')}
<div class="studio">
<form method="post" action="${address}" enctype="multipart/form-data" data-preview>
${visit.guard(address)}<input type="hidden" name="${BEGAN}" value="${writeDigest(began)}">
<fieldset><legend>Values</legend>
${template.fields.map(writeValue)}
</fieldset>
<fieldset><legend>Holder</legend>
<div class="columns">${field(given('holder.name', 'Name'))}${field({ ...given('holder.email', 'Email'), type: 'email' })}</div>
</fieldset>
${field({ ...given('expires_at', 'Expires (UTC)', 'Leave empty for no expiry.'), type: 'datetime-local', value: textOf(typed.expires_at).replace(/Z$/, '') })}
<div class="actions"><button type="submit">Save pass</button> <button class="second" type="submit" name="do" value="preview" formnovalidate>Update preview</button> <a class="button second" href="${back}">Back</a></div>
</form>
${await writeOutlook(visit, form)}
</div>`
}

/** Writes what saving the form changes, and the pass as wallets will show it. */
async function writeOutlook(
  visit: DashboardVisit,
  { pass, template, began, typed }: PassForm,
): Promise<Html> {
  const labels = new Map(template.fields.map((each) => [`fields.${each.key}`, labelOf(each)]))
  const values = new Map(template.fields.map((each) => [`fields.${each.key}`, each.value]))
  const at = (content: DraftContent, path: string) => textOf(content[path]) || values.get(path)
  const changes = changedPaths(began, typed)
  const expires = textOf(typed.expires_at)
  const drawn = await drawPass(visit, template, {
    ...pass,
    holder: { name: textOf(typed['holder.name']) || null, email: null },
    fields: Object.fromEntries(template.fields.map(({ key }) => [key, at(typed, `fields.${key}`) ?? ''])),
    expires_at: Number.isNaN(Date.parse(expires)) ? null : expires,
  })
  return html`<section class="previews" id="preview" aria-labelledby="preview-title" tabindex="0"><h2 class="first" id="preview-title">After saving</h2>
${
  changes.length === 0
    ? html`<p class="quiet">No changes yet.</p>`
    : html`<dl class="changes">${changes.map(
        (path) =>
          html`<dt>${labels.get(path) ?? LABELS[path] ?? path}</dt><dd><del>${orDash(at(began, path))}</del> → <ins>${orDash(at(typed, path))}</ins></dd>`,
      )}</dl><p class="quiet">${writeReach(pass)}</p>`
}
${drawn}
</section>`
}

/** Says where the change will arrive. */
function writeReach({ platforms }: Pick<PassObject, 'platforms'>): string {
  const wallets = platforms.map((each) => WALLETS[each] ?? each)
  return wallets.length === 0
    ? 'The pass is not in a wallet. A phone gets these values when it adds the pass.'
    : `${wallets.join(' and ')} ${wallets.length === 1 ? 'gets' : 'get'} the new values within a minute.`
}

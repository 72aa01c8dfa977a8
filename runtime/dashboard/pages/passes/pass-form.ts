/** The form with everything that differs between passes of a template, next to the pass as wallets will show it. */
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeCalls } from '../../engine/api-call.ts'
import { describe, faultOf } from '../../engine/form-page.ts'
import { orDash } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { field, notice, textArea } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import {
  changedPaths,
  type DraftContent,
  draftOf,
  patchBody,
  type TemplateObject,
  writeDigest,
} from '../templates/draft.ts'
import { drawPasses, type PassContent, SAMPLE, scanCodeOf } from '../templates/preview.ts'
import { PASSES_PATH, type PassObject, WALLETS } from './pass.ts'
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

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** Whether a text needs more than one line. */
const isLong = (text: string) => text.length > 60 || text.includes('\n')

/** Returns what a form with the inputs of `writeInputs` contains. Null means no value. */
export function readInputs({ request }: DashboardVisit, { fields }: TemplateObject): DraftContent {
  const paths = [...fields.map(({ key }) => `fields.${key}`), ...Object.keys(LABELS)]
  const read = (path: string) => {
    const text = formField(request, path).replaceAll('\r\n', '\n').trim()
    return text === '' ? null : path === 'expires_at' ? toInstant(text) : text
  }
  return Object.fromEntries(paths.map((path) => [path, read(path)]))
}

/** Returns a time in UTC. Browsers leave out the seconds if they are 0. A date without a time means the end of that day. */
export function toInstant(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}T23:59:59Z`
  if (/T\d\d:\d\d$/.test(text)) return `${text}:00Z`
  return /T\d\d:\d\d:\d\d$/.test(text) ? `${text}Z` : text
}

/** Writes the inputs for everything that differs between passes of the template. */
export function writeInputs(
  { fields }: TemplateObject,
  typed: DraftContent,
  fault: (path: string) => string | undefined,
): Html {
  const given = (path: string, label: string) => ({
    name: path,
    label,
    optional: true,
    value: textOf(typed[path]),
    fault: fault(path),
  })
  const writeValue = (each: TemplateObject['fields'][number]) => {
    const value = given(`fields.${each.key}`, labelOf(each))
    return isLong(value.value) || isLong(each.value) ? textArea(value) : field(value)
  }
  return html`<fieldset><legend>Holder</legend>
<div class="columns">${field(given('holder.name', 'Name'))}${field({ ...given('holder.email', 'Email'), type: 'email' })}</div>
</fieldset>
${fields.length > 0 && html`<fieldset><legend>Values</legend>\n<p class="quiet">Wallets show the value of the template for a field that you leave empty.</p>\n${fields.map(writeValue)}\n</fieldset>`}
${field({ ...given('expires_at', 'Expires (UTC)'), hint: 'Leave empty for no expiry.', type: 'datetime-local', value: textOf(typed.expires_at).replace(/Z$/, '') })}`
}

/** Returns what wallets show after the form is saved. Empty values are those of the template. */
function contentOf(
  { fields }: TemplateObject,
  typed: DraftContent,
): Pick<PassContent, 'holder' | 'values' | 'expiresAt'> {
  const own = fields.flatMap(({ key }) => {
    const value = textOf(typed[`fields.${key}`])
    return value === '' ? [] : [[key, value] as const]
  })
  const expires = Date.parse(textOf(typed.expires_at))
  return {
    holder: { name: textOf(typed['holder.name']) || null, email: textOf(typed['holder.email']) || null },
    values: Object.fromEntries(own),
    expiresAt: Number.isNaN(expires) ? null : expires,
  }
}

/** Writes the pass beside its form. The page script replaces it when the form changes. @param pass absent for a new pass. */
export async function writeOutlook(
  visit: DashboardVisit,
  template: TemplateObject,
  typed: DraftContent,
  title: string,
  above: Html,
  pass?: PassObject,
): Promise<Html> {
  const drawn = await drawPasses(visit, draftOf(template), {
    ...SAMPLE,
    ...contentOf(template, typed),
    ...(pass && { status: pass.status, scanCode: await scanCodeOf(visit, pass.id) }),
  })
  return html`<section class="previews" id="preview" aria-labelledby="preview-title" tabindex="0"><h2 class="first" id="preview-title">${title}</h2>
${above}
${drawn}
</section>`
}

export async function writePassForm(visit: DashboardVisit, form: PassForm): Promise<Html> {
  const { pass, template, began, typed, taken = [], error } = form
  const back = `/${visit.environment}/${PASSES_PATH}/${pass.id}`
  const address = `${back}/change`
  const fault = (path: string) =>
    taken.includes(path)
      ? `Now ${textOf(began[path]) || 'empty'}, because it changed since you opened the page. To keep your value, save again.`
      : faultOf(path, error)
  return html`${error && notice('bad', (error.details ?? []).length > 0 ? 'Check the highlighted fields.' : describe(error))}
${taken.length > 0 && notice('warn', 'The pass changed since you opened the page. Your changes are not saved yet.')}
<div class="studio">
<form method="post" action="${address}" enctype="multipart/form-data" data-preview>
${visit.guard(address)}<input type="hidden" name="${BEGAN}" value="${writeDigest(began)}">
${writeInputs(template, typed, fault)}
<div class="actions"><button type="submit">Save pass</button> <button class="second" type="submit" name="do" value="preview" formnovalidate>Update preview</button> <a class="button second" href="${back}">Back</a></div>
${writeCalls([{ operation: 'updatePass', path: { pass_id: pass.id }, body: patchBody(began, typed) }], visit.apiUrl)}
</form>
${await writeOutlook(visit, template, typed, 'After saving', writeChanges(form), pass)}
</div>`
}

/** Writes what saving the form changes. */
function writeChanges({ pass, template, began, typed }: PassForm): Html {
  const fields = new Map(template.fields.map((each) => [`fields.${each.key}`, each]))
  const show = (content: DraftContent, path: string) =>
    orDash(textOf(content[path]) || fields.get(path)?.value)
  const name = (path: string) => {
    const of = fields.get(path)
    return of ? labelOf(of) : (LABELS[path] ?? path)
  }
  const changes = changedPaths(began, typed)
  if (changes.length === 0) return html`<p class="quiet">No changes yet.</p>`
  return html`<dl class="changes">${changes.map(
    (path) =>
      html`<dt>${name(path)}</dt><dd><span class="was">${show(began, path)}</span> → <strong>${show(typed, path)}</strong></dd>`,
  )}</dl><p class="quiet">${writeReach(pass)}</p>`
}

/** Says where the change will arrive. */
function writeReach({ platforms }: Pick<PassObject, 'platforms'>): string {
  const wallets = platforms.map((each) => WALLETS[each] ?? each)
  return wallets.length === 0
    ? 'The pass is not in a wallet. A phone gets these values when it adds the pass.'
    : `${wallets.join(' and ')} ${wallets.length === 1 ? 'gets' : 'get'} the new values after you save.`
}

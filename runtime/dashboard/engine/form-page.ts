/** Shows forms for API operations, and performs the operations when the forms are submitted. */
import { randomUUID } from 'node:crypto'
import type { Detail as FieldFault } from 'dateline/runtime'
import type { ErrorBody } from '../../api/errors/errors.ts'
import { findOperation } from '../../api/operate.ts'
import { type Html, html } from '../../platform/html.ts'
import { choice, codeField, field, fileField, type InputField, notice, textArea } from '../html/components.ts'
import { formField } from '../html/forms.ts'
import { uploadedFile } from '../html/uploads.ts'
import { bodyOf } from './bodies.ts'
import type { SendFramed } from './frame.ts'
import { queryText } from './list-page.ts'
import type { ApiPage, FormField, FormValues, Identified, OperationForm, Suggest } from './shapes.ts'
import { sentence } from './values.ts'
import type { DashboardVisit } from './visit.ts'

/** Name of the hidden field with the idempotency key. */
export const KEY = 'idempotency_key'

/** Writes the idempotency key, so that a form submitted twice acts once. A form that is shown again gets a new key. */
export function keyField(): Html {
  return html`<input type="hidden" name="${KEY}" value="${randomUUID()}">`
}

export interface FormPlace {
  readonly title: string
  /** First path segment below the environment. */
  readonly path: string
  /** Target of the form. */
  readonly address: string
  /** Target of the Back link. */
  readonly back: string
  readonly intro?: string
  readonly warning?: string | undefined
  readonly isDanger?: boolean | undefined
}

export interface FormState {
  readonly values?: FormValues
  readonly error?: ErrorBody
}

type AskedForm = Pick<OperationForm, 'operation' | 'button' | 'fields'>

export async function showForm(
  visit: DashboardVisit,
  form: AskedForm,
  place: FormPlace,
  send: SendFramed,
  { values, error }: FormState = {},
): Promise<void> {
  const suggested = await Promise.all(
    form.fields.map(({ suggest }) => suggest && readSuggestions(visit, suggest)),
  )
  const faults = new Map(
    form.fields.map(({ name, of = [name] }) => [
      name,
      of.map((each) => faultOf(each, error)).find((fault) => fault !== undefined),
    ]),
  )
  const isFaulty = [...faults.values()].some((fault) => fault !== undefined)
  const content = html`${error && notice('bad', isFaulty ? 'Check the highlighted fields.' : describe(error))}
${place.intro !== undefined && html`<p class="quiet">${place.intro}</p>`}
${place.warning !== undefined && notice('warn', place.warning)}
<form method="post" action="${place.address}"${hasFiles(form) && html` enctype="multipart/form-data"`}>
${visit.guard(place.address)}${keyField()}
${form.fields.map((each, index) =>
  writeField(each, {
    value: values?.[each.name] ?? (preset(visit, each) || each.value),
    fault: faults.get(each.name),
    suggestions: suggested[index],
  }),
)}
${visit.takesCode && codeField('form')}
<div class="actions"><button type="submit"${place.isDanger && html` class="danger"`}>${form.button}</button> <a class="button second" href="${place.back}">Back</a></div>
</form>`
  send(visit, error ? statusOf(error) : 200, { title: place.title, path: place.path, content })
}

/** Whether the form is submitted as `multipart/form-data`. */
export function hasFiles({ fields }: Pick<OperationForm, 'fields'>): boolean {
  return fields.some(({ kind }) => kind === 'file')
}

/** Returns 422 for every API error except a rate limit. */
function statusOf({ type }: ErrorBody): number {
  return type === 'rate_limited' ? 429 : 422
}

/** Returns the value from the URL query. Only ID fields are filled in, so that external links cannot set other values. */
function preset(visit: DashboardVisit, { name, suggest }: FormField): string | undefined {
  return suggest && queryText(visit, name)
}

const SUGGESTED = '10'

/** Returns the newest items of a list. */
async function readSuggestions(visit: DashboardVisit, { operation, query, text }: Suggest) {
  const { data } = await visit.read<ApiPage<Identified>>(operation, { query: { ...query, limit: SUGGESTED } })
  return data.map((item) => [item.id, text(item as never)] as const)
}

type Written = Pick<InputField, 'value' | 'fault' | 'suggestions'>

function writeField({ kind = 'text', options = [], ...asked }: FormField, written: Written): Html {
  const given = { ...asked, ...written }
  if (kind === 'choice' || kind === 'truth') return choice({ ...given, options })
  if (kind === 'file') return fileField(given)
  return kind === 'lines' ? textArea(given) : field({ ...given, inputMode: INPUT_MODES[kind] })
}

const INPUT_MODES = { text: undefined, amount: 'decimal', number: 'numeric' } as const

/** Returns the API's error message for the field or its members. */
export function faultOf(name: string, error: ErrorBody | undefined): string | undefined {
  if (!error) return undefined
  const isOf = ({ field: at }: FieldFault) =>
    at === name || at.startsWith(`${name}.`) || at.startsWith(`${name}[`)
  const issues = (error.details ?? []).filter(isOf).map(({ issue }) => issue)
  if (issues.length > 0) return sentence([...new Set(issues)].join('; '))
  return error.param === name ? error.message : undefined
}

/** Returns the error message with all its details and the request ID. */
export function describe({ message, details = [], request_id }: ErrorBody): string {
  const named = details.map(({ field: at, issue }) => `${at} ${issue}`).join('; ')
  return `${message}${named === '' ? '' : ` ${named}.`} (${request_id})`
}

export function readValues({ request }: DashboardVisit, fields: readonly FormField[]): FormValues {
  return Object.fromEntries(fields.map(({ name }) => [name, formField(request, name).trim()]))
}

/** Performs the operation of a form. If the form is submitted twice, the operation is performed once. */
export function perform(
  visit: DashboardVisit,
  form: AskedForm & Pick<OperationForm, 'body'>,
  path: Readonly<Record<string, string>>,
) {
  const { request } = visit
  const { method } = findOperation(form.operation)
  const values = readValues(visit, form.fields)
  const body = form.body
    ? form.body(values, (name) => uploadedFile(request, name))
    : bodyOf(form.fields, values)
  return visit.operate(form.operation, {
    path,
    ...(body !== undefined && { body }),
    ...(method === 'POST' && { idempotencyKey: formField(request, KEY) }),
  })
}

/** Shows a page with a secret, which cannot be shown again. */
export function showSecret(
  visit: DashboardVisit,
  title: string,
  path: string,
  secret: string,
  next: string,
  send: SendFramed,
): void {
  const content = html`${notice('warn', 'This secret is shown only once. Store it in a secure place.')}
<p class="secret"><code>${secret}</code></p>
<div class="actions"><a class="button" href="${next}">I have stored the secret</a></div>`
  send(visit, 200, { title, path, content })
}

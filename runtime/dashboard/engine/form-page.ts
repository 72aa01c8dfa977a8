/** Shows forms for API operations, and performs the operations when the forms are submitted. */
import { randomUUID } from 'node:crypto'
import type { Detail as FieldFault } from 'dateline/runtime'
import type { ErrorBody } from '../../api/errors/errors.ts'
import { findOperation } from '../../api/operate.ts'
import { type Html, html } from '../../platform/html.ts'
import { codeField, notice } from '../html/components.ts'
import { formField } from '../html/forms.ts'
import { FORM_SCRIPT } from '../html/picker.ts'
import { uploadedFile } from '../html/uploads.ts'
import { bodyOf } from './bodies.ts'
import { type FieldContent, writeField } from './fields.ts'
import type { SendFramed } from './frame.ts'
import { queryText } from './list-page.ts'
import type { FormField, FormValues, OperationForm } from './shapes.ts'
import { readSubmitted, type SubmittedForm } from './submitted.ts'
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

export interface FormState extends Partial<SubmittedForm> {
  readonly error?: ErrorBody
}

type AskedForm = Pick<OperationForm, 'operation' | 'button' | 'fields'>

export async function showForm(
  visit: DashboardVisit,
  form: AskedForm,
  place: FormPlace,
  send: SendFramed,
  { values = {}, faults = new Map(), offered = new Map(), error }: FormState = {},
): Promise<void> {
  const contents = await Promise.all(
    form.fields.map(async (field): Promise<FieldContent> => {
      const { name, pick, of = [name] } = field
      const value = values[name] ?? (preset(visit, field) || field.value)
      const fault = faults.get(name) ?? of.map((each) => faultOf(each, error)).find(Boolean)
      const found = offered.get(name) ?? (pick && value ? await pick.read(visit, [value]) : [])
      return { value, fault, offered: found }
    }),
  )
  const isFaulty = contents.some(({ fault }) => fault !== undefined)
  const content = html`${(error || isFaulty) && notice('bad', isFaulty || !error ? 'Check the highlighted fields.' : describe(error))}
${place.intro !== undefined && html`<p class="quiet">${place.intro}</p>`}
${place.warning !== undefined && notice('warn', place.warning)}
<form method="post" action="${place.address}"${hasFiles(form) && html` enctype="multipart/form-data"`}>
${visit.guard(place.address)}${keyField()}
${form.fields.map((each, index) => writeField(visit, each, contents[index]!))}
${visit.takesCode && codeField('form')}
<div class="actions"><button type="submit"${place.isDanger && html` class="danger"`}>${form.button}</button> <a class="button second" href="${place.back}">Back</a></div>
</form>`
  const scripts = form.fields.some(({ pick }) => pick) ? [FORM_SCRIPT] : []
  const status = error ? statusOf(error) : isFaulty ? 422 : 200
  send(visit, status, { title: place.title, path: place.path, scripts, content })
}

/** Whether the form is submitted as `multipart/form-data`. */
export function hasFiles({ fields }: Pick<OperationForm, 'fields'>): boolean {
  return fields.some(({ kind }) => kind === 'file')
}

/** Returns 422 for every API error except a rate limit. */
function statusOf({ type }: ErrorBody): number {
  return type === 'rate_limited' ? 429 : 422
}

/** Returns the value from the URL query. Only pickers are filled in, so that external links cannot set other values. */
function preset(visit: DashboardVisit, { name, pick }: FormField): string | undefined {
  return pick && queryText(visit, name)
}

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

type SubmittedTo = AskedForm & Pick<OperationForm, 'body'>

/**
 * Performs the operation of a submitted form. If the form is submitted twice, the operation is performed once. If a picker
 * is ambiguous or the API returns an error, shows the form again.
 *
 * @param path path parameters of the operation.
 * @returns the result. Undefined if the form was shown again.
 */
export async function submitForm(
  visit: DashboardVisit,
  form: SubmittedTo,
  place: () => FormPlace | Promise<FormPlace>,
  send: SendFramed,
  path: Readonly<Record<string, string>> = {},
): Promise<{ readonly body: unknown } | undefined> {
  const submitted = await readSubmitted(visit, form.fields)
  const answer = submitted.faults.size > 0 ? undefined : await perform(visit, form, path, submitted.values)
  if (answer?.ok) return { body: answer.body }
  await showForm(visit, form, await place(), send, { ...submitted, ...(answer && { error: answer.error }) })
  return undefined
}

/** Performs the operation of a form. If the form is submitted twice, the operation is performed once. */
export function perform(
  visit: DashboardVisit,
  { operation, fields, body: write }: SubmittedTo,
  path: Readonly<Record<string, string>>,
  values: FormValues = {},
) {
  const { request } = visit
  const { method } = findOperation(operation)
  const body = write ? write(values, (name) => uploadedFile(request, name)) : bodyOf(fields, values)
  return visit.operate(operation, {
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

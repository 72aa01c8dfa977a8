/** Shows forms for API operations, and performs the operations when the forms are submitted. */
import { hash, randomUUID } from 'node:crypto'
import type { Detail as FieldFault } from 'dateline/runtime'
import type { ErrorBody } from '../../api/errors/errors.ts'
import { findOperation, type OperationAnswer, type OperationId } from '../../api/operate.ts'
import { type Html, html } from '../../platform/html.ts'
import { codeField, notice } from '../html/components.ts'
import { changeButton } from '../html/controls.ts'
import { formField } from '../html/forms.ts'
import { FORM_SCRIPT } from '../html/picker.ts'
import { uploadedFile } from '../html/uploads.ts'
import { CALL, type ShownCall, writeCalls } from './api-call.ts'
import { allFields, applicable, applies, bodyOf } from './bodies.ts'
import { writeFields } from './fields.ts'
import { explainError } from './form-faults.ts'
import type { SendFramed } from './frame.ts'
import type { FormField, FormPreset, FormValues, OperationForm } from './shapes.ts'
import { readSubmitted, type SubmittedForm } from './submitted.ts'
import { sentence } from './values.ts'
import { type DashboardVisit, queryText } from './visit.ts'

/** Name of the hidden field with the idempotency key. */
export const KEY = 'idempotency_key'

/** Writes the idempotency key, so that a form submitted twice acts once. A form that is shown again gets a new key. */
export function keyField(): Html {
  return html`<input type="hidden" name="${KEY}" value="${randomUUID()}">`
}

const FORM_ID = 'operation'

export interface FormPlace {
  readonly title: string
  /** First path segment below the environment. */
  readonly path: string
  /** Target of the form. */
  readonly address: string
  /** Target of the Back link. */
  readonly back: string
  /** Path parameters of the operation. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly intro?: string
  readonly warning?: string | undefined
  readonly isDanger?: boolean | undefined
}

export interface FormState extends Partial<SubmittedForm> {
  readonly error?: ErrorBody
}

type AskedForm = Pick<OperationForm, 'operation' | 'button' | 'fields' | 'first' | 'body' | 'presets'>

export async function showForm(
  visit: DashboardVisit,
  form: AskedForm,
  place: FormPlace,
  send: SendFramed,
  state: FormState = {},
): Promise<void> {
  const { values = await initialValues(visit, form.fields), faults = new Map(), error, change = '' } = state
  const fields = allFields(form.fields, values)
  const offered = await readOffered(visit, fields, values, state.offered)
  const wrong = fields.filter(({ name }) => faults.has(name))
  const content = { values, faults, offered, focus: change === '' ? wrong[0]?.name : undefined }
  const isChangeable = form.presets !== undefined || fields.some(({ row, isMany }) => row || isMany)
  const page = html`${(error || wrong.length > 0) && writeSummary(wrong, faults, error)}
${place.intro !== undefined && html`<p class="quiet">${place.intro}</p>`}
${place.warning !== undefined && notice('warn', place.warning)}
<form class="operation" id="${FORM_ID}" method="post" action="${place.address}"${hasFiles(form) && html` enctype="multipart/form-data"`}>
${visit.guard(place.address)}${keyField()}${isChangeable && html`<button class="first" type="submit" tabindex="-1" aria-hidden="true">${form.button}</button>`}
${form.presets && writePresets(form.presets)}${writeFields(visit, form.fields, content)}
${visit.takesCode && codeField('form')}
<div class="actions"><button type="submit"${place.isDanger && html` class="danger"`}>${form.button}</button> <a class="button second" href="${place.back}">Back</a></div>
</form>
${form.fields.length > 0 && writeCalls(callsOf(form, place, values), visit.apiUrl, FORM_ID, change === CALL)}`
  const scripts = form.fields.length > 0 ? [FORM_SCRIPT] : []
  const status = change !== '' ? 200 : error ? statusOf(error) : wrong.length > 0 ? 422 : 200
  send(visit, status, { title: place.title, path: place.path, scripts, content: page })
}

/** Returns the API calls that the form would perform with the values. Secrets and files are left out. */
function callsOf(
  { operation, fields, first, body }: AskedForm,
  { parameters = {} }: FormPlace,
  given: FormValues,
): ShownCall[] {
  const secrets = fields.filter(({ kind, name }) => kind === 'secret' && given[name] !== undefined)
  const values = applicable(fields, {
    ...given,
    ...Object.fromEntries(secrets.map(({ name, label }) => [name, label.toUpperCase().replaceAll(' ', '_')])),
  })
  const write = (of: FormValues) => (body ? body(of, () => undefined) : bodyOf(fields, of))
  const main = (of: FormValues) => ({ operation, path: parameters, body: write(of) })
  if (!first?.when(values)) return [main(values)]
  return [
    { operation: first.operation, path: {}, body: first.body(values) },
    main({ ...values, ...first.placeholder }),
  ]
}

/** Writes the error messages, with a link to each field. */
function writeSummary(
  wrong: readonly FormField[],
  faults: ReadonlyMap<string, string>,
  error: ErrorBody | undefined,
): Html {
  if (wrong.length === 0) return html`${error && notice('bad', describe(error))}`
  return html`<div class="notice bad" role="alert"><p>${wrong.length === 1 ? 'Check this field:' : 'Check these fields:'}</p>
<ul>${wrong.map(({ name, label }) => {
    const fault = faults.get(name) ?? ''
    const isNamed = fault.toLowerCase().includes(label.toLowerCase())
    return html`<li><a href="#${name}">${isNamed ? fault : `${label}: ${fault}`}</a></li>`
  })}</ul></div>`
}

const presetButton = (index: number): string => `preset:${index}`

function writePresets(presets: readonly FormPreset[]): Html {
  return html`<div class="presets" role="group" aria-label="Examples">${presets.map(({ text }, index) => changeButton(presetButton(index), text))}</div>\n`
}

/** Returns the initial values. Pickers are filled in from the URL query. Other fields are not, so that external links cannot set them. */
async function initialValues(visit: DashboardVisit, fields: readonly FormField[]): Promise<FormValues> {
  const given = await Promise.all(
    fields.map(async ({ name, pick, status, picksNewest, kind, options = [], value = '' }) => {
      const asked = pick ? queryText(visit, name) : ''
      if (asked !== '') return [name, asked] as const
      if (pick && picksNewest) return [name, (await pick.find(visit, '', status))[0]?.id ?? ''] as const
      return [name, value === '' && kind === 'choice' ? (options[0]?.[0] ?? '') : value] as const
    }),
  )
  return Object.fromEntries(given)
}

/** Returns the records that pickers offer: the given matches, or else the picked records. */
async function readOffered(
  visit: DashboardVisit,
  fields: readonly FormField[],
  values: FormValues,
  given: SubmittedForm['offered'] = new Map(),
): Promise<SubmittedForm['offered']> {
  const offered = await Promise.all(
    fields.map(async ({ name, pick }) => {
      const ids = (values[name] ?? '').split('\n').filter((id) => id !== '')
      return [name, given.get(name) ?? (pick && ids.length > 0 ? await pick.read(visit, ids) : [])] as const
    }),
  )
  return new Map(offered)
}

/** Whether the form is submitted as `multipart/form-data`. */
export function hasFiles({ fields }: Pick<OperationForm, 'fields'>): boolean {
  return fields.some(({ kind }) => kind === 'file')
}

/** Returns 422 for every API error except a rate limit. */
function statusOf({ type }: ErrorBody): number {
  return type === 'rate_limited' ? 429 : 422
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

/**
 * Performs the operation of a submitted form. If the form is submitted twice, the operation is performed once. Shows the form
 * again if a button changes it, a picker is ambiguous, or the API returns an error.
 *
 * @param path path parameters of the operation.
 * @returns the result. Undefined if the form was shown again.
 */
export async function submitForm(
  visit: DashboardVisit,
  form: AskedForm,
  place: () => FormPlace | Promise<FormPlace>,
  send: SendFramed,
  path: Readonly<Record<string, string>> = {},
): Promise<{ readonly body: unknown } | undefined> {
  const submitted = await readSubmitted(visit, form.fields)
  const preset = form.presets?.find((_, index) => submitted.change === presetButton(index))
  let state: FormState = { ...submitted, values: { ...submitted.values, ...preset?.values } }
  if (submitted.change === '' && submitted.faults.size === 0) {
    const performed = await performAll(visit, form, path, submitted.values)
    if (performed.answer.ok) return { body: performed.answer.body }
    const { operation, body, answer } = performed
    const { values } = submitted
    const fields = allFields(form.fields, values).filter((field) => applies(field, values))
    state = { ...submitted, error: answer.error, faults: explainError(operation, fields, body, answer.error) }
  }
  await showForm(visit, form, await place(), send, state)
  return undefined
}

/** Performs the operations of a form, until one fails. */
async function performAll(
  visit: DashboardVisit,
  form: AskedForm,
  path: Readonly<Record<string, string>>,
  submitted: FormValues,
) {
  const values = applicable(form.fields, submitted)
  const key = formField(visit.request, KEY)
  const { first } = form
  let given = values
  if (first?.when(values)) {
    const body = first.body(values)
    const answer = await operate(visit, first.operation, {}, body, firstKey(key))
    if (!answer.ok) return { operation: first.operation, body, answer }
    given = { ...values, ...first.give(answer.body) }
  }
  const body = writeBody(visit, form, given)
  return { operation: form.operation, body, answer: await operate(visit, form.operation, path, body, key) }
}

/** Derives the idempotency key of the first operation of a form, as a UUID of version 8 (RFC 9562). */
function firstKey(key: string): string {
  const digits = hash('sha256', `first operation of ${key}`)
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
}

function writeBody({ request }: DashboardVisit, { fields, body }: AskedForm, values: FormValues): unknown {
  return body ? body(values, (name) => uploadedFile(request, name)) : bodyOf(fields, values)
}

function operate(
  visit: DashboardVisit,
  operation: OperationId,
  path: Readonly<Record<string, string>>,
  body: unknown,
  idempotencyKey: string,
) {
  return visit.operate(operation, {
    path,
    ...(body !== undefined && { body }),
    ...(findOperation(operation).method === 'POST' && { idempotencyKey }),
  })
}

/** Performs the operation of a button without fields. */
export function perform(
  visit: DashboardVisit,
  form: AskedForm,
  path: Readonly<Record<string, string>>,
): Promise<OperationAnswer> {
  const key = formField(visit.request, KEY)
  return operate(visit, form.operation, path, writeBody(visit, form, {}), key)
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

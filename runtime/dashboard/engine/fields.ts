/** Writes the fields of forms. */
import { type Html, html } from '../../platform/html.ts'
import { choice, field, fileField, type InputField, textArea } from '../html/components.ts'
import { checkbox, checks, radios, rows } from '../html/controls.ts'
import { type PickerOption, picker } from '../html/picker.ts'
import { rowFields, rowsOf } from './bodies.ts'
import { lookupOf } from './picking.ts'
import type { FormField, FormFieldKind, FormValues, Pickable } from './shapes.ts'
import type { DashboardVisit } from './visit.ts'

/** The content of the fields of a form, by field name. */
export interface FormContent {
  readonly values: FormValues
  readonly faults: ReadonlyMap<string, string>
  /** Records that pickers offer. */
  readonly offered: ReadonlyMap<string, readonly PickerOption[]>
  /** Name of the field that gets the focus. */
  readonly focus?: string | undefined
}

/** Writes the fields. Consecutive fields of a group are in one fieldset. */
export function writeFields(
  visit: DashboardVisit,
  fields: readonly FormField[],
  content: FormContent,
): Html[] {
  const sections: { readonly group: string | undefined; readonly written: Html[] }[] = []
  for (const each of fields) {
    const written = writeConditional(visit, each, content)
    const last = sections.at(-1)
    if (last && last.group === each.group) last.written.push(written)
    else sections.push({ group: each.group, written: [written] })
  }
  return sections.map(({ group, written }) =>
    group === undefined ? html`${written}` : html`<fieldset><legend>${group}</legend>\n${written}</fieldset>`,
  )
}

/** A field with conditions is in elements that `form.js` hides while a condition is not met. */
function writeConditional(visit: DashboardVisit, given: FormField, content: FormContent): Html {
  return (given.when ?? []).reduceRight(
    (written, { name, is, isNot }) =>
      html`<div data-when="${name}"${is !== undefined && html` data-is="${is}"`}${isNot !== undefined && html` data-is-not="${isNot}"`}>${written}</div>`,
    writeField(visit, given, content),
  )
}

const INPUT_MODES: Readonly<Partial<Record<FormFieldKind, 'decimal' | 'numeric'>>> = {
  amount: 'decimal',
  number: 'numeric',
}
const TYPES: Readonly<Partial<Record<FormFieldKind, InputField['type']>>> = {
  date: 'date',
  email: 'email',
  secret: 'password',
}

function writeField(visit: DashboardVisit, asked: FormField, content: FormContent): Html {
  const { name, label, hint, accept, kind = 'text', options, when } = asked
  const value = kind === 'secret' ? undefined : content.values[name]
  const given = {
    name,
    label,
    hint,
    value,
    fault: content.faults.get(name),
    hasFocus: content.focus === name,
    // Only the server knows whether the condition of the field is met.
    optional: asked.optional ?? false,
    isRequired: asked.optional !== true && when === undefined,
  }
  if (asked.pick) return writePicker(visit, asked.pick, asked, given, content)
  if (asked.row) return writeRows(visit, asked, given, content)
  if (kind === 'checks') return checks({ ...given, options: options ?? [] })
  if (kind === 'truth') return options ? radios({ ...given, options }) : checkbox(given)
  if (kind === 'choice') return choice({ ...given, options: options ?? [] })
  if (kind === 'file') return fileField({ ...given, ...(accept !== undefined && { accept }) })
  if (kind === 'lines') return textArea(given)
  return field({ ...given, type: TYPES[kind] ?? 'text', inputMode: INPUT_MODES[kind] })
}

function writePicker(
  visit: DashboardVisit,
  pick: Pickable,
  { status, isMany }: FormField,
  given: InputField,
  { offered }: FormContent,
): Html {
  const found = offered.get(given.name) ?? []
  const values = (given.value ?? '').split('\n')
  const picked = found.filter(({ id }) => values.includes(id)).map(({ id }) => id)
  // The choice of one of several matches counts, and not the text that they match.
  const typed =
    found.length > picked.length ? '' : values.filter((value) => !picked.includes(value)).join(' ')
  return picker({
    ...given,
    value: typed,
    offered: found,
    picked,
    lookup: lookupOf(visit, pick, status),
    isMany,
  })
}

function writeRows(visit: DashboardVisit, asked: FormField, given: InputField, content: FormContent): Html {
  const { name, noun = 'row' } = asked
  const written = rowsOf(content.values, name).map(
    (_, index) => html`${writeFields(visit, rowFields(asked, index), content)}`,
  )
  return rows(given, noun, written)
}

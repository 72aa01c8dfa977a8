/** Reads submitted forms, finds the records that members name in pickers, and adds and removes rows. */
import { CHANGE } from '../html/controls.ts'
import { fieldNames, formField, formFields } from '../html/forms.ts'
import { type PickerOption, typedName } from '../html/picker.ts'
import { applies, rowFields, rowsOf } from './bodies.ts'
import { findTyped } from './picking.ts'
import type { FormField, FormValues } from './shapes.ts'
import type { DashboardVisit } from './visit.ts'

export interface SubmittedForm {
  /** The value of a picker is an ID, or the typed text if it does not name exactly one record. */
  readonly values: FormValues
  /** Problems with pickers, by field name. */
  readonly faults: ReadonlyMap<string, string>
  /** Records that match the typed text, by field name. */
  readonly offered: ReadonlyMap<string, readonly PickerOption[]>
  /** Value of the button that changes the form instead of submitting it. Empty for a submit button. */
  readonly change: string
}

interface Reading {
  readonly visit: DashboardVisit
  readonly values: Record<string, string>
  readonly faults: Map<string, string>
  readonly offered: Map<string, readonly PickerOption[]>
}

/**
 * Reads the fields, also those whose conditions are not met. A typed name is replaced with the ID of the only record that
 * it matches.
 */
export async function readSubmitted(
  visit: DashboardVisit,
  fields: readonly FormField[],
): Promise<SubmittedForm> {
  const change = formField(visit.request, CHANGE)
  const reading: Reading = { visit, values: {}, faults: new Map(), offered: new Map() }
  for (const field of fields) {
    if (field.row) await readRows(reading, field, change)
    else await readField(reading, field, field.name)
  }
  for (const field of fields) if (!applies(field, reading.values)) reading.faults.delete(field.name)
  const { values, faults, offered } = reading
  return { values, faults, offered, change }
}

/** @param name the submitted name of the field, which differs from its new name if a row above it was removed. */
async function readField(reading: Reading, field: FormField, name: string): Promise<void> {
  const { visit, values } = reading
  const { pick, kind, isMany = false } = field
  const submitted = formFields(visit.request, name).map((value) => value.trim())
  if (pick)
    await readPicker(
      reading,
      field,
      name,
      submitted.filter((value) => value !== ''),
    )
  else if (kind === 'checks' || isMany) values[field.name] = submitted.join('\n')
  else values[field.name] = submitted.length === 1 ? submitted[0]! : ''
}

async function readPicker(
  { visit, values, faults, offered }: Reading,
  { name, pick, status, isMany = false }: FormField,
  submittedName: string,
  picked: readonly string[],
): Promise<void> {
  const typed = formField(visit.request, typedName(submittedName)).trim()
  values[name] = isMany ? picked.join('\n') : picked.length === 1 ? picked[0]! : ''
  if (!pick || typed === '') return
  const { id = typed, fault, matches } = await findTyped(visit, pick, typed, status)
  values[name] = isMany ? [...new Set([...picked, id])].join('\n') : id
  if (fault === undefined) return
  faults.set(name, fault)
  offered.set(name, [...(isMany ? await pick.read(visit, picked) : []), ...matches])
}

/** Reads the rows of a field. Rows without any text are left out, except for a row that was just added. */
async function readRows(reading: Reading, field: FormField, change: string): Promise<void> {
  const { visit, values } = reading
  const { name } = field
  const beginning = `${name}.`
  const indexes = fieldNames(visit.request)
    .map((each) => each.replace(/^find:/, ''))
    .filter((each) => each.startsWith(beginning))
    .map((each) => Number(each.slice(beginning.length).split('.')[0]))
  let count = 0
  for (const index of [...new Set(indexes)]
    .filter(Number.isSafeInteger)
    .toSorted((one, other) => one - other)) {
    if (change === `remove:${name}:${index}`) continue
    const submitted = rowFields(field, index)
    const row = rowFields(field, count)
    for (const [at, each] of row.entries()) await readField(reading, each, submitted[at]!.name)
    if (row.some(({ name: each, kind }) => kind !== 'choice' && values[each] !== '')) count++
    else for (const { name: each } of row) delete values[each]
  }
  if (change !== `add:${name}`) return
  for (const { name: each, value = '' } of rowFields(field, rowsOf(values, name).length)) values[each] = value
}

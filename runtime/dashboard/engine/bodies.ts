/** Converts form values to request bodies. Invalid values are passed on unchanged, so that the API reports the error. */
import type { FormField, FormFieldKind, FormValues } from './shapes.ts'

/**
 * Returns a body with nested members, without empty fields. Returns undefined if the form has no fields. A field that names
 * one path in `of` sets this member.
 */
export function bodyOf(fields: readonly FormField[], values: FormValues): unknown {
  if (fields.length === 0) return undefined
  const body: Record<string, unknown> = {}
  for (const field of fields) {
    const { name, of = [name] } = field
    const value = readField(field, values)
    if (value === undefined || of.length !== 1) continue
    const [last, ...above] = of[0]!.split('.').toReversed() as [string, ...string[]]
    let at = body
    for (const member of above.toReversed()) {
      at[member] ??= {}
      at = at[member] as Record<string, unknown>
    }
    at[last] = value
  }
  return body
}

/** Returns the member of the body. Undefined if the field is empty. */
function readField({ name, kind = 'text', row, isMany, options }: FormField, values: FormValues): unknown {
  if (row) {
    const rows = rowsOf(values, name).map((of) => bodyOf(row, of))
    return rows.length > 0 ? rows : undefined
  }
  const text = values[name] ?? ''
  if (kind === 'truth' && !options) return text === 'true'
  if (text === '' || kind === 'file') return undefined
  return isMany || kind === 'checks' ? text.split('\n') : (READ[kind]?.(text) ?? text)
}

/** Returns the values of each row, by the names of the fields in the row. */
export function rowsOf(values: FormValues, name: string): FormValues[] {
  const rows: Record<string, string>[] = []
  for (const [key, value] of Object.entries(values)) {
    const [, index, field] =
      /^(\d+)\.(.*)$/s.exec(key.startsWith(`${name}.`) ? key.slice(name.length + 1) : '') ?? []
    if (index === undefined || field === undefined) continue
    rows[Number(index)] = { ...rows[Number(index)], [field]: value }
  }
  return rows.filter((row) => row !== undefined)
}

/** Returns the values of rows by the names that their fields have in the form: the opposite of `rowsOf`. */
export function rowValues(name: string, rows: readonly FormValues[]): FormValues {
  const values = rows.flatMap((row, index) =>
    Object.entries(row).map(([field, value]) => [`${name}.${index}.${field}`, value] as const),
  )
  return Object.fromEntries(values)
}

/** Returns the fields of a row, with the names that they have in the form. */
export function rowFields({ name, row = [] }: FormField, index: number): FormField[] {
  return row.map((each) => ({ ...each, name: `${name}.${index}.${each.name}` }))
}

/** Returns the fields of a form, with those of its rows. */
export function allFields(fields: readonly FormField[], values: FormValues): FormField[] {
  return fields.flatMap((field) => [
    field,
    ...rowsOf(values, field.name).flatMap((_, index) => rowFields(field, index)),
  ])
}

/** Whether all conditions of a field are met. */
export function applies({ when = [] }: FormField, values: FormValues): boolean {
  return when.every(({ name, is, isNot }) => {
    const value = values[name] ?? ''
    return is === undefined ? value !== isNot : value === is
  })
}

/** Returns the values without those of fields whose conditions are not met. */
export function applicable(fields: readonly FormField[], values: FormValues): FormValues {
  const others = fields.filter((field) => !applies(field, values)).map(({ name }) => [name, ''])
  return { ...values, ...(Object.fromEntries(others) as FormValues) }
}

const READ: Readonly<Partial<Record<FormFieldKind, (text: string) => unknown>>> = {
  amount: readCents,
  number: readNumber,
  truth: (text) => text === 'true',
}

/** Converts `12.50`, `12.5`, or `12` to cents. Returns other text unchanged. */
export function readCents(text: string): number | string {
  const [, whole, cents = ''] = /^(\d{1,13})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  return whole === undefined ? text : Number(whole) * 100 + Number(cents.padEnd(2, '0'))
}

/** Formats cents as a form value, such as `12.50`. */
export function writeCents(cents: number): string {
  return (cents / 100).toFixed(2)
}

export function readNumber(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** Returns the first instant of a day in UTC. Other texts stay as they are, for the API to refuse. */
export const readDay = (text: string): string =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00.000Z` : text

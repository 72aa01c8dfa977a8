/** Converts form values to request bodies. Invalid values are passed on unchanged, so that the API reports the error. */
import type { FormField, FormValues } from './shapes.ts'

/** Returns a body with nested members, without empty fields. Returns undefined if the form has no fields. */
export function bodyOf(fields: readonly FormField[], values: FormValues): unknown {
  if (fields.length === 0) return undefined
  const body: Record<string, unknown> = {}
  for (const { name, kind } of fields) {
    const text = values[name] ?? ''
    if (text === '' || kind === 'file') continue
    const [last, ...above] = name.split('.').toReversed() as [string, ...string[]]
    let at = body
    for (const member of above.toReversed()) {
      at[member] ??= {}
      at = at[member] as Record<string, unknown>
    }
    at[last] = READ[kind ?? 'text']?.(text) ?? text
  }
  return body
}

const READ: Readonly<Partial<Record<NonNullable<FormField['kind']>, (text: string) => unknown>>> = {
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

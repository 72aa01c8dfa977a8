import type { Detail } from 'dateline/runtime'

export interface TemplateField {
  readonly key: string
  readonly label: string
  readonly value: string
}

export type FieldValues = Readonly<Record<string, string>>

/** Returns the values that a pass shows, in template order; the pass's own values override those of the template. */
export function shownValues(fields: readonly TemplateField[], own: FieldValues): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const { key, value } of fields) shown[key] = Object.hasOwn(own, key) ? own[key]! : value
  return shown
}

/** Returns a validation problem for each value whose key is not in the template. */
export function unknownKeys(
  fields: readonly TemplateField[],
  own: Readonly<Record<string, unknown>>,
): Detail[] {
  const known = new Set(fields.map((field) => field.key))
  return Object.keys(own)
    .filter((key) => own[key] !== null && !known.has(key))
    .map((key) => ({ field: `fields.${key}`, issue: 'is not a field of the template' }))
}

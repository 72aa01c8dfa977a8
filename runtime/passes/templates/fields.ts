import type { Detail } from 'dateline/runtime'

export interface TemplateField {
  readonly key: string
  readonly label: string
  readonly value: string
}

export type FieldValues = Readonly<Record<string, string>>

/** The values that a pass shows: its own over the template's, in the template's order. */
export function shownValues(fields: readonly TemplateField[], own: FieldValues): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const { key, value } of fields) shown[key] = Object.hasOwn(own, key) ? own[key]! : value
  return shown
}

/** Faults of own values whose key the template does not have. */
export function unknownKeys(
  fields: readonly TemplateField[],
  own: Readonly<Record<string, unknown>>,
): Detail[] {
  const known = new Set(fields.map((field) => field.key))
  return Object.keys(own)
    .filter((key) => own[key] !== null && !known.has(key))
    .map((key) => ({ field: `fields.${key}`, issue: 'is not a field of the template' }))
}

import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { mergePatch } from '../../api/json/merge-patch.ts'
import type { FieldTexts, PassField } from '../wallets/render/pass-state.ts'

/** A field as it is stored: optional members that were not sent are absent. */
export interface TemplateField {
  readonly key: string
  readonly label: string
  readonly value: string
  readonly change_message?: string
  readonly translations?: Readonly<Record<string, FieldTexts>>
}

type FieldInput = components['schemas']['TemplateFieldInput']

/**
 * Returns the fields to store. A field keeps the optional members of the stored field with the same key: callers of
 * older versions cannot send these members, and must not remove them. Null removes one.
 */
export function mergeFields(
  stored: readonly TemplateField[],
  given: readonly FieldInput[],
): readonly TemplateField[] {
  const known = new Map(stored.map((field) => [field.key, field]))
  return given.map((field) => mergePatch({}, { ...known.get(field.key), ...field }) as TemplateField)
}

export type FieldValues = Readonly<Record<string, string>>

/** Returns the values that a pass shows, in template order; the pass's own values override those of the template. */
export function shownValues(fields: readonly TemplateField[], own: FieldValues): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const { key, value } of fields) shown[key] = Object.hasOwn(own, key) ? own[key]! : value
  return shown
}

/** Returns the fields of a pass. A value that the pass sets itself is the same in all languages. */
export function shownFields(fields: readonly TemplateField[], own: FieldValues): PassField[] {
  const values = shownValues(fields, own)
  return fields.map(({ translations, ...field }) => {
    const value = values[field.key]!
    if (!translations) return { ...field, value }
    const others = Object.entries(translations).map(([language, { value: _, ...texts }]) => [language, texts])
    return {
      ...field,
      value,
      translations: value === field.value ? translations : Object.fromEntries(others),
    }
  })
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

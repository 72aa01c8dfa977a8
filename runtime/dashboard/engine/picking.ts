/** Finds the records that members name in pickers. */
import type { PickerOption } from '../html/picker.ts'
import type { Pickable } from './shapes.ts'
import type { DashboardVisit } from './visit.ts'

/** First path segment of the lookups of the pickers. */
export const LOOKUP_PATH = 'find'

/** Returns the address of the lookup. @param status only records with this status are found. */
export function lookupOf(
  { environment }: DashboardVisit,
  { path }: Pick<Pickable, 'path'>,
  status?: string,
): string {
  return `/${environment}/${LOOKUP_PATH}/${path}${status === undefined ? '' : `?status=${status}`}`
}

export interface TypedRecord {
  /** The only record that the text names. */
  readonly id?: string
  /** Absent if the text names one record. */
  readonly fault?: string
  readonly matches: readonly PickerOption[]
}

/** Finds the record with the ID or exactly this name, or else all records that match the text. */
export async function findTyped(
  visit: DashboardVisit,
  pick: Pickable,
  typed: string,
  status?: string,
): Promise<TypedRecord> {
  const found = await pick.find(visit, typed, status)
  const exact = found.filter(({ id, name }) => id === typed || name.toLowerCase() === typed.toLowerCase())
  const matches = exact.length === 1 ? exact : found
  if (matches.length === 1) return { id: matches[0]!.id, matches }
  const kind = status === undefined ? pick.noun : `${status.replaceAll('_', ' ')} ${pick.noun}`
  const fault =
    matches.length === 0
      ? `No ${kind} matches “${typed}”. Enter a different name or an ID.`
      : `More than one ${kind} matches “${typed}”. Choose one.`
  return { fault, matches }
}

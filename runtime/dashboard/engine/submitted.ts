/** Reads submitted forms, and finds the records that members name in pickers. */
import { formField } from '../html/forms.ts'
import { typedName } from '../html/picker.ts'
import type { FormField, FormValues, Match, Pickable } from './shapes.ts'
import type { DashboardVisit } from './visit.ts'

export interface SubmittedForm {
  /** The value of a picker is an ID, or the typed text if it does not name exactly one record. */
  readonly values: FormValues
  /** Problems with pickers, by field name. */
  readonly faults: ReadonlyMap<string, string>
  /** Records that match the typed text, by field name. */
  readonly offered: ReadonlyMap<string, readonly Match[]>
}

/** Reads the fields. A typed name is replaced with the ID of the only record that it matches. */
export async function readSubmitted(
  visit: DashboardVisit,
  fields: readonly FormField[],
): Promise<SubmittedForm> {
  const { request } = visit
  const values: Record<string, string> = {}
  const faults = new Map<string, string>()
  const offered = new Map<string, readonly Match[]>()
  for (const { name, pick, status } of fields) {
    values[name] = formField(request, name).trim()
    const typed = pick ? formField(request, typedName(name)).trim() : ''
    if (!pick || typed === '') continue
    const matches = await findMatches(visit, pick, typed, status)
    values[name] = matches.length === 1 ? matches[0]!.id : typed
    if (matches.length === 1) continue
    faults.set(name, explainMatches(pick, typed, status, matches.length))
    offered.set(name, matches)
  }
  return { values, faults, offered }
}

/** Returns the record with the ID or exactly this name if there is one, or else all matches. */
async function findMatches(visit: DashboardVisit, pick: Pickable, typed: string, status?: string) {
  const matches = await pick.find(visit, typed, status)
  const exact = matches.filter(({ id, name }) => id === typed || name.toLowerCase() === typed.toLowerCase())
  return exact.length === 1 ? exact : matches
}

function explainMatches(
  { noun }: Pickable,
  typed: string,
  status: string | undefined,
  count: number,
): string {
  const kind = status === undefined ? noun : `${status.replaceAll('_', ' ')} ${noun}`
  return count === 0
    ? `No ${kind} matches “${typed}”. Enter a different name or an ID.`
    : `More than one ${kind} matches “${typed}”. Choose one.`
}

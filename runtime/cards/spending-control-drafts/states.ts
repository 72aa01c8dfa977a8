/** The states of a draft: `draft`, then in `shadow` or `active`, then `superseded` or `archived`. Pure. */
import { invalidState } from '../../api/errors/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { SpendingControlDraftRow, SpendingControlVersionRow } from './queries.ts'

const WHY_NOT = {
  shadow: 'End its shadow first.',
  active: 'Roll it back first, or create a new draft.',
  superseded: 'Create a new draft.',
  archived: 'Create a new draft.',
} as const

/** Throws `invalid_state` unless the draft can be changed. */
export function requireOpen({ status }: SpendingControlDraftRow): void {
  if (status === 'draft') return
  throw invalidState(`The status of the draft is ${status}, not draft. ${WHY_NOT[status]}`)
}

/** Returns the draft in shadow. Throws `invalid_state` unless its status is `draft`. @param now service time. */
export function startShadow(row: SpendingControlDraftRow, now: number): SpendingControlDraftRow {
  requireOpen(row)
  const shadow = { shadow_version: row.version, shadow_started: now, shadow_ended: null }
  return { ...row, ...shadow, status: 'shadow', updated: now }
}

/** Returns the draft after its shadow. Throws `invalid_state` unless it is in shadow. */
export function endShadow(row: SpendingControlDraftRow, now: number): SpendingControlDraftRow {
  if (row.status !== 'shadow') throw invalidState(`The draft is not in shadow. Its status is ${row.status}.`)
  return { ...row, status: 'draft', shadow_ended: now, updated: now }
}

/** Returns the row of the newest proposed version of a draft. */
export const versionOf = (
  { id, version, spending_controls }: SpendingControlDraftRow,
  now: number,
): SpendingControlVersionRow => ({
  id: newId('scv', now),
  draft_id: id,
  version,
  spending_controls,
  origin: null,
  created: now,
})

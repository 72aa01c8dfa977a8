/** Keeps controls that a promotion replaces, or a roll back restores, as versions of the draft. */
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { newId } from '../../platform/ids.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'
import { insertVersion, type SpendingControlVersionRow } from '../spending-control-drafts/queries.ts'

export interface KeptVersions {
  /** Returns the number of the version with these controls, which all cards with the same controls share. */
  numberOf(controls: SpendingControls): number
  /** Returns the IDs of the new versions. */
  ids(): readonly string[]
}

/** @param last the greatest number of a version of the draft, which the caller has locked. */
export function keepVersions(
  { caller, db, request }: Pick<Context, 'caller' | 'db' | 'request'>,
  draftId: string,
  last: number,
  origin: NonNullable<SpendingControlVersionRow['origin']>,
): KeptVersions {
  const versions = new Map<string, SpendingControlVersionRow>()
  return {
    numberOf(spending_controls) {
      const key = JSON.stringify(spending_controls) // as read from jsonb, so equal controls have equal texts
      const known = versions.get(key)
      if (known) return known.version
      const version = {
        id: newId('scv', request.now),
        draft_id: draftId,
        version: last + 1 + versions.size,
        spending_controls,
        origin,
        created: request.now,
      }
      versions.set(key, version)
      pipelined(insertVersion(db, caller.space, version))
      return version.version
    },
    ids: () => [...versions.values()].map(({ id }) => id),
  }
}

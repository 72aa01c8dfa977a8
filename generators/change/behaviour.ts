/** The behavior that changes introduce: its names, and the versions that have it. */
import type { LoadedChange } from './load-changes.ts'

/** Behavior that differs between versions. */
export interface FamilyBehaviour {
  /** `archived-in-lists` */
  readonly name: string
  readonly change: LoadedChange
  /** Operation ids, and events as `event book.lent`. */
  readonly affects: readonly string[]
}

/** Returns the behavior of all changes, in their order. */
export const behavioursOf = (changes: readonly LoadedChange[]): readonly FamilyBehaviour[] =>
  changes.flatMap((change) =>
    change.lenses.flatMap((lens) =>
      lens.kind === 'behaviour' ? [{ name: lens.name, change, affects: lens.affects }] : [],
    ),
  )

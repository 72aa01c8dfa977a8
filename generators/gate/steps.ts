/** Finds the differences between adjacent versions and the changes that account for them. */
import { alignApi, isNaming, servedIds } from '../change/align.ts'
import type { Lens } from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import { diffApis } from '../diff/diff.ts'
import { type Difference, formatLocation } from '../diff/difference.ts'
import type { Api } from '../ir/model.ts'
import { claims } from './claims.ts'

/** A difference with the changes that claim it. */
export interface AccountedDifference {
  readonly difference: Difference
  readonly by: readonly LoadedChange[]
}

/**
 * Returns every difference between two documents with the changes that account for it.
 *
 * @param translated whether the service translates between the versions; otherwise, the new one replaces the old one.
 */
export function claimDifferences(
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
  translated = true,
): readonly AccountedDifference[] {
  const claimedBy = (difference: Difference, mayClaim: (lens: Lens) => boolean): AccountedDifference => ({
    difference,
    // Alpha parts are not translated, so no change accounts for their differences.
    by:
      difference.class === 'alpha'
        ? []
        : changes.filter(({ lenses }) => lenses.some((lens) => mayClaim(lens) && claims(lens, difference))),
  })
  const { explained, left } = differencesBetween(old, next, changes, translated)
  return [
    ...explained.map((each) => claimedBy(each, isNaming)),
    ...left.map((each) => claimedBy(each, () => true)),
  ]
}

/**
 * Splits the differences into those that renames explain and those that remain after alignment. Operations are
 * aligned before their parameters and statuses.
 */
function differencesBetween(old: Api, next: Api, changes: readonly LoadedChange[], translated: boolean) {
  const naming = changes.flatMap((change) => change.lenses).filter(isNaming)
  const explained: Difference[] = []
  let aligned = old
  let left = diffApis(old, next, { translated })
  for (const kinds of [['served'], ['renamed-parameter', 'status']]) {
    const own = naming.filter((lens) => kinds.includes(lens.kind))
    if (own.length === 0) continue
    explained.push(...left.filter((each) => own.some((lens) => claims(lens, each))))
    aligned = alignApi(aligned, own)
    const told = new Set(explained.map(keyOf))
    left = diffApis(aligned, next, { served: servedIds(naming), translated }).filter(
      (each) => !told.has(keyOf(each)),
    )
  }
  return { explained, left }
}

/** Returns a key that is unique for a code at a location. */
export const keyOf = ({ code, at }: Difference): string => `${code} ${formatLocation(at)}`

/** Two adjacent versions, the differences between them, and the changes that the newer version introduced. */
export interface VersionPair {
  readonly old: Api
  readonly next: Api
  readonly changes: readonly LoadedChange[]
  readonly claimed: readonly AccountedDifference[]
}

/**
 * Compares each version with its predecessor.
 *
 * @param apis oldest first.
 * @param translated whether the service translates between the versions.
 */
export function claimSteps(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  translated = true,
): readonly VersionPair[] {
  return apis.slice(1).map((next, index) => {
    const old = apis[index]!
    const own = changes.filter((change) => change.version === next.version)
    return { old, next, changes: own, claimed: claimDifferences(old, next, own, translated) }
  })
}

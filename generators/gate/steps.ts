/** What differs between adjacent versions, and which change accounts for it. */
import { alignApi, isNaming } from '../change/align.ts'
import type { Lens } from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import { diffApis } from '../diff/diff.ts'
import { type Difference, formatLocation } from '../diff/difference.ts'
import type { Api } from '../ir/model.ts'
import { claims } from './claims.ts'

/** A difference and the changes that claim it. */
export interface AccountedDifference {
  readonly difference: Difference
  readonly by: readonly LoadedChange[]
}

/** @returns every difference between two documents, with the changes that account for it. */
export function claimDifferences(
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
): readonly AccountedDifference[] {
  const claimedBy = (difference: Difference, mayClaim: (lens: Lens) => boolean): AccountedDifference => ({
    difference,
    by: changes.filter(({ lenses }) => lenses.some((lens) => mayClaim(lens) && claims(lens, difference))),
  })
  const { explained, left } = differencesBetween(old, next, changes)
  return [
    ...explained.map((each) => claimedBy(each, isNaming)),
    ...left.map((each) => claimedBy(each, () => true)),
  ]
}

/** What other names explain, and what differs under those: operations first, then what is in them. */
function differencesBetween(old: Api, next: Api, changes: readonly LoadedChange[]) {
  const naming = changes.flatMap((change) => change.lenses).filter(isNaming)
  const explained: Difference[] = []
  let aligned = old
  let left = diffApis(old, next)
  for (const kinds of [['served'], ['renamed-parameter', 'status']]) {
    const own = naming.filter((lens) => kinds.includes(lens.kind))
    if (own.length === 0) continue
    explained.push(...left.filter((each) => own.some((lens) => claims(lens, each))))
    aligned = alignApi(aligned, own)
    const told = new Set(explained.map(keyOf))
    left = diffApis(aligned, next).filter((each) => !told.has(keyOf(each)))
  }
  return { explained, left }
}

/** One difference of a kind at a place. */
export const keyOf = ({ code, at }: Difference): string => `${code} ${formatLocation(at)}`

/** Two adjacent versions, what differs between them, and the changes that the newer one introduced. */
export interface VersionPair {
  readonly old: Api
  readonly next: Api
  readonly changes: readonly LoadedChange[]
  readonly claimed: readonly AccountedDifference[]
}

/** @param apis oldest first. */
export function claimSteps(apis: readonly Api[], changes: readonly LoadedChange[]): readonly VersionPair[] {
  return apis.slice(1).map((next, index) => {
    const old = apis[index]!
    const own = changes.filter((change) => change.version === next.version)
    return { old, next, changes: own, claimed: claimDifferences(old, next, own) }
  })
}

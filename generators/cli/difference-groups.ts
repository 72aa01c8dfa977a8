/** Groups differences for printing: an edit of a shared part appears once, with every location that it affects. */

import type { PrintedVerdict } from '../diagnostics/verdict.ts'
import type { Difference } from '../diff/difference.ts'
import { formatLocation } from '../diff/difference.ts'
import { groupBy } from '../ir/group-by.ts'
import type { JudgedDifference } from './judge-differences.ts'

export interface DifferenceGroup {
  readonly first: Difference
  readonly messages: readonly string[]
  readonly places: readonly string[]
  readonly uses: readonly string[]
  readonly by: readonly string[]
  /** The verdict on the first difference. */
  readonly verdict?: PrintedVerdict
}

/** Groups differences. Breaking ones come first; within a class, the order is that of the first occurrence. */
export function groupDifferences(claimed: readonly JudgedDifference[]): DifferenceGroup[] {
  const all = [...groupBy(claimed, keyOf).values()].map(toGroup)
  return [
    ...all.filter(({ first }) => first.class === 'breaking'),
    ...all.filter(({ first }) => first.class === 'alpha'),
    ...all.filter(({ first }) => first.class === 'additive'),
  ]
}

/**
 * Returns the group key. Members of one enumeration share a group, and so do equal messages about a part that many
 * operations share.
 */
function keyOf({ difference, by }: JudgedDifference): string {
  const { code, at } = difference
  const changes = by.map(({ id }) => id).join()
  const own = at.kind === 'schema' ? formatLocation(at) : `${at.kind} ${difference.message}`
  return [
    difference.class,
    code,
    own,
    at.kind === 'schema' && !code.startsWith('enum-value') ? difference.message : '',
    changes,
  ].join('\n')
}

function toGroup(all: readonly JudgedDifference[]): DifferenceGroup {
  const { verdict } = all[0]!
  const unique = (texts: readonly string[]) => [...new Set(texts)]
  return {
    first: all[0]!.difference,
    messages: unique(all.map(({ difference }) => difference.message)),
    places: unique(all.map(({ difference }) => formatLocation(difference.at))),
    uses: unique(all.flatMap(({ difference }) => difference.uses)),
    by: all[0]!.by.map(({ file }) => file),
    ...(verdict && { verdict }),
  }
}

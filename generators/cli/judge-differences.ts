/** Finds the differences of two versions, the changes that account for them, and the verdict on each break. */
import { alignApi, servedIds } from '../change/align.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { PrintedVerdict } from '../diagnostics/verdict.ts'
import { type AccountedDifference, claimDifferences } from '../gate/steps.ts'
import type { Api } from '../ir/model.ts'
import { toPrinted } from '../witness/print.ts'
import { createJudge, type Judge } from '../witness/witness.ts'

/** A difference with the changes that claim it, and the verdict on it if it is breaking. */
export interface JudgedDifference extends AccountedDifference {
  readonly verdict?: PrintedVerdict
}

/**
 * Returns every difference. One that no message can show is not breaking.
 *
 * @param translated whether the service translates between the versions; otherwise, the new one replaces the old one.
 */
export function judgeDifferences(
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
  translated = true,
): JudgedDifference[] {
  const judge = judgeOf(old, next, changes)
  return claimDifferences(old, next, changes, translated).map((each) => {
    if (each.difference.class !== 'breaking') return each
    const verdict = toPrinted(judge(each.difference))
    if (verdict.verdict !== 'disproven') return { ...each, verdict }
    return { ...each, difference: { ...each.difference, class: 'additive' }, verdict }
  })
}

/** Renames are judged under the old names, and everything else under the new ones. */
function judgeOf(old: Api, next: Api, changes: readonly LoadedChange[]): Judge {
  const lenses = changes.flatMap((change) => change.lenses)
  const aligned = alignApi(old, lenses)
  const judge = createJudge(aligned, next, servedIds(lenses))
  if (aligned === old) return judge
  const former = createJudge(old, next)
  return (difference) => {
    const verdict = judge(difference)
    return verdict.kind === 'unproven' ? former(difference) : verdict
  }
}

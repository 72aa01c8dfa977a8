/** The list that cardholders and payout destinations are screened against. */

import { readList } from '../../cards/sanctions/list.ts'
import { createMatcher } from '../../cards/sanctions/matcher.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Whether the list can be read and its names compared, and how many cannot. */
export async function checkSanctions({ sanctionsList }: Pick<Settings, 'sanctionsList'>): Promise<Finding> {
  try {
    const { name, entries, broken } = await readList(sanctionsList)
    const { unread } = await createMatcher(entries)
    const words = `${name} with ${entries.length} people and companies`
    const [record] = broken
    const [unreadName] = unread
    const faults = [
      ...(record
        ? [
            `${broken.length} records cannot be read and are left out, first record ${record.record}: ${record.problem}`,
          ]
        : []),
      ...(unreadName
        ? [
            `${unread.length} names cannot be compared and are left out, first of entry ${unreadName.id}: ${unreadName.problem}`,
          ]
        : []),
    ]
    if (faults.length === 0) return ok('sanctions list', words)
    return warn('sanctions list', `${[words, ...faults].join('; ')}. Download the list again.`)
  } catch (error) {
    return fail('sanctions list', error)
  }
}

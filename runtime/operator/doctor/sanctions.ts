/** Checks the list against which cardholders and payout destinations are screened. */

import { readList } from '../../cards/sanctions/list.ts'
import { createMatcher } from '../../cards/sanctions/matcher.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Checks whether the list is readable, and counts unreadable records and names that cannot be compared. */
export async function checkSanctions({ sanctionsList }: Pick<Settings, 'sanctionsList'>): Promise<Finding> {
  try {
    const { name, entries, broken } = await readList(sanctionsList)
    const { unread } = await createMatcher(entries)
    const [record] = broken
    const [unreadName] = unread
    const words = [
      `${name} with ${entries.length} entries`,
      record &&
        `skipped unreadable records: ${broken.length}, the first is record ${record.record}: ${record.problem}. Download the list again`,
      unreadName &&
        `names that match only their exact spelling: ${unread.length}, the first in entry ${unreadName.id}: ${unreadName.problem}. ` +
          'Check cardholders against these entries manually',
    ].filter((part) => part !== undefined)
    return words.length === 1
      ? ok('sanctions list', words[0]!)
      : warn('sanctions list', `${words.join('; ')}.`)
  } catch (error) {
    return fail('sanctions list', error)
  }
}

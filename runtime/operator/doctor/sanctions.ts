/** The list that cardholders and payout destinations are screened against. */

import { readList } from '../../cards/sanctions/list.ts'
import { createMatcher } from '../../cards/sanctions/matcher.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Whether the list can be read, how many of its records cannot, and how many of its names cannot be compared. */
export async function checkSanctions({ sanctionsList }: Pick<Settings, 'sanctionsList'>): Promise<Finding> {
  try {
    const { name, entries, broken } = await readList(sanctionsList)
    const { unread } = await createMatcher(entries)
    const [record] = broken
    const [unreadName] = unread
    const words = [
      `${name} with ${entries.length} entries`,
      record &&
        `${broken.length} records cannot be read and are left out, first record ${record.record}: ${record.problem}. Download the list again`,
      unreadName &&
        `${unread.length} names can be matched only by the same spelling, the first in entry ${unreadName.id}: ${unreadName.problem}. ` +
          'Check cardholders against these entries by hand',
    ].filter((part) => part !== undefined)
    return words.length === 1
      ? ok('sanctions list', words[0]!)
      : warn('sanctions list', `${words.join('; ')}.`)
  } catch (error) {
    return fail('sanctions list', error)
  }
}

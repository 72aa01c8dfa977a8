/** The list that cardholders and payout destinations are screened against. */

import { readList } from '../../cards/sanctions/list.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Whether the list can be read, and how many of its records cannot. */
export async function checkSanctions({ sanctionsList }: Pick<Settings, 'sanctionsList'>): Promise<Finding> {
  try {
    const { name, entries, broken } = await readList(sanctionsList)
    const words = `${name} with ${entries.length} people and companies`
    const [first] = broken
    if (!first) return ok('sanctions list', words)
    return warn(
      'sanctions list',
      `${words}; ${broken.length} records cannot be read and are left out, first record ${first.record}: ${first.problem}. ` +
        'Download the list again.',
    )
  } catch (error) {
    return fail('sanctions list', error)
  }
}

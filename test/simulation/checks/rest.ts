/** What the only machine does while nothing is due: it looks for work, and finds none. */
import { fail } from './must.ts'

/** Names of statements that look for work, or read what workers know. */
const SEARCH =
  /(_find(_\w+)?|_due(_\w+)?|_held(_\w+)?|_overdue(_\w+)?|_ahead|_behind|_crossed|_awaiting|_expired|_sweep|_rate_lifts|_waiting_promote|faults_in_force|lease_clock|wal_flush)$/

/** A bank payment that is not settled is looked at, and each list of sanctions is compared once. */
const BANK = /^(bank_transfers|payouts)_(lock|update)$|^pins_read$|^screenings_end$/

/** More than any search at its usual pace. */
const MOST = 120

/**
 * Only searches run, each at its pace.
 *
 * @param answered how often each statement ran in two minutes. One with a name has no spaces.
 */
export function restIsQuiet(answered: ReadonlyMap<string, number>): void {
  for (const [name, count] of answered) {
    if (name.includes(' ') || name === 'COMMIT' || BANK.test(name)) continue
    if (!SEARCH.test(name)) fail(`${name} ran ${count} times while nothing was due`)
    if (count > MOST) fail(`${name} ran ${count} times in two minutes while nothing was due`)
  }
}

/** Turns of workers: one that does nothing means that a search finds work that nobody has to do. */
import type { Evidence } from './evidence.ts'
import { fail } from './must.ts'

/** Workers of money that do what they find, because no other machine does it. */
const BUSY = ['destination_activation', 'settlements', 'hold_totals', 'balance_alerts', 'treasury_reports']

/** A screening that denies nobody counts as a turn without work. Each list screens a destination once. */
const MOST_SCREENINGS = 10

/** On a calm day, no turn fails, and a worker that finds work does it. */
export async function turnsAreUseful({ turns, faults, merchants, payments }: Evidence): Promise<void> {
  if (faults > 0 || !turns) return
  const unpaid = merchants.flatMap(({ payouts }) => [...payouts.keys()]).length - payments.length
  const most = (name: string): number => {
    if (name === 'bank_transfers') return unpaid
    if (name === 'destination_screening') return MOST_SCREENINGS
    return BUSY.includes(name) ? 0 : Number.POSITIVE_INFINITY
  }
  for (const [name, of] of Object.entries(turns))
    for (const [environment, { turns }] of Object.entries(of)) {
      if (turns.failed > 0) fail(`${turns.failed} turns of ${name} in ${environment} failed`)
      // A payout that is not sent to the bank ends in a turn that asks nothing.
      if (turns.idle > most(name))
        fail(`${name} found work ${turns.idle} times in ${environment} and had nothing to do`)
    }
}

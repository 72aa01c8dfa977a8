/** Lists, as a merchant walks them, compared with what is stored. */
import type { Merchant } from '../merchant.ts'
import { type Evidence, mustEqual, rowsOf } from './evidence.ts'

/** Each list that was read has every object once; a filter leaves out the others. Balance entries are in order. */
export async function listsAreWhole(evidence: Evidence, merchant: Merchant): Promise<void> {
  const events = await rowsOf<{ id: string; type: string }>(evidence, 'live', merchant, 'events', 'id')
  const { lists } = merchant
  mustEqual(
    (lists.events as string[]).toSorted(),
    events.map(({ id }) => id),
    `the list of events of ${merchant.name}`,
  )
  mustEqual(
    (lists.paid as string[]).toSorted(),
    events.filter(({ type }) => type === 'payout.paid').map(({ id }) => id),
    `the list of events payout.paid of ${merchant.name}`,
  )
  for (const [environment, account, name] of [
    ['live', 'settlement_payable', 'payable'],
    ['sandbox', 'program_funds', 'funds'],
  ] as const) {
    const entries = await rowsOf<{
      id: string
      account_id: string
      amount: number
      current: number
      cause: string
    }>(evidence, environment, merchant, 'ledger_entries', 'version DESC')
    const own = entries.filter(({ account_id }) => account_id === account)
    mustEqual(
      lists[name],
      own.map(({ id, amount, current, cause }, index) => ({
        ...{ id, amount, balance: current, sequence: own.length - index },
        source: /^(?:ctx|po|stl)_/.test(cause) ? cause.split('/')[0] : null,
      })),
      `the list of balance entries of ${merchant.name} in ${environment}`,
    )
  }
}

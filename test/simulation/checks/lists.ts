/** Lists, as a merchant walks them, compared with what is stored. */
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

interface ListedEvent {
  readonly id: string
  readonly type: string
  readonly created: number
}

function hasEach(listed: readonly string[], events: readonly ListedEvent[], name: string): void {
  const missing = events.find(({ id }) => !listed.includes(id))
  if (missing) fail(`${name} has no ${missing.type} of ${new Date(missing.created).toISOString()}`)
  if (listed.length !== events.length) fail(`${name} has ${listed.length} events, not ${events.length}`)
}

/** Each list that was read has every object once; a filter leaves out the others. Balance entries are in order. */
export async function listsAreWhole(evidence: Evidence, merchant: Merchant): Promise<void> {
  const events = await rowsOf<ListedEvent>(evidence, 'live', merchant, 'events', 'id')
  const { lists } = merchant
  const name = `the list of events of ${merchant.name}`
  hasEach(lists.events as string[], events, name)
  const paid = events.filter(({ type }) => type === 'payout.paid')
  hasEach(lists.paid as string[], paid, `${name} with type=payout.paid`)
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

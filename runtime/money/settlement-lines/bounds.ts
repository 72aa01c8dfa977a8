/** The documents' bound of amounts, held where money is asked for: what workers do of it later never fails. */

import type { RowResult } from '../../database/database.ts'
import { CHECK_VIOLATION, codeOf, constraintOf } from '../../database/errors.ts'
import type { Posted } from '../ledger/post.ts'
import type { Totals } from './amounts.ts'

/** Cents. */
export const MAX_AMOUNT = 1_000_000_000_000_000

/** An amount would take a sum beyond what can be shown; the message says which, as an issue of the amount. */
export class BeyondBounds extends Error {
  override name = 'BeyondBounds'
}

const TOTALS = ['transaction_amount', 'interchange_amount', 'fees_amount', 'net_amount'] as const

/** Throws `BeyondBounds` if lines would take a total of a settlement beyond the bound. @param more what the lines add to it. */
export function requireTotals(totals: Totals, more: Totals): void {
  for (const name of TOTALS) {
    const after = totals[name] + more[name]
    if (Math.abs(after) > MAX_AMOUNT && Math.abs(after) > Math.abs(totals[name])) throw beyondTotals()
  }
}

const beyondTotals = () =>
  new BeyondBounds(
    `would take the day's settlement beyond ${MAX_AMOUNT}. Ask for less, or wait for the next day.`,
  )

/**
 * Awaits a transfer that a request asks for. Throws `BeyondBounds` if it takes the account that sorts last beyond the bound, or with others at
 * once the settlement beyond the exact numbers.
 *
 * @param direction in which the account moves.
 */
export async function requireBounds(
  posted: Promise<RowResult<Posted>>,
  direction: 'up' | 'down',
): Promise<void> {
  const { rows } = await posted.catch((error: unknown) => {
    if (codeOf(error) !== CHECK_VIOLATION || constraintOf(error) !== 'settlements_bounds') throw error
    throw beyondTotals()
  })
  const balance = BigInt(rows[0]?.balance ?? 0)
  const isBeyond = direction === 'up' ? balance > BigInt(MAX_AMOUNT) : balance < -BigInt(MAX_AMOUNT)
  if (isBeyond) throw new BeyondBounds(`would take the balance beyond ${MAX_AMOUNT}. Ask for less.`)
}

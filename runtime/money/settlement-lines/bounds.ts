/** The maximum amount of the API documents, checked when a request moves money, so that later work on it never fails. */

import type { RowResult } from '../../database/database.ts'
import { CHECK_VIOLATION, codeOf, constraintOf } from '../../database/errors.ts'
import type { Posted } from '../ledger/post.ts'
import type { Totals } from './amounts.ts'

/** Cents. */
export const MAX_AMOUNT = 1_000_000_000_000_000

/** A sum would exceed the maximum amount. The message describes the problem of the `amount` field. */
export class BeyondBounds extends Error {
  override name = 'BeyondBounds'
}

const TOTALS = ['transaction_amount', 'interchange_amount', 'fees_amount', 'net_amount'] as const

/**
 * Throws `BeyondBounds` if lines would take a settlement total beyond the maximum.
 * @param more totals of the lines.
 */
export function requireTotals(totals: Totals, more: Totals): void {
  for (const name of TOTALS) requireWithin(totals[name], totals[name] + more[name])
}

/** Throws `BeyondBounds` if a settlement total has moved beyond the maximum. */
export function requireMoved(before: Totals, after: Totals): void {
  for (const name of TOTALS) requireWithin(before[name], after[name])
}

function requireWithin(before: number, after: number): void {
  if (Math.abs(after) > MAX_AMOUNT && Math.abs(after) > Math.abs(before)) throw beyondTotals()
}

const beyondTotals = () =>
  new BeyondBounds(
    `would take the day's settlement beyond the maximum of ${MAX_AMOUNT}. Use a smaller amount, or try again the next day.`,
  )

/**
 * Awaits a transfer that a request causes. Throws `BeyondBounds` if it takes the account that sorts last beyond the maximum,
 * or if concurrent transfers take the settlement beyond the exact range of numbers.
 * @param direction in which the account's balance moves.
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
  if (isBeyond)
    throw new BeyondBounds(
      `would take the balance beyond the maximum of ${MAX_AMOUNT}. Use a smaller amount.`,
    )
}

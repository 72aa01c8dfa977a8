/** Preconditions of payouts: a payable balance, and a destination whose hold has ended. */
import { post } from '../../runtime/money/ledger/post.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { newId } from '../../runtime/platform/ids.ts'
import type { TestDatabase } from './database.ts'

type PayableDatabase = Pick<TestDatabase, 'control' | Environment>

/**
 * Makes an amount in cents payable, as a settlement does. @param space space of the tenant. @param now service time.
 */
export async function settleInto(
  database: PayableDatabase,
  environment: Environment,
  space: string,
  amount: number,
  now = Date.now(),
): Promise<void> {
  const transfer = { from: 'network_clearing', to: 'settlement_payable', amount } as const
  await database[environment].transaction((db) => post(db, space, newId('stl'), { transfer }, now))
}

/** Ends the hold of a destination, and makes an amount in cents payable to its tenant. */
export async function makePayable(
  database: PayableDatabase,
  environment: Environment,
  space: string,
  destinationId: string,
  amount: number,
  now?: number,
): Promise<void> {
  const text = `UPDATE ${environment}.payout_destinations SET status = 'active' WHERE tenant_id = $1 AND id = $2`
  await database.control.query({ text }, [space, destinationId])
  await settleInto(database, environment, space, amount, now)
}

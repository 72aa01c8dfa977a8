/** Lets the demo tenant dispute a transaction before the network reports the stages of its chargeback. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import type { RunOptions } from '../cards/network-simulator/run-scenario.ts'
import type { Database } from '../database/database.ts'
import type { Environment } from '../platform/environment.ts'

/** @param space `tenant_id` of the demo tenant's rows. */
export function disputeAs(
  client: Client,
  control: Database,
  environment: Environment,
  space: string,
): NonNullable<RunOptions['dispute']> {
  const text = `SELECT id FROM ${environment}.card_transactions WHERE tenant_id = $1 AND network_id = $2`
  return async ({ message }) => {
    const { rows } = await control.query<{ id: string }>({ text }, [space, message.transaction_id])
    // The clearing may be late. The network then reports a stage of a dispute that was not submitted.
    const transaction =
      rows[0] && (await client.getCardTransaction({ path: { card_transaction_id: rows[0].id } }))
    if (!transaction || transaction.amounts.cleared === transaction.amounts.refunded) return
    const { id: card_transaction_id } = transaction
    const dispute = await client.createDispute({ body: { card_transaction_id, reason: 'not_received' } })
    await client.submitDispute({ path: { dispute_id: dispute.id } })
  }
}

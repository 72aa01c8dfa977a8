import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { PayoutRow } from './queries.ts'

export function showPayout(row: PayoutRow): components['schemas']['Payout'] {
  const { chain_id: id, transaction_hash, confirmations } = row
  return {
    id: row.id,
    object: 'payout',
    amount: row.amount,
    currency: row.currency,
    destination_id: row.destination_id,
    settlement_id: row.settlement_id,
    status: row.status,
    failure_code: row.failure_code,
    chain: id === null ? null : { id, transaction_hash, confirmations },
    arrival_date: row.arrival_date,
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

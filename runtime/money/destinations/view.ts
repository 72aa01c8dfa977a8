import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { DestinationRow } from './queries.ts'

export function showDestination(row: DestinationRow): components['schemas']['PayoutDestination'] {
  return {
    id: row.id,
    object: 'payout_destination',
    type: row.type,
    address: row.address,
    bank_account: row.bank_account,
    holder_name: row.holder_name,
    default: row.is_default,
    status: row.status,
    active_at: row.active_at === null ? null : writeInstant(row.active_at),
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

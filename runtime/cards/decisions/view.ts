import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { DecisionRow } from './queries.ts'

export function showDecision(row: DecisionRow): components['schemas']['AuthorizationDecision'] {
  return {
    id: row.id,
    object: 'authorization_decision',
    card_transaction_id: row.card_transaction_id,
    status: row.status,
    approved: row.approved,
    amount: row.amount,
    decline_reason: row.decline_reason,
    duration_ms: row.duration_ms,
    default_action_used: row.default_action_used,
    ...(row.stand_in_reason !== null && { stand_in_reason: row.stand_in_reason }),
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

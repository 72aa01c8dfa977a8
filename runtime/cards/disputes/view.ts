import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { DisputeRow } from './queries.ts'

const optional = (ms: number | null) => (ms === null ? null : writeInstant(ms))

export function showDispute(row: DisputeRow): components['schemas']['Dispute'] {
  return {
    id: row.id,
    object: 'dispute',
    card_transaction_id: row.card_transaction_id,
    amount: row.amount,
    currency: 'usd',
    reason: row.reason,
    evidence: { explanation: row.explanation, files: [...row.files] },
    status: row.status,
    provisional_credit: row.provisional_credit,
    submission_deadline: writeInstant(row.submission_deadline),
    submitted_at: optional(row.submitted_at),
    closed_at: optional(row.closed_at),
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

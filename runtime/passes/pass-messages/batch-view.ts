import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { PassMessageBatchRow } from './batch-queries.ts'
import { showContent } from './content.ts'

export function showPassMessageBatch(row: PassMessageBatchRow): components['schemas']['PassMessageBatch'] {
  return {
    id: row.id,
    object: 'pass_message_batch',
    filter: row.filter,
    ...showContent(row),
    status: row.status,
    total: row.total,
    sent: row.sent,
    skipped: row.skipped,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

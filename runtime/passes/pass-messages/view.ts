import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import { instant, showContent } from './content.ts'
import type { PassMessageRow } from './queries.ts'

export function showPassMessage(row: PassMessageRow): components['schemas']['PassMessage'] {
  return {
    id: row.id,
    object: 'pass_message',
    pass_id: row.pass_id,
    pass_message_batch_id: row.pass_message_batch_id,
    ...showContent(row),
    status: row.status,
    reason: row.reason,
    sent_at: instant(row.sent_at),
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

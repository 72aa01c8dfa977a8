import type { AuditLogHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { writeInstant } from '../../platform/instants.ts'
import { type AuditRow, listAudit } from '../../tenants/audit/queries.ts'

export const auditLogHandlers = {
  async listAuditEntries({ caller, db, cursors }, { query }) {
    // The log belongs to the tenant, not to a space, so a wipe keeps it.
    return answerList({ caller: { space: caller.tenant.id }, db, cursors }, query, listAudit, showEntry)
  },
} satisfies AuditLogHandlers<Context>

function showEntry(row: AuditRow): components['schemas']['AuditEntry'] {
  const { actor_type, actor_id, environment, action, target_id, outcome, request_id, ip, version } = row
  return {
    id: row.id,
    object: 'audit_entry',
    environment,
    actor: { type: actor_type, id: actor_id },
    action,
    target_id,
    outcome,
    request_id,
    ip,
    version,
    hash: row.hash,
    previous_hash: row.previous_hash,
    created: writeInstant(row.created),
  }
}

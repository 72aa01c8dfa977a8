import type { AuditLogHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import type { Context } from '../../api/handler.ts'
import { readCreated, readPage, showList } from '../../api/lists/list-query.ts'
import { writeInstant } from '../../platform/instants.ts'
import { type AuditRow, listAudit } from '../../tenants/audit/queries.ts'

export const auditLogHandlers = {
  async listAuditEntries({ caller, db, cursors }, { query }) {
    const page = readPage(query, cursors)
    const filter = {
      created: readCreated(query),
      ...(query.actor_id && { actorIds: query.actor_id }),
      ...(query.action && { actions: query.action }),
      ...(query.target_id && { targetIds: query.target_id }),
    }
    const records = await listAudit(db, caller.tenant.id, filter, page)
    return { status: 200, body: showList(records, page, cursors, showEntry) }
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

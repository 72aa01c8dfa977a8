/** What the audit logs tell of signing in and out. */

import type { Database } from '../../database/database.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import type { AuditEntry } from '../../tenants/audit/entry.ts'
import { appendAuditIn } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'

export type NotableEntry = Pick<AuditEntry, 'action' | 'targetId' | 'outcome' | 'actorId' | 'ip'>

/** In the logs of both environments, since a member belongs to the whole account. @param db the transaction that it is told of. */
export async function writeMemberEntries(
  { clock }: { readonly clock: Clock },
  db: Database,
  tenantId: string,
  told: NotableEntry,
): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    const created = clock.service(environment)
    const entry = {
      ...told,
      id: newId('aud', created),
      environment: null,
      actorType: 'member',
      created,
    } as const
    await appendAuditIn(db, environment, tenantId, { ...entry, requestId: null, version: null })
  }
}

/** What a member has done to the member's own sign-in. */
export function succeeded(memberId: string, ip: string): Omit<NotableEntry, 'action'> {
  return { targetId: memberId, outcome: 'succeeded', actorId: memberId, ip }
}

/** What somebody has tried to do to it in vain. */
export function failed(memberId: string, ip: string): Omit<NotableEntry, 'action'> {
  return { targetId: memberId, outcome: 'failed', actorId: null, ip }
}

/** Audit entries for sign-in, sign-out, and credential changes. */

import type { Database } from '../../database/database.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import type { AuditEntry } from '../../tenants/audit/entry.ts'
import { appendAuditIn } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'

export type NotableEntry = Pick<AuditEntry, 'action' | 'targetId' | 'outcome' | 'actorId' | 'ip'>

/** Writes the entry to the audit logs of both environments, because members belong to both. @param db database or transaction. */
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

/** Returns the fields of an entry for a successful action of a member on their own sign-in. */
export function succeeded(memberId: string, ip: string): Omit<NotableEntry, 'action'> {
  return { targetId: memberId, outcome: 'succeeded', actorId: memberId, ip }
}

/** Returns the fields of an entry for a failed attempt by an unknown actor. */
export function failed(memberId: string, ip: string): Omit<NotableEntry, 'action'> {
  return { targetId: memberId, outcome: 'failed', actorId: null, ip }
}

/** What members allow applications, from the consent to the end of it. */

import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { appendAuditIn } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { type FoundGrant, findGrant, insertGrant, revokeGrantRow } from './queries.ts'

/** Who ended or allowed it, for the audit log. */
export interface Actor {
  readonly actorType: 'member' | 'operator' | 'token'
  readonly actorId: string | null
  readonly ip: string | null
}

export interface Consent {
  readonly tenantId: string
  readonly memberId: string
  readonly clientId: string
  readonly environment: Environment
  readonly scopes: readonly string[]
  readonly ip: string
}

export interface Authorizations {
  /** Undefined when there is none, or none any more. */
  find(id: string): Promise<FoundGrant | undefined>
  /** @returns its id. */
  allow(consent: Consent): Promise<string>
  /** Ends it with all its tokens, on every node; false when it had ended before. */
  revoke(id: string, actor: Actor): Promise<boolean>
}

export function createAuthorizations(control: Pool, clock: Clock): Authorizations {
  const entryOf = (environment: Environment, action: string, targetId: string, actor: Actor) => {
    const created = clock.service(environment)
    const done = { outcome: 'succeeded', requestId: null, version: null } as const
    return { id: newId('aud', created), environment, action, targetId, created, ...done, ...actor }
  }
  return {
    find: (id) => findGrant(control, id),
    async allow({ tenantId, memberId, clientId, environment, scopes, ip }) {
      const created = clock.service(environment)
      const id = newId('tok', created)
      await control.transaction(async (tx) => {
        await insertGrant(tx, {
          tenant_id: tenantId,
          id,
          member_id: memberId,
          client_id: clientId,
          environment,
          scopes,
          created,
        })
        const actor = { actorType: 'member', actorId: memberId, ip } as const
        await appendAuditIn(
          tx,
          environment,
          tenantId,
          entryOf(environment, 'connected_app.allowed', id, actor),
        )
      })
      return id
    },
    async revoke(id, actor) {
      const grant = await findGrant(control, id)
      if (!grant) return false
      const { tenant_id: tenantId, environment } = grant
      return control.transaction(async (tx) => {
        if (!(await revokeGrantRow(tx, tenantId, id, clock.service(environment)))) return false
        await bumpRevision(tx)
        await appendAuditIn(
          tx,
          environment,
          tenantId,
          entryOf(environment, 'connected_app.revoked', id, actor),
        )
        return true
      })
    },
  }
}

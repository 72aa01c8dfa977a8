/** Authorizations that members give apps, from consent to revocation. */

import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { appendAuditIn } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { type FoundGrant, findGrant, insertGrant, revokeGrantRow } from './queries.ts'

/** Who allowed or revoked an authorization, for the audit log. */
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
  /** Finds an authorization. Resolves with undefined if it does not exist or was revoked. */
  find(id: string): Promise<FoundGrant | undefined>
  /** Records a consent. @returns the ID of the authorization. */
  allow(consent: Consent): Promise<string>
  /** Revokes an authorization and its tokens, on every node. Resolves with false if it was already revoked. */
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

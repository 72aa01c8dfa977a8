import type { Statement } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import { ControlError, isoTime, type Operator } from '../../tenants/admin/change.ts'
import { requireTenant } from '../../tenants/admin/tenants.ts'
import { createAuthorizations } from './authorizations.ts'

const LIST: Statement = {
  text: `SELECT g.id, g.client_id, c.name, g.environment, g.member_id, g.scopes, g.created
         FROM control.oauth_grants g JOIN control.oauth_clients c ON c.id = g.client_id
         WHERE g.tenant_id = $1 AND g.revoked_at IS NULL
           AND EXISTS (SELECT FROM control.oauth_artefacts a
                       WHERE a.grant_id = g.id AND a.model = 'RefreshToken' AND a.consumed_at IS NULL
                         AND a.expires_at > $2)
         ORDER BY g.created, g.id`,
}

interface ConnectedAppRow {
  readonly id: string
  readonly client_id: string
  readonly name: string
  readonly environment: Environment
  readonly member_id: string
  readonly scopes: readonly string[]
  readonly created: number
}

export interface ConnectedApp extends Omit<ConnectedAppRow, 'created'> {
  readonly created: string
}

/**
 * Lists the connected apps that can still get tokens, oldest first. @throws ControlError `not_found` for an unknown
 * tenant.
 */
export async function listConnectedApps(
  operator: Operator,
  tenantId: string,
): Promise<{ readonly data: readonly ConnectedApp[] }> {
  await requireTenant(operator.control, tenantId)
  const now = new Date(operator.clock.machine()).toISOString()
  const { rows } = await operator.control.query<ConnectedAppRow>(LIST, [tenantId, now])
  return { data: rows.map((row) => ({ ...row, created: isoTime(row.created) })) }
}

/**
 * Revokes an app's authorization, on every node within a second. @throws ControlError `not_found` if it has already
 * ended.
 */
export async function revokeConnectedApp(
  operator: Operator,
  id: string,
): Promise<{ readonly id: string; readonly revoked: true }> {
  const authorizations = createAuthorizations(operator.control, operator.clock)
  const { member } = operator
  const actor = member
    ? ({ actorType: 'member', actorId: member.id, ip: member.ip } as const)
    : ({ actorType: 'operator', actorId: null, ip: null } as const)
  if (!(await authorizations.revoke(id, actor))) {
    throw new ControlError('not_found', `there is no connected app ${id}, or it was already revoked`)
  }
  return { id, revoked: true }
}

/** Dependencies of pages that read data without an API operation. */

import type { Pool } from '../../../database/pool/pool.ts'
import type { EventStreams } from '../../../events/emit/streams.ts'
import type { Environment } from '../../../platform/environment.ts'
import type { Operator } from '../../../tenants/admin/change.ts'
import type { WrongCodes } from '../../../tenants/factors/wrong-codes.ts'
import { type MemberName, readMember } from '../../../tenants/keys/credential-queries.ts'
import { ApiRefused, type TenantPlace } from '../../engine/visit.ts'

export interface Watching {
  readonly operator: Operator
  readonly databases: Readonly<Record<Environment, Pool>>
  readonly streams: Readonly<Record<Environment, EventStreams>>
  readonly wrongCodes: WrongCodes
  /** URL of a trace, with `{trace_id}`. */
  readonly traceUrl?: string | undefined
}

/** Returns the tenant's database and space. @throws `ApiRefused` 403 if the member was removed. */
export async function findPlace(
  { operator, databases }: Watching,
  { member, environment }: { readonly member: MemberName; readonly environment: Environment },
): Promise<TenantPlace> {
  const credential = await readMember(operator.control, member, environment)
  if (!credential) throw new ApiRefused(403, 'You are no longer a member of this account.')
  return { db: databases[environment].forTenant(member.tenantId), space: credential.space }
}

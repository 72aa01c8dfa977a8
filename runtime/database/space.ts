/**
 * Where a tenant's data of an environment is kept: the value of `tenant_id` in its rows. It is the tenant's own identifier
 * until its sandbox is wiped; each wipe begins a new space, and what stands in the old one is deleted in time.
 */
export function spaceOf(tenantId: string, wipes: number): string {
  return wipes === 0 ? tenantId : `${tenantId}.${wipes}`
}

/** The tenant whose space it is, and how often its sandbox had been wiped when the space began. */
export function readSpace(space: string): { readonly tenantId: string; readonly wipes: number } {
  const [tenantId = space, wipes = '0'] = space.split('.')
  return { tenantId, wipes: Number(wipes) }
}

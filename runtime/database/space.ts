/**
 * Returns the space of a tenant: the value of `tenant_id` in its rows of an environment. The space is the tenant
 * identifier until the sandbox is first wiped. Each wipe starts a new space, and a worker deletes the rows of the old
 * one later.
 */
export function spaceOf(tenantId: string, wipes: number): string {
  return wipes === 0 ? tenantId : `${tenantId}.${wipes}`
}

/** Returns the tenant of a space and the number of wipes before the space began. */
export function readSpace(space: string): { readonly tenantId: string; readonly wipes: number } {
  const [tenantId = space, wipes = '0'] = space.split('.')
  return { tenantId, wipes: Number(wipes) }
}

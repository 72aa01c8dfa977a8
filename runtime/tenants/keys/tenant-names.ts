import type { Database, Statement } from '../../database/database.ts'

/** Names of tenants, for pages that are visited without a key of the tenant. */
export interface TenantNames {
  /** Returns the name; undefined if there is no such tenant. Rejects with `DatabaseUnavailable`. */
  find(tenantId: string): Promise<string | undefined>
  /** Clears the cache, because stored names changed. */
  forget(): void
}

/** If the cache is full, it is cleared. */
const MAX_NAMES = 50_000

const READ: Statement = { name: 'tenant_names_read', text: 'SELECT name FROM control.tenants WHERE id = $1' }

export function createTenantNames(control: Database): TenantNames {
  let names = new Map<string, string>()
  return {
    async find(tenantId) {
      const known = names.get(tenantId)
      if (known !== undefined) return known
      const cache = names
      const { rows } = await control.query<{ name: string }>(READ, [tenantId])
      const name = rows[0]?.name
      if (name === undefined) return undefined
      if (names.size >= MAX_NAMES) names = new Map()
      // `forget` was called during the query, so the result may be outdated and is not cached.
      if (cache === names) names.set(tenantId, name)
      return name
    },
    forget() {
      names = new Map()
    },
  }
}

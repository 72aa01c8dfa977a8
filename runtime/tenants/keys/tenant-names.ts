import type { Database, Statement } from '../../database/database.ts'

/** Names of tenants, for whoever comes without a key of theirs. */
export interface TenantNames {
  /** Undefined where there is no such tenant. Rejects with `DatabaseUnavailable`. */
  find(tenantId: string): Promise<string | undefined>
  /** Forgets everything: what is stored has changed. */
  forget(): void
}

/** Beyond this the cache starts anew rather than grow. */
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
      // `forget` came in between: what was read may be older than that.
      if (cache === names) names.set(tenantId, name)
      return name
    },
    forget() {
      names = new Map()
    },
  }
}

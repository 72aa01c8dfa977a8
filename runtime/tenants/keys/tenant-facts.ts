import type { Database, Statement } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'

/** What work without a key needs to know about a tenant in an environment. */
export interface TenantFacts {
  readonly plan: string
  /** The version that the tenant is pinned to; null if there is no pin. */
  readonly pin: string | null
}

/** Facts about tenants, cached on this node. */
export interface TenantFactsCache {
  /** Returns the facts; undefined if there is no such tenant. Rejects with `DatabaseUnavailable`. */
  find(tenantId: string, environment: Environment): Promise<TenantFacts | undefined>
  /** Clears the cache, because stored facts changed. */
  forget(): void
}

/** Milliseconds for which facts are cached, so that a change is noticed even if its notification got lost. */
const KNOWN_FOR_MS = 60_000

/** If the cache is full, it is cleared. */
const MAX_ENTRIES = 50_000

const READ: Statement = {
  name: 'tenant_facts_read',
  text: `SELECT t.plan, p.version AS pin FROM control.tenants t
           LEFT JOIN control.pins p ON p.tenant_id = t.id AND p.environment = $2 WHERE t.id = $1`,
}

/** @param monotonic clock in milliseconds that never goes back. */
export function createTenantFacts(
  control: Database,
  monotonic: () => number = () => performance.now(),
): TenantFactsCache {
  let entries = new Map<string, { readonly facts: TenantFacts; readonly until: number }>()
  return {
    async find(tenantId, environment) {
      const name = `${environment}/${tenantId}`
      const known = entries.get(name)
      if (known && known.until > monotonic()) return known.facts
      const cache = entries
      const facts = (await control.query<TenantFacts>(READ, [tenantId, environment])).rows[0]
      if (facts === undefined) return undefined
      if (entries.size >= MAX_ENTRIES) entries = new Map()
      // `forget` was called during the query, so the result may be outdated and is not cached.
      if (cache === entries) entries.set(name, { facts, until: monotonic() + KNOWN_FOR_MS })
      return facts
    },
    forget() {
      entries = new Map()
    },
  }
}

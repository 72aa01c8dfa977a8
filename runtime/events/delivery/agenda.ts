/**
 * In-memory list of a worker's known tasks. The database is the source of truth, so nothing is lost with the process.
 */

/** Tasks by tenant, in the order in which they were added. */
export interface Agenda {
  /** Adds events of the tenant to plan. @param events approximate number. */
  plan(tenantId: string, events: number): void
  /** Plans more events of the tenant after 250 ms. Until then, `plan` does nothing for the tenant. */
  planLater(tenantId: string): void
  /** Adds a claim for the tenant, which has attempts in the queue. */
  claim(tenantId: string): void
  /** Adds a claim for the tenant after 100 ms, unless one is already scheduled. */
  claimLater(tenantId: string): void
  /**
   * Removes and returns tenants to plan for, except busy ones: at least one, up to about `limit` events together.
   */
  takePlans(limit: number, busy: ReadonlySet<string>): readonly string[]
  takeClaims(busy: ReadonlySet<string>): readonly string[]
  readonly isEmpty: boolean
  stop(): void
}

/** Delay of a claim when the tenant's bucket is empty, so that several attempts are claimed together. */
const LATER_MS = 100

/**
 * Delay before planning more for a tenant whose events exceed one visit. Planning at this pace is still much faster
 * than the tenant may send, and it leaves the database time for other tenants.
 */
const MORE_MS = 250

export interface AgendaOptions {
  /** Maximum number of tenants taken in one call. */
  readonly atOnce: number
  /** Called when a scheduled task becomes due. */
  readonly notify: () => void
}

export function createAgenda({ atOnce, notify }: AgendaOptions): Agenda {
  const plans = new Map<string, number>()
  const claims = new Set<string>()
  const later = new Map<string, NodeJS.Timeout>()
  const resting = new Map<string, NodeJS.Timeout>()
  return {
    plan: (tenantId, events) => {
      if (!resting.has(tenantId)) plans.set(tenantId, (plans.get(tenantId) ?? 0) + events)
    },
    planLater: (tenantId) => {
      if (resting.has(tenantId)) return
      const timer = setTimeout(() => {
        resting.delete(tenantId)
        plans.set(tenantId, 1)
        notify()
      }, MORE_MS)
      resting.set(tenantId, timer)
    },
    claim: (tenantId) => {
      claims.add(tenantId)
    },
    claimLater: (tenantId) => {
      if (later.has(tenantId)) return
      const timer = setTimeout(() => {
        later.delete(tenantId)
        claims.add(tenantId)
        notify()
      }, LATER_MS)
      later.set(tenantId, timer)
    },
    takePlans: (limit, busy) => {
      const taken: string[] = []
      let events = 0
      for (const [tenantId, count] of plans) {
        if (busy.has(tenantId)) continue
        if (taken.length === atOnce || (taken.length > 0 && events + count > limit)) break
        events += count
        taken.push(tenantId)
        plans.delete(tenantId)
      }
      return taken
    },
    takeClaims: (busy) => {
      const free = claims.values().filter((tenantId) => !busy.has(tenantId))
      const taken = [...free.take(atOnce)]
      for (const tenantId of taken) claims.delete(tenantId)
      return taken
    },
    get isEmpty() {
      return plans.size === 0 && claims.size === 0
    },
    stop: () => {
      for (const timer of [...later.values(), ...resting.values()]) clearTimeout(timer)
      later.clear()
      resting.clear()
    },
  }
}

/** What a worker knows is to be done, and when to look again. Only memory: the database has it all. */

/** What is to be done, by tenant, in the order in which it came up. */
export interface Agenda {
  /** Events of the tenant are to be planned; `events`: about how many. */
  plan(tenantId: string, events: number): void
  /** More events of the tenant are to be planned, in a while; until then `plan` does nothing for the tenant. */
  planLater(tenantId: string): void
  /** Attempts of the tenant are in the queue. */
  claim(tenantId: string): void
  /** Claims in a while, once. */
  claimLater(tenantId: string): void
  /** Tenants to plan for but the busy ones, of all of whom there are about `limit` events, but at least one tenant. */
  takePlans(limit: number, busy: ReadonlySet<string>): readonly string[]
  takeClaims(busy: ReadonlySet<string>): readonly string[]
  readonly isEmpty: boolean
  /** Forgets what was put off. */
  stop(): void
}

/** A bucket that is empty fills slowly: rather a few attempts after a while than one at a time. */
const LATER_MS = 100

/**
 * Between the visits that plan for a tenant with more events than fit into one: far more is planned so than it may send,
 * and the database has time for others.
 */
const MORE_MS = 250

export interface AgendaOptions {
  /** Tenants that are taken at once. */
  readonly atOnce: number
  /** Something that was put off is to be done now. */
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

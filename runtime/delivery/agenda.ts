/** What a worker knows is to be done, how much of it at once, and when to look again. Only memory: the database has it all. */

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
/** Attempts of one process under way, by tenant. */
export interface Slots {
  take(tenantId: string): void
  give(tenantId: string): void
  readonly free: number
  readonly taken: number
  /** How many more a tenant may take, at most `most`, when it has none; and those of the tenants that may take fewer. */
  allowances(
    most: number,
    tenants: readonly string[],
  ): {
    readonly allowance: number
    readonly allowances: Readonly<Record<string, number>>
  }
}

/**
 * Shares a number of slots: a tenant may hold a third of what is left free besides. So one alone gets a quarter, several
 * get less each, and something is always free for whoever comes next (dynamic thresholds: Choudhury and Hahne, 1998).
 */
export function createSlots(capacity: number): Slots {
  const held = new Map<string, number>()
  let taken = 0
  const free = () => Math.max(0, capacity - taken)
  return {
    take(tenantId) {
      held.set(tenantId, (held.get(tenantId) ?? 0) + 1)
      taken += 1
    },
    give(tenantId) {
      const left = (held.get(tenantId) ?? 0) - 1
      if (left > 0) held.set(tenantId, left)
      else held.delete(tenantId)
      taken -= 1
    },
    get free() {
      return free()
    },
    get taken() {
      return taken
    },
    allowances(most, tenants) {
      const share = (holding: number) => Math.min(most, Math.max(0, Math.floor((free() - 3 * holding) / 4)))
      const allowances: Record<string, number> = {}
      for (const tenantId of tenants) {
        const allowance = share(held.get(tenantId) ?? 0)
        if (held.has(tenantId) && allowance < most) allowances[tenantId] = allowance
      }
      return { allowance: Math.max(1, share(0)), allowances }
    },
  }
}
/** Wakes whoever waits, or the next who does: a notification is never lost and never counted twice. */
export interface WakeUp {
  notify(): void
  /** Forgets a notification for which no one has waited yet. */
  clear(): void
  /** Resolves at the next notification, or after so many milliseconds. */
  wait(ms: number): Promise<void>
}

export function createWakeUp(): WakeUp {
  let notified = false
  let resume: (() => void) | undefined
  return {
    notify() {
      notified = true
      resume?.()
    },
    clear() {
      notified = false
    },
    async wait(ms) {
      if (!notified) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          resume = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      resume = undefined
      notified = false
    },
  }
}

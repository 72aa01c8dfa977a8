/**
 * Grants a limited number of places to tenants in turn, each up to its share. Independent of connections and clocks.
 */

/** Undefined for work of the service itself. */
export type Tenant = string | undefined

export interface FairQueue {
  /** Takes a place for the tenant and calls `start`: immediately if possible, otherwise when a place is granted. */
  acquire(tenant: Tenant, start: () => void): void
  /** Cancels a waiting `start`. Returns false if it has already been called. */
  cancel(tenant: Tenant, start: () => void): boolean
  /** Releases a place of the tenant and grants it to the next waiter. */
  release(tenant: Tenant): void
  /** Number of waiting acquisitions of the tenant. */
  waiting(tenant: Tenant): number
  /** Whether the tenant has at least as many waiting acquisitions as the average tenant that has any. */
  isCrowdedBy(tenant: Tenant): boolean
  readonly load: { readonly busy: number; readonly waiting: number }
}

export interface FairQueueOptions {
  readonly places: number
  /** Maximum number of places for one tenant. The service itself has no limit. */
  readonly share: number | ((tenant: Tenant) => number)
}

interface Party {
  held: number
  /** In order of arrival. */
  readonly waiting: Set<() => void>
}

/**
 * A tenant holds at most its share, and takes the last free place only if it holds none. Two tenants that take as many
 * as they can therefore leave a place for a third. A released place goes to the waiting tenant that holds the fewest;
 * ties are resolved in turn.
 */
export function createFairQueue({ places, share }: FairQueueOptions): FairQueue {
  const shareOf = typeof share === 'function' ? share : () => share
  /** Tenants that hold or wait for places, in order of their turns. */
  const parties = new Map<Tenant, Party>()
  const load = { busy: 0, waiting: 0 }

  const mayTake = (tenant: Tenant, { held }: Party) => {
    const free = places - load.busy
    if (held === 0) return free > 0
    return free > 1 && (tenant === undefined || held < shareOf(tenant))
  }

  const partyOf = (tenant: Tenant): Party => {
    const known = parties.get(tenant)
    if (known) return known
    const party: Party = { held: 0, waiting: new Set() }
    parties.set(tenant, party)
    return party
  }

  const forget = (tenant: Tenant, party: Party) => {
    if (party.held === 0 && party.waiting.size === 0) parties.delete(tenant)
  }

  const serve = (tenant: Tenant, party: Party, start: () => void) => {
    party.held += 1
    load.busy += 1
    // Moves the tenant to the end of the order.
    parties.delete(tenant)
    parties.set(tenant, party)
    start()
  }

  /** Serves the waiting tenant that may take a place and holds the fewest; the first in order if several do. */
  const serveNext = () => {
    if (load.waiting === 0) return
    let next: readonly [Tenant, Party] | undefined
    for (const each of parties) {
      const [tenant, party] = each
      if (party.waiting.size === 0 || !mayTake(tenant, party)) continue
      if (next === undefined || party.held < next[1].held) next = each
      if (next[1].held === 0) break
    }
    if (next === undefined) return
    const [tenant, party] = next
    const [first] = party.waiting
    party.waiting.delete(first!)
    load.waiting -= 1
    serve(tenant, party, first!)
  }

  const waiting = (tenant: Tenant) => parties.get(tenant)?.waiting.size ?? 0

  return {
    load,
    acquire(tenant, start) {
      const party = partyOf(tenant)
      if (party.waiting.size === 0 && mayTake(tenant, party)) {
        serve(tenant, party, start)
        return
      }
      party.waiting.add(start)
      load.waiting += 1
    },
    cancel(tenant, start) {
      const party = parties.get(tenant)
      if (!party?.waiting.delete(start)) return false
      load.waiting -= 1
      forget(tenant, party)
      return true
    },
    release(tenant) {
      const party = parties.get(tenant)
      if (!party || party.held === 0) throw new Error('release() was called for a tenant that holds no place')
      party.held -= 1
      load.busy -= 1
      forget(tenant, party)
      serveNext()
    },
    waiting,
    isCrowdedBy(tenant) {
      const crowds = [...parties.values()].filter((party) => party.waiting.size > 0).length
      return waiting(tenant) > 0 && waiting(tenant) * crowds >= load.waiting
    },
  }
}

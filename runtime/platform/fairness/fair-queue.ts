/** Who is next where tenants share a few places: in turn, each up to its share. It knows no connections and no clock. */

/** Undefined: the service itself, for nobody in particular. */
export type Tenant = string | undefined

export interface FairQueue {
  /** Takes a place for the tenant and calls `start`: at once, or when its turn has come. */
  acquire(tenant: Tenant, start: () => void): void
  /** Gives up a `start` that waits; false when it has been called already. */
  cancel(tenant: Tenant, start: () => void): boolean
  /** Gives a place of the tenant's back; whoever is next gets it. */
  release(tenant: Tenant): void
  /** How many of the tenant wait. */
  waiting(tenant: Tenant): number
  /** Whether at least as many of the tenant wait as of each of those who wait, on average. */
  isCrowdedBy(tenant: Tenant): boolean
  readonly load: { readonly busy: number; readonly waiting: number }
}

export interface FairQueueOptions {
  readonly places: number
  /** Places that one tenant has at most. The service itself is not bound by it. */
  readonly share: number | ((tenant: Tenant) => number)
}

interface Party {
  held: number
  /** In the order in which they came. */
  readonly waiting: Set<() => void>
}

/**
 * A tenant holds its share at most, and takes the last free place only while it holds none: so two tenants that hold on to
 * all they can get leave a place for a third. A place that is given back goes to the tenant that holds the fewest, in turn.
 */
export function createFairQueue({ places, share }: FairQueueOptions): FairQueue {
  const shareOf = typeof share === 'function' ? share : () => share
  /** Those that hold a place or wait for one, in the order of their turns. */
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
    // To the end of the turns.
    parties.delete(tenant)
    parties.set(tenant, party)
    start()
  }

  /** Of those that wait and may take a place, the one that holds the fewest; the first in turn of several. */
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
      if (!party || party.held === 0) throw new Error('a place is given back that nobody holds')
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

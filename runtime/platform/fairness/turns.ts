import type { Presence } from './presence.ts'

/** Bounds what a tenant has under way at once while other tenants are there. */
export interface TenantTurns {
  /**
   * Asks for a turn of the tenant for work of this weight: undefined when it may begin now, otherwise resolved when it may.
   *
   * @param kind work of one kind begins in the order in which it was asked for; kinds do not wait for each other.
   */
  acquire(tenantId: string, kind: string, weight: number): undefined | Promise<void>
  /** The work is over, after so many milliseconds; the other arguments as they were given to `acquire`. */
  release(tenantId: string, kind: string, weight: number, tookMs: number): void
}

/**
 * The weight that a tenant has under way of one kind while others are there: enough to keep the database busy while this
 * process writes earlier answers. More would lengthen the ticks of the event loop, which all tenants share.
 */
const AT_ONCE = 4

/**
 * A place of full weight rests so many times as long as its work took: a tenant that always wants more leaves others most of
 * the time, and still gets several times what its buckets allow.
 */
const REST = 5

/** No rest is longer: the work may have spent most of its time waiting for something else. */
const MAX_REST_MS = 1000

interface Party {
  underWay: number
  readonly waiting: { readonly weight: number; readonly go: () => void }[]
}

/**
 * A tenant that is alone has no bound; beside others it has one, but may always have one request under way. One that wants
 * more leaves more time to others than it takes: after each request its place rests for longer than the request took, in
 * proportion to its weight.
 */
export function createTurns(
  presence: Presence,
  later: (work: () => void, ms: number) => void = setTimeout,
): TenantTurns {
  const parties = new Map<string, Party>()
  const mayEnter = (tenantId: string, { underWay }: Party, weight: number) =>
    underWay === 0 || underWay + weight <= AT_ONCE || presence.isAlone(tenantId)
  const startWaiting = (tenantId: string, party: Party) => {
    for (;;) {
      const [next] = party.waiting
      if (!next || !mayEnter(tenantId, party, next.weight)) return
      party.waiting.shift()
      party.underWay += next.weight
      next.go()
    }
  }
  const nameOf = (tenantId: string, kind: string) => `${kind} ${tenantId}`

  return {
    acquire(tenantId, kind, weight) {
      presence.seen(tenantId)
      const name = nameOf(tenantId, kind)
      let party = parties.get(name)
      if (!party) {
        party = { underWay: 0, waiting: [] }
        parties.set(name, party)
      }
      if (party.waiting.length === 0 && mayEnter(tenantId, party, weight)) {
        party.underWay += weight
        return undefined
      }
      const { waiting } = party
      return new Promise((go) => void waiting.push({ weight, go }))
    },
    release(tenantId, kind, weight, tookMs) {
      const name = nameOf(tenantId, kind)
      const party = parties.get(name)
      if (!party) throw new Error('something ends that has not begun')
      const end = () => {
        party.underWay -= weight
        startWaiting(tenantId, party)
        if (party.underWay === 0) parties.delete(name)
      }
      if (party.waiting.length === 0 || presence.isAlone(tenantId)) end()
      else later(end, Math.min(MAX_REST_MS, (REST * tookMs * weight) / AT_ONCE))
    },
  }
}

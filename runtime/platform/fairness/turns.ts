import type { Presence } from './presence.ts'

/** Bounds the concurrent work of a tenant while other tenants are present. */
export interface TenantTurns {
  /**
   * Requests a turn for work of this weight. Returns undefined if the work may start now, otherwise a promise that
   * resolves when it may.
   *
   * @param kind work of one kind starts in order of request; kinds do not wait for each other.
   */
  acquire(tenantId: string, kind: string, weight: number): undefined | Promise<void>
  /** Ends the work. @param tookMs its duration; the other arguments are those of `acquire`. */
  release(tenantId: string, kind: string, weight: number, tookMs: number): void
}

/**
 * Maximum total weight of a tenant's work in progress, for each kind, while other tenants are present. 4 keeps the
 * database busy while this process writes earlier responses. More would lengthen event loop ticks, which all tenants
 * share.
 */
const MAX_WEIGHT = 4

/**
 * Rest after work of full weight, as a multiple of its duration. A tenant with constant demand leaves most of the time
 * to others and still exceeds its rate limits several times over.
 */
const REST = 5

/** Maximum rest, because work that took long may have spent most of that time waiting. */
const MAX_REST_MS = 1000

interface Party {
  inProgress: number
  readonly waiting: { readonly weight: number; readonly go: () => void }[]
}

/**
 * A tenant that is alone has no bound. While other tenants are present, it has one, but may always have one request in
 * progress. After each request, its slot rests for longer than the request took, in proportion to the weight, so that a
 * tenant with constant demand leaves more time to others than it uses.
 */
export function createTurns(
  presence: Presence,
  later: (work: () => void, ms: number) => void = setTimeout,
): TenantTurns {
  const parties = new Map<string, Party>()
  const mayEnter = (tenantId: string, { inProgress }: Party, weight: number) =>
    inProgress === 0 || inProgress + weight <= MAX_WEIGHT || presence.isAlone(tenantId)
  const startWaiting = (tenantId: string, party: Party) => {
    for (;;) {
      const [next] = party.waiting
      if (!next || !mayEnter(tenantId, party, next.weight)) return
      party.waiting.shift()
      party.inProgress += next.weight
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
        party = { inProgress: 0, waiting: [] }
        parties.set(name, party)
      }
      if (party.waiting.length === 0 && mayEnter(tenantId, party, weight)) {
        party.inProgress += weight
        return undefined
      }
      const { waiting } = party
      return new Promise((go) => void waiting.push({ weight, go }))
    },
    release(tenantId, kind, weight, tookMs) {
      const name = nameOf(tenantId, kind)
      const party = parties.get(name)
      if (!party) throw new Error('release() was called for work that has not started')
      const end = () => {
        party.inProgress -= weight
        startWaiting(tenantId, party)
        if (party.inProgress === 0) parties.delete(name)
      }
      if (party.waiting.length === 0 || presence.isAlone(tenantId)) end()
      else later(end, Math.min(MAX_REST_MS, (REST * tookMs * weight) / MAX_WEIGHT))
    },
  }
}

import type { Presence } from '../platform/fairness/presence.ts'

/** Lets requests of a tenant be worked on, so much at once while others are there too. */
export interface Admission {
  /**
   * The tenant wants something of the weight done. Resolves when its turn has come; undefined when that is now.
   *
   * @param kind what is of one kind waits for each other, in the order in which it came; for another kind it does not wait.
   */
  enter(tenantId: string, kind: string, weight: number): undefined | Promise<void>
  /** It is done, with the same words, after so many milliseconds. */
  leave(tenantId: string, kind: string, weight: number, tookMs: number): void
}

/**
 * What a tenant has under way of one kind beside others: enough to keep the database at work while this process shows what
 * it gave before. Everybody's answers come in turns of one event loop, and each thing more makes each turn longer.
 */
const AT_ONCE = 4

/** How much longer than its work a place of full weight rests: a tenant that always wants more leaves others most of the time. */
const REST = 2

/** The work may have waited for something else most of the time. */
const MAX_REST_MS = 250

interface Party {
  underWay: number
  readonly waiting: { readonly weight: number; readonly go: () => void }[]
}

/**
 * A tenant that is alone has no bound; beside others it has one, but always at least one thing under way. One that wants
 * more than that leaves more time to others than it takes: after each thing its place rests for longer than that took, in
 * proportion to its weight.
 */
export function createAdmission(
  presence: Presence,
  later: (work: () => void, ms: number) => void = setTimeout,
): Admission {
  const parties = new Map<string, Party>()
  const mayEnter = (tenantId: string, { underWay }: Party, weight: number) =>
    underWay === 0 || underWay + weight <= AT_ONCE || presence.isAlone(tenantId)
  const letIn = (tenantId: string, party: Party) => {
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
    enter(tenantId, kind, weight) {
      presence.note(tenantId)
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
    leave(tenantId, kind, weight, tookMs) {
      const name = nameOf(tenantId, kind)
      const party = parties.get(name)
      if (!party) throw new Error('something ends that has not begun')
      const end = () => {
        party.underWay -= weight
        letIn(tenantId, party)
        if (party.underWay === 0) parties.delete(name)
      }
      if (party.waiting.length === 0 || presence.isAlone(tenantId)) end()
      else later(end, Math.min(MAX_REST_MS, (REST * tookMs * weight) / AT_ONCE))
    },
  }
}

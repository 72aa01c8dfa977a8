/** Counts what replays find, per caller and for all, in bounded memory. */
import type { ReplayKind, ReplayNote } from '../runtime/replay.ts'

/** What was found at one part of an operation. */
export interface ReplayFinding extends ReplayNote {
  readonly operation: string
  readonly exchanges: number
  /** Location of the first exchange: `traffic.har entry 17`. */
  readonly first: string
}

export interface CallerTally {
  readonly caller: string
  /** Replayed exchanges. */
  readonly exchanges: number
  readonly findings: readonly ReplayFinding[]
}

export interface ReplayTally {
  add(caller: string, operation: string, notes: readonly ReplayNote[], at: () => string): void
  /** Callers with the most breaks first. */
  callers(): readonly CallerTally[]
  /** Findings of all callers, with their number. */
  findings(): readonly (ReplayFinding & { readonly callers: number })[]
}

/** In the order of a report: what needs work first. */
export const KINDS: readonly ReplayKind[] = [
  'unfit',
  'breaks',
  'silent',
  'changes',
  'answer',
  'deprecated',
  'invalid',
]

interface Count extends ReplayNote {
  readonly operation: string
  readonly first: string
  exchanges: number
}

interface Counted {
  exchanges: number
  readonly counts: Map<string, Count>
}

/** Maximum number of callers, and of findings of all callers together, that are counted one by one. */
const MAX_CALLERS = 10_000
const MAX_FINDINGS = 100_000

const OTHERS = 'other callers'

export function createTally(): ReplayTally {
  const callers = new Map<string, Counted>()
  let findings = 0
  const countedOf = (caller: string): Counted => {
    const name = callers.has(caller) || callers.size < MAX_CALLERS ? caller : OTHERS
    const counted = callers.get(name) ?? { exchanges: 0, counts: new Map() }
    callers.set(name, counted)
    return counted
  }
  return {
    add(caller, operation, notes, at) {
      const counted = countedOf(caller)
      counted.exchanges++
      // An exchange may have the same note at several items of a list.
      const seen = new Set<Count>()
      for (const note of notes) {
        const own = `${note.kind} ${operation} ${note.field} ${note.detail}`
        const key = counted.counts.has(own) || findings < MAX_FINDINGS ? own : `${note.kind} ${operation}`
        let count = counted.counts.get(key)
        if (!count) {
          const place = key === own ? note : { kind: note.kind, field: 'others', detail: 'not listed' }
          count = { ...place, operation, first: at(), exchanges: 0 }
          counted.counts.set(key, count)
          findings++
        }
        if (!seen.has(count)) count.exchanges++
        seen.add(count)
      }
    },
    callers: () =>
      [...callers]
        .map(([caller, { exchanges, counts }]) => ({ caller, exchanges, findings: sorted(counts.values()) }))
        .sort((a, b) => weigh(b) - weigh(a) || b.exchanges - a.exchanges || compare(a.caller, b.caller)),
    findings() {
      const all = new Map<string, Count & { callers: number }>()
      for (const { counts } of callers.values())
        for (const [key, count] of counts) {
          const known = all.get(key)
          if (!known) all.set(key, { ...count, callers: 1 })
          else {
            known.exchanges += count.exchanges
            known.callers++
          }
        }
      return sorted(all.values())
    },
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Number of exchanges that break, or change silently. */
const weigh = ({ findings }: CallerTally): number =>
  findings.reduce((sum, { kind, exchanges }) => sum + (NEEDS_WORK.has(kind) ? exchanges : 0), 0)

const NEEDS_WORK: ReadonlySet<ReplayKind> = new Set(['unfit', 'breaks', 'silent'])

const sorted = <Found extends Count>(all: Iterable<Found>): Found[] =>
  [...all].sort(
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      b.exchanges - a.exchanges ||
      compare(a.operation + a.field + a.detail, b.operation + b.field + b.detail),
  )

/** Counts what replays find, per caller and for all, in bounded memory. */
import type { ReplayKind, ReplayNote } from './replay.ts'

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

/** Location of a record. `order` counts the records of all files. */
export interface RecordPlace {
  readonly order: number
  readonly at: string
}

/** Counts by caller, in a form that threads can exchange. */
export type CountedCallers = ReadonlyMap<string, CountedCaller>

export interface ReplayTally {
  add(caller: string, operation: string, notes: readonly ReplayNote[], place: RecordPlace): void
  /** Adds what a different thread counted. */
  merge(counted: CountedCallers): void
  counted(): CountedCallers
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
  first: string
  order: number
  exchanges: number
}

interface CountedCaller {
  exchanges: number
  readonly counts: Map<string, Count>
}

/** Maximum number of callers, and of findings of all callers together, that are counted one by one. */
const MAX_CALLERS = 10_000
const MAX_FINDINGS = 100_000

const OTHERS = 'other callers'

export function createTally(): ReplayTally {
  const callers = new Map<string, CountedCaller>()
  let findings = 0
  const countedOf = (caller: string): CountedCaller => {
    const name = callers.has(caller) || callers.size < MAX_CALLERS ? caller : OTHERS
    const counted = callers.get(name) ?? { exchanges: 0, counts: new Map() }
    callers.set(name, counted)
    return counted
  }
  const addCount = ({ counts }: CountedCaller, own: string, count: Count) => {
    const { kind, operation } = count
    const isListed = counts.has(own) || findings < MAX_FINDINGS
    const key = isListed ? own : `${kind} ${operation}`
    const known = counts.get(key)
    if (known) addTo(known, count)
    else {
      counts.set(key, isListed ? count : { ...count, field: 'others', detail: 'not listed' })
      findings++
    }
  }
  return {
    add(caller, operation, notes, { order, at }) {
      const counted = countedOf(caller)
      counted.exchanges++
      // An exchange may have the same note at several items of a list.
      const seen = new Set<string>()
      for (const note of notes) {
        const key = `${note.kind} ${operation} ${note.field} ${note.detail}`
        if (seen.has(key)) continue
        seen.add(key)
        addCount(counted, key, { ...note, operation, first: at, order, exchanges: 1 })
      }
    },
    merge(others) {
      for (const [caller, { exchanges, counts }] of others) {
        const counted = countedOf(caller)
        counted.exchanges += exchanges
        for (const [key, count] of counts) addCount(counted, key, count)
      }
    },
    counted: () => callers,
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
            addTo(known, count)
            known.callers++
          }
        }
      return sorted(all.values())
    },
  }
}

function addTo(known: Count, { exchanges, first, order }: Count): void {
  known.exchanges += exchanges
  if (order >= known.order) return
  known.order = order
  known.first = first
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Number of exchanges that break, or change silently. */
const weigh = ({ findings }: CallerTally): number =>
  findings.reduce((sum, { kind, exchanges }) => sum + (NEEDS_WORK.has(kind) ? exchanges : 0), 0)

const NEEDS_WORK: ReadonlySet<ReplayKind> = new Set(['unfit', 'breaks', 'silent'])

const sorted = <Found extends Count>(all: Iterable<Found>): Omit<Found, 'order'>[] =>
  [...all]
    .sort(
      (a, b) =>
        KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
        b.exchanges - a.exchanges ||
        compare(a.operation + a.field + a.detail, b.operation + b.field + b.detail),
    )
    .map(({ order: _, ...found }) => found)

/** Counts messages for the metrics. */
import { countDuration, createDurations, type DurationCounts } from '../../platform/durations.ts'
import type { Environment } from '../../platform/environment.ts'
import type { NetworkKind } from './message-routes.ts'

/** Messages of one kind in one environment. */
export interface MessageTally extends DurationCounts {
  readonly environment: Environment
  readonly kind: NetworkKind
  /** By decision or outcome, as in the answer. */
  readonly outcomes: Map<string, number>
}

/**
 * Why a message was answered with `unavailable`: by the exchange itself, because it was late, because it failed, or
 * because the process is overloaded.
 */
export type UnavailableReason = 'exchange' | 'deadline' | 'failed' | 'overload'

export interface NetworkTally {
  tallies(): Iterable<MessageTally>
  /** Answers with `unavailable`, by reason. */
  readonly unavailable: ReadonlyMap<string, number>
  /** Requests that were refused, by the code of the refusal. */
  readonly refused: ReadonlyMap<string, number>
  /** Messages that are being handled. */
  underWay(): number
}

export interface NetworkCounter extends NetworkTally {
  entered(): void
  answered(environment: Environment, kind: NetworkKind, outcome: string, ms: number): void
  countUnavailable(reason: UnavailableReason): void
  refuse(code: string): void
  left(): void
}

const add = (counts: Map<string, number>, name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1)

export function createNetworkCounter(): NetworkCounter {
  const tallies = new Map<string, MessageTally>()
  const unavailable = new Map<string, number>()
  const refused = new Map<string, number>()
  let underWay = 0
  const tallyOf = (environment: Environment, kind: NetworkKind): MessageTally => {
    const name = `${environment} ${kind}`
    const known = tallies.get(name)
    if (known) return known
    const tally: MessageTally = { environment, kind, outcomes: new Map(), ...createDurations() }
    tallies.set(name, tally)
    return tally
  }
  return {
    tallies: () => tallies.values(),
    unavailable,
    refused,
    underWay: () => underWay,
    entered() {
      underWay += 1
    },
    left() {
      underWay -= 1
    },
    refuse: (code) => add(refused, code),
    countUnavailable: (reason) => add(unavailable, reason),
    answered(environment, kind, outcome, ms) {
      const tally = tallyOf(environment, kind)
      add(tally.outcomes, outcome)
      countDuration(tally, ms)
    },
  }
}

/** Which faults happen: a probability for each kind, and a draw for each occasion. */
import type { Random } from '../../runtime/platform/random.ts'

/**
 * Probabilities in a storm. `death`, `deploy`, `stall` and `crash` are for each decision of the scheduler, `cut` is for each
 * statement, `skew` is for each start of a process, and the others are for each request.
 */
const STORM = {
  /** A request or a wake-up that does not arrive. */
  lost: 0.04,
  /** A request that takes effect, but whose answer does not arrive. */
  answerLost: 0.06,
  doubled: 0.04,
  /** An answer 5xx without an effect. */
  error: 0.04,
  slow: 0.05,
  /** A node of the chain that is some blocks behind. */
  lag: 0.05,
  /** The last blocks of the chain are replaced. */
  reorg: 0.08,
  /** A transaction that a node accepts and forgets. */
  dropped: 0.08,
  /** A process that is suspended for up to 90 s when the answer to a request under a lease arrives, so that the lease ends. */
  caught: 0.02,
  /** A connection to PostgreSQL that ends. */
  cut: 0.002,
  /** A process that ends without cleanup. */
  death: 0.0002,
  /** A process that is told to end, and another that takes its place. */
  deploy: 0.0001,
  /** A process that is suspended for up to 90 s, so that its leases end. */
  stall: 0.0004,
  /** A crash of PostgreSQL just after a commit. */
  crash: 0.0003,
  /** A process that starts with a clock that is wrong. */
  skew: 1,
}

/** Most that the clock of a process is ahead of the time, or behind it. */
export const SKEW_MS = 1000

/** Longest suspension of a process. */
export const STALL_MS = 90_000

export type FaultKind = keyof typeof STORM

export const FAULT_KINDS = Object.keys(STORM) as readonly FaultKind[]

export interface Weather {
  isStorm: boolean
  /** Whether faults of the kind happen at all. */
  includes(kind: FaultKind): boolean
  /** Draws whether a fault of the kind happens now. */
  strikes(kind: FaultKind): boolean
  /** Number of faults so far, with those left out. */
  readonly count: number
  /** Number of faults of a kind that happened. */
  countOf(kind: FaultKind): number
}

/** @param without numbers of the faults that are left out, from 0. Everything before the first of them stays the same. */
export function createWeather(
  random: Random,
  kinds: readonly FaultKind[],
  without: ReadonlySet<number>,
): Weather {
  let count = 0
  const counts = new Map<FaultKind, number>()
  const weather: Weather = {
    isStorm: false,
    includes: (kind) => kinds.includes(kind),
    strikes(kind) {
      if (!weather.isStorm || !kinds.includes(kind) || !random.chance(STORM[kind])) return false
      count += 1
      if (without.has(count - 1)) return false
      counts.set(kind, weather.countOf(kind) + 1)
      return true
    },
    countOf: (kind) => counts.get(kind) ?? 0,
    get count() {
      return count
    },
  }
  return weather
}

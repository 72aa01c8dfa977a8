/** A law holds for every value; the search looks for a counterexample. */
import fc from 'fast-check'
import type { SourceLocation } from '../diagnostics/place.ts'

export type ProofCode =
  | 'proof-throws'
  | 'proof-unsteady'
  | 'proof-mismatch'
  | 'proof-round-trip'
  | 'proof-differs'

export interface ProofFault {
  readonly code: ProofCode
  readonly message: string
  readonly place?: SourceLocation
}

export interface Law {
  /** For example `2030-06-01 convert Parcel.weight up`. */
  readonly name: string
  readonly values: fc.Arbitrary<unknown>
  /** Whether the law applies to a value. Values that do not fit their own document are skipped. */
  fits(value: unknown): boolean
  /** Id of the operation in the newer version, or name of the event, that the values belong to. */
  readonly use?: string
  /** The file of the change; absent for laws about several changes together. */
  readonly file?: string
  check(value: unknown): ProofFault | undefined
}

export interface Refutation extends ProofFault {
  readonly law: Law
  /** The smallest counterexample found. */
  readonly counterexample: unknown
}

export interface Search {
  readonly runs: number
  readonly seed: number
  /** Milliseconds; without a limit, all runs are performed. */
  readonly limit?: number
}

/** Returns the smallest counterexample found. */
export function refute(law: Law, { runs, seed, limit }: Search): Refutation | undefined {
  const property = fc.property(law.values, (value) => checkOf(law, value) === undefined)
  const until = limit === undefined ? {} : { interruptAfterTimeLimit: limit }
  const result = fc.check(property, { numRuns: runs, seed, ...until })
  if (!result.failed || !result.counterexample) return undefined
  const [counterexample] = result.counterexample
  const fault = checkOf(law, counterexample)
  return fault && { ...fault, law, counterexample }
}

function checkOf(law: Law, value: unknown): ProofFault | undefined {
  if (!law.fits(value)) return undefined
  try {
    return law.check(value)
  } catch (error) {
    return { code: 'proof-throws', message: `throws ${String(error)}` }
  }
}

const SAMPLES = 50

/** Returns whether the law applies to any generated value. */
export const isTried = (law: Law, seed: number): boolean =>
  fc.sample(law.values, { numRuns: SAMPLES, seed }).some((value) => law.fits(value))

/** Freezes a value deeply and returns it. */
export function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const each of Object.values(value)) freeze(each)
  }
  return value
}

const DAY = 86_400_000

/** Runs a function with a different date and random number, so that a result that depends on them differs. */
export function elsewhere<Result>(run: () => Result): Result {
  const { Date: RealDate } = globalThis
  const { random } = Math
  const now = RealDate.now() + 37 * DAY + 12_345
  class OtherDate extends RealDate {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [now] : given) as [number]))
    }
    static override now = () => now
  }
  globalThis.Date = OtherDate as DateConstructor
  Math.random = () => 0.123456789
  try {
    return run()
  } finally {
    globalThis.Date = RealDate
    Math.random = random
  }
}

/** One thing that must hold of every value, and the search for one that it does not hold of. */
import fc from 'fast-check'
import type { SourceLocation } from '../diagnostics/place.ts'

export type ProofCode = 'proof-throws' | 'proof-unsteady' | 'proof-mismatch' | 'proof-round-trip'

export interface ProofFault {
  readonly code: ProofCode
  readonly message: string
  readonly place?: SourceLocation
}

export interface Law {
  /** `2030-06-01 convert Parcel.weight up`. */
  readonly name: string
  readonly values: fc.Arbitrary<unknown>
  /** Whether a value is one that the law is about: what does not fit its own document proves nothing. */
  fits(value: unknown): boolean
  /** Id of the operation in the newer version, or name of the event, whose values it is about. */
  readonly use?: string
  /** The file of the change that it is about; absent for what several changes make together. */
  readonly file?: string
  check(value: unknown): ProofFault | undefined
}

export interface Refutation extends ProofFault {
  readonly law: Law
  /** As small as it gets. */
  readonly counterexample: unknown
}

export interface Search {
  readonly runs: number
  readonly seed: number
  /** In milliseconds; without one, every run is made. */
  readonly limit?: number
}

/** @returns the smallest value found that the law does not hold of. */
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

/** @returns whether any value could be made that the law is about. */
export const isTried = (law: Law, seed: number): boolean =>
  fc.sample(law.values, { numRuns: SAMPLES, seed }).some((value) => law.fits(value))

/** @returns the value, which nothing can change any more. */
export function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const each of Object.values(value)) freeze(each)
  }
  return value
}

const DAY = 86_400_000

/** Runs something on another day, and with other luck: what depends on either gives something else. */
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

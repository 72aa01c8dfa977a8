/** Two kinds of arbitraries that fast-check lacks. */
import fc, { type Random } from 'fast-check'

const TRIES = 8

class LazyArbitrary extends fc.Arbitrary<unknown> {
  readonly #make: () => fc.Arbitrary<unknown>
  #made: fc.Arbitrary<unknown> | undefined

  constructor(make: () => fc.Arbitrary<unknown>) {
    super()
    this.#make = make
  }

  get #inner(): fc.Arbitrary<unknown> {
    this.#made ??= this.#make()
    return this.#made
  }

  generate(random: Random, biasFactor: number | undefined): fc.Value<unknown> {
    return this.#inner.generate(random, biasFactor)
  }

  canShrinkWithoutContext(value: unknown): value is unknown {
    return this.#inner.canShrinkWithoutContext(value)
  }

  shrink(value: unknown, context: unknown): fc.Stream<fc.Value<unknown>> {
    return this.#inner.shrink(value, context)
  }
}

/** An arbitrary that is created when its first value is needed: most parts of a large schema are never used. */
export const lazy = (make: () => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => new LazyArbitrary(make)

class TryingArbitrary<Value> extends fc.Arbitrary<Value> {
  readonly #inner: fc.Arbitrary<Value>
  readonly #fits: (value: Value) => boolean

  constructor(inner: fc.Arbitrary<Value>, fits: (value: Value) => boolean) {
    super()
    this.#inner = inner
    this.#fits = fits
  }

  generate(random: Random, biasFactor: number | undefined): fc.Value<Value> {
    let made = this.#inner.generate(random, biasFactor)
    for (let tried = 1; tried < TRIES && !this.#fits(made.value_); tried++)
      made = this.#inner.generate(random, biasFactor)
    return made
  }

  canShrinkWithoutContext(value: unknown): value is Value {
    return this.#inner.canShrinkWithoutContext(value)
  }

  shrink(value: Value, context: unknown): fc.Stream<fc.Value<Value>> {
    return this.#inner.shrink(value, context).filter((each) => this.#fits(each.value_))
  }
}

/**
 * Tries a few values and returns the first that fits, or the last. Unlike `filter`, it ends even if no value fits.
 */
export const trying = <Value>(
  values: fc.Arbitrary<Value>,
  fits: (value: Value) => boolean,
): fc.Arbitrary<Value> => new TryingArbitrary(values, fits)

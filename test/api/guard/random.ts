/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number
  /** A whole number of 0 to `below - 1`. */
  below(below: number): number
  pick<T>(values: readonly T[]): T
  chance(probability: number): boolean
}

/** Mulberry32: 32 bits of state are enough for cases that are to be repeated. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    pick: (values) => {
      if (values.length === 0) throw new Error('there is nothing to pick from')
      return values[below(values.length)]!
    },
    chance: (probability) => next() < probability,
  }
}

/** Random choices that follow from a seed, so that a run can be repeated. */

export interface Random {
  /** Returns an integer from `least` to `most`. */
  between(least: number, most: number): number
  /** Returns true with the given probability, from 0 to 1. */
  chance(probability: number): boolean
  pick<T>(list: readonly [T, ...T[]]): T
}

/** Creates a generator: xmur3 of the seed, then mulberry32. Neither is fit for secrets. */
export function createRandom(seed: string): Random {
  let state = 1779033703 ^ seed.length
  for (const letter of seed) state = Math.imul(state ^ letter.charCodeAt(0), 3432918353)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    between,
    chance: (probability) => next() < probability,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
  }
}

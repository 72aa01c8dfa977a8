/** Matches members of two lists that have no names, using the most reliable criterion first. */

export interface Pairing<One> {
  readonly pairs: readonly (readonly [One, One])[]
  /** Members without a counterpart in the second list. */
  readonly alone: readonly One[]
  /** Members without a counterpart in the first list. */
  readonly left: readonly One[]
}

type Match<One> = (one: One, other: One) => boolean

/** @param ways criteria, the most reliable first; each is applied to all members before the next. */
export function pairUp<One>(
  old: readonly One[],
  next: readonly One[],
  ways: readonly Match<One>[],
): Pairing<One> {
  const left = [...next]
  const found = new Map<One, One>()
  for (const matches of ways) {
    for (const one of old) {
      if (found.has(one)) continue
      const index = left.findIndex((other) => matches(one, other))
      if (index >= 0) found.set(one, left.splice(index, 1)[0]!)
    }
  }
  return {
    pairs: old.flatMap((one) => (found.has(one) ? [[one, found.get(one)!] as const] : [])),
    alone: old.filter((one) => !found.has(one)),
    left,
  }
}

/** Edit distances between the sounds of two words. */
import { distance } from 'fastest-levenshtein'

/** Returns the number of letters by which two sounds may differ, given the length of the shorter one. */
export function maxDistance(length: number): 0 | 1 | 2 {
  if (length < 4) return 0
  return length < 8 ? 1 : 2
}

/**
 * Returns whether two sounds differ by at most `maxDistance` letters, or only by two adjacent letters that are swapped.
 */
export function withinDistance(one: string, other: string): boolean {
  const most = maxDistance(Math.min(one.length, other.length))
  if (Math.abs(one.length - other.length) > most) return false
  return distance(one, other) <= most || (most === 1 && areSwapped(one, other))
}

function areSwapped(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let at = 0
  while (one[at] === other[at]) at += 1
  return one[at] === other[at + 1] && one[at + 1] === other[at] && one.endsWith(other.slice(at + 2))
}

/** Pairs of letters that are easily confused, with the cost of replacing one with the other. */
const CLOSE = new Map(
  Object.entries({
    sz: 0.4,
    kh: 0.5,
    dt: 0.5,
    bp: 0.5,
    bf: 0.6,
    mn: 0.6,
    ai: 0.5,
    au: 0.5,
    iu: 0.7,
    di: 0.9,
  }).flatMap(([pair, cost]) => [[pair, cost] as const, [`${pair[1]}${pair[0]}`, cost] as const]),
)

const isVowel = (letter: string) => letter === 'a' || letter === 'i' || letter === 'u'

/** A final vowel distinguishes people, as in `Mario` and `Maria`, so replacing it costs the full 1. */
const replaceCost = (one: string, other: string, isLast: boolean) =>
  isLast && isVowel(one) && isVowel(other) ? 1 : (CLOSE.get(one + other) ?? 1)

const leaveOutCost = (letter: string, isLast: boolean) =>
  letter === 'h' ? 0.5 : isVowel(letter) && !isLast ? 0.5 : 1

/** Cost of swapping two adjacent letters. */
const SWAP = 0.6

const SIZE = 65
const rows = [0, 1, 2].map(() => new Float64Array(SIZE))

/**
 * Returns the similarity of two sounds, from 0 to 1, as optimal string alignment with the costs above. Call it only for
 * sounds that pass `withinDistance`.
 */
export function weigh(one: string, other: string): number {
  const longer = Math.max(one.length, other.length)
  if (longer >= SIZE) return 1 - distance(one, other) / longer
  let [before, last, now] = rows as [Float64Array, Float64Array, Float64Array]
  last[0] = 0
  for (let at = 1; at <= other.length; at += 1)
    last[at] = last[at - 1]! + leaveOutCost(other[at - 1]!, at === other.length)
  for (let row = 1; row <= one.length; row += 1) {
    const mine = one[row - 1]!
    const isLastRow = row === one.length
    now[0] = last[0]! + leaveOutCost(mine, isLastRow)
    for (let at = 1; at <= other.length; at += 1) {
      const theirs = other[at - 1]!
      const isLast = at === other.length
      const replaced = last[at - 1]! + (mine === theirs ? 0 : replaceCost(mine, theirs, isLastRow && isLast))
      const leftOut = Math.min(
        last[at]! + leaveOutCost(mine, isLastRow),
        now[at - 1]! + leaveOutCost(theirs, isLast),
      )
      const isSwapped = row > 1 && at > 1 && mine === other[at - 2] && one[row - 2] === theirs
      now[at] = Math.min(replaced, leftOut, isSwapped ? before[at - 2]! + SWAP : Number.POSITIVE_INFINITY)
    }
    ;[before, last, now] = [last, now, before]
  }
  return Math.max(0, 1 - last[other.length]! / longer)
}

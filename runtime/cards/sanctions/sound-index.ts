/**
 * Finds sounds that are similar to a given sound, without comparing all of them. Uses symmetric deletes (Garbe): two sounds
 * that are at most `maxDistance` letters apart become equal if up to that many letters are deleted from each. So each sound
 * is indexed under the strings that these deletions leave.
 */
import type { Steps } from '../../platform/fairness/pauses.ts'
import { maxDistance, withinDistance } from './word-distance.ts'

/** Cache size, in lookups. Names of people repeat. */
const MAX_CACHED = 20_000

/**
 * Builds the index. The returned function gives the numbers of the sounds that are at most `maxDistance` letters away.
 * @param steps lets other work run between sounds.
 */
export async function createSoundIndex(
  sounds: readonly string[],
  steps: Steps,
): Promise<(sound: string) => readonly number[]> {
  const { first, stored } = await storeRemains(sounds, steps)
  const cached = new Map<string, readonly number[]>()
  /** By number: the last lookup that saw the sound. */
  const seenAt = new Int32Array(sounds.length)
  let lookups = 0
  return (sound) => {
    const known = cached.get(sound)
    if (known) return known
    lookups = (lookups + 1) % 0x7fffffff
    const found: number[] = []
    for (const remains of remainsOf(sound)) {
      const bits = upperBits(remains)
      for (let at = first[bits]!; at < first[bits + 1]!; at += 1) {
        const place = stored[at]! - remains * PLACES
        if (place < 0 || place >= PLACES || seenAt[place] === lookups) continue
        seenAt[place] = lookups
        if (withinDistance(sound, sounds[place]!)) found.push(place)
      }
    }
    if (cached.size >= MAX_CACHED) cached.clear()
    cached.set(sound, found)
    return found
  }
}

/** More than any list has sounds. With a 32-bit hash, the product still fits exactly into a number. */
const PLACES = 2 ** 20

/** Hashes with equal upper bits are stored next to each other, so that a lookup scans only a few entries. */
const UPPER_BITS = 18

/**
 * Packs each hash together with the number of its sound into one number; strings in maps would take 50 times the memory.
 * `first` holds the position where each group of equal upper bits begins.
 */
async function storeRemains(sounds: readonly string[], steps: Steps) {
  const first = new Uint32Array(2 ** UPPER_BITS + 1)
  for (const sound of sounds) {
    if (steps.isOver()) await steps.next()
    for (const remains of remainsOf(sound)) first[upperBits(remains) + 1]! += 1
  }
  for (let bits = 1; bits < first.length; bits += 1) first[bits]! += first[bits - 1]!
  const stored = new Float64Array(first.at(-1)!)
  const free = first.slice()
  for (const [place, sound] of sounds.entries()) {
    if (steps.isOver()) await steps.next()
    for (const remains of remainsOf(sound)) {
      const bits = upperBits(remains)
      stored[free[bits]!] = remains * PLACES + place
      free[bits]! += 1
    }
  }
  return { first, stored }
}

const upperBits = (remains: number) => remains >>> (32 - UPPER_BITS)

/**
 * Only this many leading letters are indexed. If two words are within the maximum distance, their beginnings are too,
 * because letters at the end can be deleted as well.
 */
const BEGINNING = 8

/** Returns hashes of the sound's beginning with up to `maxDistance` letters deleted. */
function remainsOf(sound: string): number[] {
  const most = maxDistance(sound.length)
  const length = Math.min(sound.length, BEGINNING)
  const remains = [hashWithout(sound, length, -1, -1)]
  for (let one = 0; most > 0 && one < length; one += 1) {
    remains.push(hashWithout(sound, length, one, -1))
    for (let other = one + 1; most > 1 && other < length; other += 1) {
      remains.push(hashWithout(sound, length, one, other))
    }
  }
  return remains
}

/**
 * 32-bit FNV-1a hash of the text without the letters at two positions. Collisions are harmless, because `withinDistance`
 * checks each result.
 */
function hashWithout(text: string, length: number, one: number, other: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < length; at += 1) {
    if (at !== one && at !== other) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash >>> 0
}

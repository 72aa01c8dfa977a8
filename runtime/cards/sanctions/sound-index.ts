/**
 * Sounds that are like a given one, without comparing them all. Words whose sounds are at most `maxDistance` letters apart become
 * equal when so many letters are taken out of each (Garbe's symmetric deletes), so each sound stands under what remains of it.
 */
import type { Steps } from '../../platform/fairness/pauses.ts'
import { maxDistance, withinDistance } from './word-distance.ts'

/** Sounds that were looked up, and what is like them: names of people repeat. */
const REMEMBERED = 20_000

/** Gives the numbers of the sounds among these that are at most `maxDistance` letters away. */
export async function createSoundIndex(
  sounds: readonly string[],
  steps: Steps,
): Promise<(sound: string) => readonly number[]> {
  const { first, stored } = await storeRemains(sounds, steps)
  const remembered = new Map<string, readonly number[]>()
  /** By number: the lookup that saw the sound last. */
  const seenAt = new Int32Array(sounds.length)
  let lookups = 0
  return (sound) => {
    const known = remembered.get(sound)
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
    if (remembered.size >= REMEMBERED) remembered.clear()
    remembered.set(sound, found)
    return found
  }
}

/** More sounds than any list has; with 32 bits of remains they fit into a number exactly. */
const PLACES = 2 ** 20

/** Remains whose upper bits are the same stand together: few have to be passed among them. */
const UPPER_BITS = 18

/**
 * The remains of each sound and its place in one number, because strings in maps would take fifty times the memory; and where
 * those with the same upper bits begin.
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
 * So many of the first letters suffice: two words that so many letters keep apart are not further apart in their beginnings,
 * where what one has at its end and the other has not is taken out too.
 */
const BEGINNING = 8

/** Hashes of what remains of a sound's beginning when up to `maxDistance` letters are taken out of it. */
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

/** FNV-1a of 32 bits. Two that have the same by chance are told apart by their distance. */
function hashWithout(text: string, length: number, one: number, other: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < length; at += 1) {
    if (at !== one && at !== other) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash >>> 0
}

/**
 * Which listed names can be like a given one, without comparing them all: every word of the shorter of two such names has a
 * counterpart whose sound is at most `maxDistance` letters away. Words that far apart become equal when so many letters are
 * taken out of each (Garbe's symmetric deletes), so each listed sound stands under what remains of it.
 */
import type { Steps } from '../platform/fairness/pauses.ts'
import type { NameForm } from './names.ts'
import { isInitial } from './score.ts'
import type { Word } from './sounds.ts'
import { maxDistance, withinDistance } from './word-distance.ts'

/** A listed name, by its place in the list of all. */
export interface NameIndex {
  /** Places of the names that may be like it; of no other can `compareNames` say anything but 0. */
  candidates(name: NameForm): readonly number[]
}

/** Sounds that were looked up, and what is like them: names of people repeat. */
const REMEMBERED = 20_000

/** @param steps others are let in between names. */
export async function createNameIndex(names: readonly NameForm[], steps: Steps): Promise<NameIndex> {
  const bySound = await groupPlaces(names, steps, (word) => word.sounds)
  const byBones = await groupPlaces(names, steps, (word) => word.bones)
  const soundsLike = await createSoundIndex([...bySound.keys()], steps)
  const placesOf = (word: Word, isVowelless: boolean): readonly (readonly number[])[] =>
    isVowelless
      ? word.bones.map((bones) => byBones.get(bones) ?? [])
      : word.sounds.flatMap(soundsLike).map((sound) => bySound.get(sound)!)
  const initialsOf = (words: readonly Word[]) => words.filter(isInitial).length
  const initials = Uint8Array.from(names, ({ words }) => initialsOf(words))
  const found = new Uint8Array(names.length)
  const lastWord = new Int32Array(names.length).fill(-1)
  let wordsSoFar = 0

  return {
    candidates({ words, isVowelless }) {
      const touched: number[] = []
      for (const word of words) {
        if (isInitial(word)) continue
        wordsSoFar = (wordsSoFar + 1) % 0x7fffffff
        for (const places of placesOf(word, isVowelless)) {
          for (const place of places) {
            if (lastWord[place] === wordsSoFar) continue
            lastWord[place] = wordsSoFar
            if (found[place] === 0) touched.push(place)
            found[place]! += 1
          }
        }
      }
      const own = initialsOf(words)
      // An initial may be the counterpart of any word, its own or the other's.
      const candidates = touched.filter(
        (place) =>
          found[place]! >= Math.min(words.length, names[place]!.words.length) - own - initials[place]!,
      )
      for (const place of touched) found[place] = 0
      return candidates
    },
  }
}

async function groupPlaces(
  names: readonly NameForm[],
  steps: Steps,
  keysOf: (word: Word) => readonly string[],
): Promise<Map<string, number[]>> {
  const places = new Map<string, number[]>()
  for (const [place, { words }] of names.entries()) {
    if (steps.isOver()) await steps.next()
    for (const key of new Set(words.filter((word) => !isInitial(word)).flatMap(keysOf))) {
      const all = places.get(key)
      if (all) all.push(place)
      else places.set(key, [place])
    }
  }
  return places
}

/** Gives the sounds among these that are at most `maxDistance` letters away. */
async function createSoundIndex(
  sounds: readonly string[],
  steps: Steps,
): Promise<(sound: string) => readonly string[]> {
  const { first, stored } = await storeRemains(sounds, steps)
  const remembered = new Map<string, readonly string[]>()
  return (sound) => {
    const known = remembered.get(sound)
    if (known) return known
    const places = new Set<number>()
    for (const remains of remainsOf(sound)) {
      const bits = upperBits(remains)
      for (let at = first[bits]!; at < first[bits + 1]!; at += 1) {
        const place = stored[at]! - remains * PLACES
        if (place >= 0 && place < PLACES) places.add(place)
      }
    }
    const found = Array.from(places, (place) => sounds[place]!).filter((other) =>
      withinDistance(sound, other),
    )
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

/**
 * Which listed names can be like a given one, without comparing them all: every word of the shorter of two such names has a
 * counterpart in the other whose sound is like its own.
 */
import type { Steps } from '../../platform/fairness/pauses.ts'
import type { NameForm } from './names.ts'
import { isInitial } from './score.ts'
import { createSoundIndex } from './sound-index.ts'
import type { Word } from './sounds.ts'

/** A listed name, by its place in the list of all. */
export interface NameIndex {
  /** Places of the names that may be like it; of no other can `compareNames` say anything but 0. */
  candidates(name: NameForm): readonly number[]
}

/** Where sounds, or consonants, are in the names; each has a number. */
interface Occurrences {
  readonly texts: readonly string[]
  readonly numbers: ReadonlyMap<string, number>
  /** By number: the places of the names that have it. */
  readonly places: readonly (readonly number[])[]
  /** Those of them that one word may find: of a single word, or with initials. */
  readonly lonePlaces: readonly (readonly number[])[]
  /** By place: the numbers of all that is in the name. */
  readonly inName: readonly (readonly number[])[]
}

/** @param steps others are let in between names. */
export async function createNameIndex(names: readonly NameForm[], steps: Steps): Promise<NameIndex> {
  const sounds = await findOccurrences(names, steps, (word) => word.sounds)
  const bones = await findOccurrences(names, steps, (word) => word.bones)
  const soundsLike = await createSoundIndex(sounds.texts, steps)
  const initials = Uint8Array.from(names, ({ words }) => initialsOf(words))
  const found = new Uint8Array(names.length)
  /** By place and by number: the word that was looked up last and is like it. */
  const seenAt = new Int32Array(names.length).fill(-1)
  const [heard, read] = [sounds, bones].map(({ texts }) => new Int32Array(texts.length).fill(-1))
  let lookups = 0

  const countAll = (lists: readonly (readonly number[])[], numbers: readonly number[], touched: number[]) => {
    for (const number of numbers) {
      for (const place of lists[number]!) {
        if (seenAt[place] === lookups) continue
        seenAt[place] = lookups
        if (found[place] === 0) touched.push(place)
        found[place]! += 1
      }
    }
  }
  /** Counts a word for names that others have found, without looking through all that have it. */
  const countTouched = (
    { inName }: Occurrences,
    likeLast: Int32Array,
    numbers: readonly number[],
    touched: readonly number[],
  ) => {
    for (const number of numbers) likeLast[number] = lookups
    for (const place of touched) {
      if (!inName[place]!.some((number) => likeLast[number] === lookups)) continue
      seenAt[place] = lookups
      found[place]! += 1
    }
  }

  return {
    candidates({ words, isVowelless }) {
      const [occurrences, likeLast] = isVowelless ? [bones, read!] : [sounds, heard!]
      const numbersOf = (word: Word) =>
        isVowelless
          ? word.bones.flatMap((text) => bones.numbers.get(text) ?? [])
          : word.sounds.length === 1
            ? soundsLike(word.sounds[0]!)
            : [...new Set(word.sounds.flatMap(soundsLike))]
      const own = initialsOf(words)
      const full = words
        .filter((word) => !isInitial(word))
        .map((word) => {
          const numbers = numbersOf(word)
          return { numbers, size: numbers.reduce((sum, each) => sum + occurrences.places[each]!.length, 0) }
        })
        .toSorted((a, b) => a.size - b.size)
      const touched: number[] = []
      for (const [index, { numbers }] of full.entries()) {
        lookups = (lookups + 1) % 0x7fffffff
        // Names of two words and more need two: those that the commonest word alone has are never looked at.
        if (index > 0 && index === full.length - 1 && own === 0) {
          countTouched(occurrences, likeLast, numbers, touched)
          countAll(occurrences.lonePlaces, numbers, touched)
        } else countAll(occurrences.places, numbers, touched)
      }
      // An initial may be the counterpart of any word.
      const candidates = touched.filter(
        (place) =>
          found[place]! >= Math.min(words.length, names[place]!.words.length) - own - initials[place]!,
      )
      for (const place of touched) found[place] = 0
      return candidates
    },
  }
}

const initialsOf = (words: readonly Word[]) => words.filter(isInitial).length

async function findOccurrences(
  names: readonly NameForm[],
  steps: Steps,
  textsOf: (word: Word) => readonly string[],
): Promise<Occurrences> {
  const numbers = new Map<string, number>()
  const places: number[][] = []
  const lonePlaces: number[][] = []
  const inName: number[][] = []
  for (const [place, { words }] of names.entries()) {
    if (steps.isOver()) await steps.next()
    const isLone = words.length === 1 || words.some(isInitial)
    const all = new Set(words.filter((word) => !isInitial(word)).flatMap(textsOf))
    inName.push(
      Array.from(all, (text) => {
        const number = numbers.get(text) ?? numbers.size
        if (number === numbers.size) {
          numbers.set(text, number)
          places.push([])
          lonePlaces.push([])
        }
        places[number]!.push(place)
        if (isLone) lonePlaces[number]!.push(place)
        return number
      }),
    )
  }
  return { texts: [...numbers.keys()], numbers, places, lonePlaces, inName }
}

/**
 * Finds the listed names that may be similar to a given name, without comparing all of them. In two similar names, every
 * word of the shorter one has a counterpart in the other with a similar sound.
 */
import type { Steps } from '../../platform/fairness/pauses.ts'
import type { NameForm } from './names.ts'
import { isInitial } from './score.ts'
import { createSoundIndex } from './sound-index.ts'
import type { Word } from './sounds.ts'

/** An index of the listed names. A name is identified by its position in the list. */
export interface NameIndex {
  /** Returns the positions of the names that may be similar. `compareNames` returns 0 for all others. */
  candidates(name: NameForm): readonly number[]
}

/** Where sounds or consonant skeletons occur in the names. Each text has a number. */
interface Occurrences {
  readonly texts: readonly string[]
  readonly numbers: ReadonlyMap<string, number>
  /** By number: positions of the names that contain the text. */
  readonly places: readonly (readonly number[])[]
  /** The subset that one matching word is enough to find: names of a single word, or with initials. */
  readonly lonePlaces: readonly (readonly number[])[]
  /** By position: the numbers of all texts in the name. */
  readonly inName: readonly (readonly number[])[]
}

/**
 * Builds the index.
 * @param steps lets other work run between names.
 */
export async function createNameIndex(names: readonly NameForm[], steps: Steps): Promise<NameIndex> {
  const sounds = await findOccurrences(names, steps, (word) => word.sounds)
  const bones = await findOccurrences(names, steps, (word) => word.bones)
  const soundsLike = await createSoundIndex(sounds.texts, steps)
  const initials = Uint8Array.from(names, ({ words }) => initialsOf(words))
  const found = new Uint8Array(names.length)
  /**
   * The last lookup that counted a name (by position). `heard` and `read` hold the last lookup of each sound and each
   * skeleton (by number).
   */
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
  /** Counts a word only for names that other words have already found, instead of for all names that contain it. */
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
        // Names with two or more words need two matching words. So the most common word, which comes last, counts only for names
        // that an earlier word has found, and for names that one word is enough to find.
        if (index > 0 && index === full.length - 1 && own === 0) {
          countTouched(occurrences, likeLast, numbers, touched)
          countAll(occurrences.lonePlaces, numbers, touched)
        } else countAll(occurrences.places, numbers, touched)
      }
      // An initial can match any word.
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

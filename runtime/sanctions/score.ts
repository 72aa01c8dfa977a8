/** How alike two names are. */
import { distance } from 'fastest-levenshtein'
import type { NameForm, Word } from './names.ts'

/** Words of which one is the other's first letter. */
const INITIAL = 0.7

/** Spelt otherwise, of the same sound. */
const BY_SOUND = 0.97

/** Of the same consonants, where one has no vowels. */
const BY_BONES = 0.95

/** How many letters two sounds may differ by, of which the shorter is so long. */
export function maxDistance(length: number): 0 | 1 | 2 {
  if (length < 4) return 0
  return length < 8 ? 1 : 2
}

/** From 0, not the same word, to 1: Levenshtein's distance by the length of the longer, of spellings or of sounds. */
function compareWords(one: Word, other: Word, byBones: boolean): number {
  if (one.plain === other.plain) return 1
  if (byBones) return one.bones.length > 1 && one.bones === other.bones ? BY_BONES : 0
  if (one.plain.length === 1 || other.plain.length === 1) return one.plain[0] === other.plain[0] ? INITIAL : 0
  const apart = distance(one.sound, other.sound)
  if (apart > maxDistance(Math.min(one.sound.length, other.sound.length))) return 0
  const bySound = 1 - apart / Math.max(one.sound.length, other.sound.length)
  const plain = 1 - distance(one.plain, other.plain) / Math.max(one.plain.length, other.plain.length)
  return Math.max(BY_SOUND * bySound, plain)
}

interface Pair {
  readonly mine: number
  readonly theirs: number
  readonly likeness: number
}

/** Pairs each word with the one most like it, once. */
function pairWords(name: NameForm, listed: NameForm): Pair[] {
  const byBones = name.isVowelless && !listed.isVowelless
  const all = name.words.flatMap((word, mine) =>
    listed.words.map((other, theirs) => ({ mine, theirs, likeness: compareWords(word, other, byBones) })),
  )
  const mine = new Set<number>()
  const theirs = new Set<number>()
  return all
    .filter(({ likeness }) => likeness > 0)
    .toSorted((a, b) => b.likeness - a.likeness)
    .filter((pair) => {
      if (mine.has(pair.mine) || theirs.has(pair.theirs)) return false
      mine.add(pair.mine)
      theirs.add(pair.theirs)
      return true
    })
}

/** A second given name or a patronymic is often left out; more than that seldom. */
function penaltyFor(left: number, paired: readonly Word[]): number {
  if (left === 0) return 0
  // One word of several is next to nothing, unless it is a long one.
  if (paired.length === 1) return (paired[0]!.plain.length > 7 ? 0.08 : 0.15) * left
  return 0.03 + 0.05 * (left - 1)
}

/**
 * From 0 to 1. Every word of the shorter name needs its counterpart in the other, in any order; long words count more than
 * short ones, and what the longer name has beside them is held against it. Where the list says which words are the family's,
 * one of these has to be among them.
 */
export function compareNames(name: NameForm, listed: NameForm): number {
  const shorter = Math.min(name.words.length, listed.words.length)
  const left = Math.max(name.words.length, listed.words.length) - shorter
  const pairs = pairWords(name, listed)
  if (pairs.length < shorter) return 0
  if (left > 0 && listed.family > 0 && !pairs.some(({ theirs }) => theirs < listed.family)) return 0
  let letters = 0
  let alike = 0
  for (const { mine, theirs, likeness } of pairs) {
    const length = Math.max(name.words[mine]!.plain.length, listed.words[theirs]!.plain.length)
    letters += length
    alike += length * likeness
  }
  const paired = pairs.map(({ mine }) => name.words[mine]!)
  return Math.max(0, alike / letters - penaltyFor(left, paired))
}

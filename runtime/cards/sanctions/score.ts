/** Computes the similarity of two names. */
import { distance } from 'fastest-levenshtein'
import type { NameForm } from './names.ts'
import type { Word } from './sounds.ts'
import { weigh, withinDistance } from './word-distance.ts'

/** Factor for a different spelling with the same sound. */
const BY_SOUND = 0.97

/** Similarity of words with equal consonants, if one of them has no vowels. */
const BY_BONES = 0.95

/**
 * Returns the similarity of two words: from 0 (different words) to 1. Based on the edit distance of the spellings or sounds,
 * relative to the length of the longer word.
 */
function compareWords(one: Word, listed: Word, byBones: boolean, isSyllabic: boolean): number {
  if (one.plain === listed.plain) return 1
  if (byBones) return one.bones.some((bones) => bones !== '' && listed.bones.includes(bones)) ? BY_BONES : 0
  let bySound = 0
  for (const mine of one.sounds) {
    for (const theirs of listed.sounds) {
      if (mine === theirs) bySound = 1
      else if (bySound < 1 && withinDistance(mine, theirs)) bySound = Math.max(bySound, weigh(mine, theirs))
    }
  }
  if (bySound === 0) return 0
  const length = Math.max(one.plain.length, listed.plain.length)
  const plain = 1 - distance(one.plain, listed.plain) / length
  if (isSyllabic) return length > 6 && plain >= 1 - 1 / length ? plain : 0
  return Math.max(BY_SOUND * bySound, plain)
}

/** Returns whether a word is a single letter, which matches any word that begins with it. */
export const isInitial = ({ plain }: Word): boolean => plain.length === 1

const INITIAL = 0.1

function isInitialOf(one: Word, other: Word): boolean {
  return one.plain[0] === other.plain[0] || (one.sounds[0]?.[0] ?? '') === (other.sounds[0]?.[0] ?? ' ')
}

/**
 * The pairs of matching words. `likeness` holds the similarity of each pair of words; `partners` holds the position of each
 * word's partner, or -1.
 */
interface Pairing {
  readonly likeness: Float64Array
  readonly partners: Int8Array
  paired: number
  initials: number
}

const MAX = 8
const pairing: Pairing = {
  likeness: new Float64Array(MAX * MAX),
  partners: new Int8Array(MAX),
  paired: 0,
  initials: 0,
}

/**
 * Pairs each word with its most similar counterpart, best pairs first, so that full words come before initials. Writes the
 * result to `pairing`.
 */
function pairWords(name: NameForm, listed: NameForm): void {
  const { likeness, partners } = pairing
  const byBones = name.isVowelless && !listed.isVowelless
  const [mine, theirs] = [name.words.length, listed.words.length]
  for (let one = 0; one < mine; one += 1) {
    for (let other = 0; other < theirs; other += 1) {
      const [word, with_] = [name.words[one]!, listed.words[other]!]
      likeness[one * MAX + other] =
        isInitial(word) || isInitial(with_)
          ? isInitialOf(word, with_)
            ? INITIAL
            : 0
          : compareWords(word, with_, byBones, listed.isSyllabic)
    }
  }
  partners.fill(-1)
  pairing.paired = 0
  pairing.initials = 0
  let taken = 0
  for (;;) {
    let best = 0
    let at = -1
    for (let one = 0; one < mine; one += 1) {
      if (partners[one] !== -1) continue
      for (let other = 0; other < theirs; other += 1) {
        const value = likeness[one * MAX + other]!
        if (value > best && (taken & (1 << other)) === 0) {
          best = value
          at = one * MAX + other
        }
      }
    }
    if (at === -1) return
    partners[Math.floor(at / MAX)] = at % MAX
    taken |= 1 << (at % MAX)
    pairing.paired += 1
    if (best === INITIAL) pairing.initials += 1
  }
}

/** Returns the penalty for words that only one of the two names has. */
function penaltyFor(name: NameForm, listed: NameForm, taken: number, full: number, letters: number): number {
  const left = name.words.length - listed.words.length
  if (left === 0) return 0
  // One matching word among several is weak evidence, unless the word is long.
  if (full === 1 && pairing.initials === 0) return (letters > 7 ? 0.08 : 0.15) * Math.abs(left)
  // The given name has words that the listed name does not have.
  if (left > 0) return 0.03 + 0.05 * (left - 1)
  // Patronymics and second given or family names are often omitted; the first given or family name rarely is.
  const heads = listed.family > 0 && listed.family < listed.words.length ? [0, listed.family] : []
  const missing = heads.filter((head) => (taken & (1 << head)) === 0).length
  return (listed.family > 0 ? 0.02 + 0.01 * (-left - 1) : 0.03 + 0.05 * (-left - 1)) + 0.05 * missing
}

/**
 * Minimum number of matching letters if initials are involved. Initials match many names, so fewer letters are too little
 * evidence.
 */
const LETTERS_WITH_INITIALS = 5

/**
 * Returns the similarity of two names, from 0 to 1. Every word of the shorter name must match a word of the longer one, in
 * any order. Long words weigh more than short ones, and each unmatched word reduces the result. If the list marks the family
 * name, one of its words must match.
 */
export function compareNames(name: NameForm, listed: NameForm): number {
  pairWords(name, listed)
  const { partners, paired, initials, likeness } = pairing
  if (paired < Math.min(name.words.length, listed.words.length)) return 0
  let taken = 0
  let letters = 0
  let alike = 0
  let hasFamily = listed.family === 0 || name.words.length === listed.words.length
  for (let one = 0; one < name.words.length; one += 1) {
    const other = partners[one]!
    if (other === -1) continue
    taken |= 1 << other
    if (other < listed.family) hasFamily = true
    const value = likeness[one * MAX + other]!
    if (value === INITIAL) continue
    const length = Math.max(name.words[one]!.plain.length, listed.words[other]!.plain.length)
    letters += length
    alike += length * value
  }
  if (!hasFamily || letters === 0 || (initials > 0 && letters < LETTERS_WITH_INITIALS)) return 0
  const forInitials = initials === 0 ? 0 : 0.02 + 0.01 * initials
  return Math.max(
    0,
    alike / letters - forInitials - penaltyFor(name, listed, taken, paired - initials, letters),
  )
}

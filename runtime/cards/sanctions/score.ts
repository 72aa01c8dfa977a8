/** How alike two names are. */
import { distance } from 'fastest-levenshtein'
import type { NameForm } from './names.ts'
import type { Word } from './sounds.ts'
import { weigh, withinDistance } from './word-distance.ts'

/** Spelt otherwise, of the same sound. */
const BY_SOUND = 0.97

/** Of the same consonants, where one has no vowels. */
const BY_BONES = 0.95

/** From 0, not the same word, to 1: the distance of spellings or of sounds by the length of the longer. */
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

/** A single letter matches any word that begins with it. */
export const isInitial = ({ plain }: Word): boolean => plain.length === 1

const INITIAL = 0.1

function isInitialOf(one: Word, other: Word): boolean {
  return one.plain[0] === other.plain[0] || (one.sounds[0]?.[0] ?? '') === (other.sounds[0]?.[0] ?? ' ')
}

/** Words of the two that belong together, the most alike first: of each, its place in the other and how alike they are. */
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

/** Pairs each word with the one most like it, once. Full words come before initials. Writes into `pairing`. */
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

/** What words that only one of the two names has cost. */
function penaltyFor(name: NameForm, listed: NameForm, taken: number, full: number, letters: number): number {
  const left = name.words.length - listed.words.length
  if (left === 0) return 0
  // One word of several is next to nothing, unless it is a long one.
  if (full === 1 && pairing.initials === 0) return (letters > 7 ? 0.08 : 0.15) * Math.abs(left)
  // What a name has beside the listed one.
  if (left > 0) return 0.03 + 0.05 * (left - 1)
  // A patronymic, a second given or family name is often left out; the first of each seldom.
  const heads = listed.family > 0 && listed.family < listed.words.length ? [0, listed.family] : []
  const missing = heads.filter((head) => (taken & (1 << head)) === 0).length
  return (listed.family > 0 ? 0.02 + 0.01 * (-left - 1) : 0.03 + 0.05 * (-left - 1)) + 0.05 * missing
}

/** An initial may be anybody's; a few letters beside it say too little. */
const LETTERS_WITH_INITIALS = 5

/**
 * From 0 to 1. Every word of the shorter name needs its counterpart in the other, in any order; long words count more than
 * short ones, and what the longer name has beside them is held against it. Where the list says which words are the family's,
 * one of these has to be among them.
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

/** Brings names into the forms in which they are compared. */
import anyAscii from 'any-ascii'
import { readArabicWord } from './arabic.ts'
import { readChinese } from './chinese.ts'
import { readKorean } from './korean.ts'
import { LEGAL_FORMS, LEGAL_PHRASES, PARTICLES, TITLES } from './legal-forms.ts'
import { type Word, wordOf } from './sounds.ts'

export interface NameForm {
  readonly words: readonly Word[]
  /** Number of leading words that are the family name; 0 if unknown. */
  readonly family: number
  /** Written without vowels, in Arabic or Hebrew script. */
  readonly isVowelless: boolean
  /** Chinese or Korean. The words are so short that one letter makes a different name. */
  readonly isSyllabic: boolean
}

/** Everything that a name is compared by. */
export interface NameReading {
  readonly forms: readonly NameForm[]
  /** Names with a common key count as the same name. Keys are the letters without spaces, or the syllables. */
  readonly keys: readonly string[]
}

type EntryType = 'individual' | 'entity'

const HEBREW = /\p{Script=Hebrew}/u
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hangul}]/u

/** The Arabic article, which is written together with its noun. */
const ARTICLE = /(^|[\s-])ال(?=\p{L}{2})/gu

/** Matches `A.S.B.L.` and `O.V.` */
const DOTTED = /(?<![\p{L}\p{N}])(?:\p{L}\. ?){2,}(?:\p{L}(?![\p{L}\p{N}]))?/gu

/** Only a text that matches can contain dotted letters or a legal form of several words. */
const DOTS_OR_PHRASES = /\.|stock|liability|private|s en c|de c/i

/** Maximum number of words compared. The first words are enough to distinguish names. */
const MAX_WORDS = 8

const isParticle = ({ plain }: Word) => PARTICLES.has(plain)

/** Splits a text into all its words, in order. */
function splitWords(text: string): Word[] {
  return text
    .replaceAll(ARTICLE, '$1')
    .split(/[\s\-‐-―_/]+/u)
    .flatMap((part) => {
      const arabic = readArabicWord(part.replaceAll(/[^\p{L}\u200c]/gu, ''))
      if (arabic)
        return arabic.isParticle ? [] : [{ plain: anyAscii(arabic.letters), sounds: [], bones: arabic.bones }]
      const ascii = toAscii(part)
      return ascii.split(/[^a-z0-9]+/).flatMap((word) => (word === '' ? [] : [wordOf(word)]))
    })
}

/** Returns lower-case ASCII without apostrophes. Each Chinese or Korean character becomes a word. */
function toAscii(part: string): string {
  const visible = part.replaceAll(/\p{Cf}/gu, '')
  const spaced = anyAscii(visible.replaceAll(/[\p{Script=Han}\p{Script=Hangul}]/gu, '$& '))
  return spaced.toLowerCase().replaceAll(/['`’"]/g, '')
}

/** Removes words, unless fewer than two would be left. */
function without(words: readonly Word[], isLeftOut: (word: Word, index: number) => boolean): readonly Word[] {
  const left = words.filter((word, index) => !isLeftOut(word, index))
  return left.length > 1 ? left : words
}

/** Removes titles before and after the name. */
function withoutTitles(words: readonly Word[]): readonly Word[] {
  const isTitle = ({ plain }: Word) => TITLES.has(plain)
  const first = words.findIndex((word) => !isTitle(word))
  const last = words.findLastIndex((word) => !isTitle(word))
  return without(words, (_, index) => index < first || index > last)
}

/** Removes legal forms of a company, and the dots between their letters. */
function withoutLegalForms(text: string): Word[] {
  const joined = text
    .replaceAll(LEGAL_PHRASES, ' ')
    .replaceAll(DOTTED, (letters) => `${letters.replaceAll(/[. ]/g, '')} `)
  const all = splitWords(joined)
  const left = all.filter(({ plain }) => !LEGAL_FORMS.has(plain))
  return left.length > 0 ? left : all
}

interface SplitName {
  readonly family: readonly Word[]
  readonly given: readonly Word[]
}

function splitName(text: string, type: EntryType): SplitName {
  if (type === 'entity') return { family: [], given: withoutLegalForms(text) }
  const comma = text.indexOf(',')
  if (comma === -1) return { family: [], given: splitWords(text) }
  return { family: splitWords(text.slice(0, comma)), given: splitWords(text.slice(comma + 1)) }
}

/** Maximum length of a word that is often joined with its neighbor. */
const SHORT = 5

function formsOf({ family, given }: SplitName, isVowelless: boolean, isSyllabic: boolean): NameForm[] {
  const first =
    family.length === 0
      ? []
      : without([...family, ...given], isParticle).filter((word) => family.includes(word))
  const words = without([...family, ...given], isParticle).slice(0, MAX_WORDS)
  const whole = { words, family: first.length, isVowelless, isSyllabic }
  const merged = words.slice(1).flatMap((word, index): NameForm[] => {
    const before = words[index]!
    if (Math.min(before.plain.length, word.plain.length) > SHORT) return []
    const at = index + 1 < first.length ? first.length - 1 : first.length
    return [{ ...whole, words: words.toSpliced(index, 2, mergeWords(before, word)), family: at }]
  })
  return [whole, ...merged].filter((form) => form.words.length > 0)
}

/** Joins two words: `Jong Un` is also written `Jongun`, and `Abdul Rahman` is also written `Abdulrahman`. */
function mergeWords(one: Word, other: Word): Word {
  if (one.sounds.length > 0 && other.sounds.length > 0) return wordOf(one.plain + other.plain)
  const bones = one.bones.flatMap((first) =>
    other.bones.map((second) => (first + second).replaceAll(/(.)\1+/g, '$1')),
  )
  return { plain: one.plain + other.plain, sounds: [], bones }
}

/** Minimum length of a joined name; shorter ones could be confused with single words. */
const JOINED_LENGTH = 7

function joinedKeys(orders: readonly (readonly Word[])[]): string[] {
  return orders.flatMap((words) => {
    const sound = words
      .map(({ sounds }) => sounds[0] ?? '')
      .join('')
      .replaceAll(/(.)\1+/g, '$1')
    return sound.length < JOINED_LENGTH ? [] : [`joined ${sound}`]
  })
}

/** Returns the keys of a listed name, in every order in which it can be joined into one word. */
function keysOfListed({ family, given }: SplitName): string[] {
  if (family.length === 0) return joinedKeys([given, given.filter((word) => !isParticle(word))])
  const orders = [given, given.slice(0, 1)].flatMap((names) => [
    [...names, ...family],
    [...family, ...names],
  ])
  return joinedKeys([...orders, ...orders.map((words) => words.filter((word) => !isParticle(word)))])
}

const plainOf = (words: readonly Word[]) => words.map(({ plain }) => plain)

/** Returns the words with their apostrophes, which distinguish sounds in Wade-Giles. */
const withApostrophes = (text: string) =>
  text
    .replaceAll(/[ʻʼ‘’`´]/g, "'")
    .toLowerCase()
    .split('ü')
    .map(anyAscii)
    .join('ü')
    .split(/[^a-zü']+/)
    .filter((word) => /[a-z]/.test(word))
const HYPHENATED = /\p{L}['’]?-\p{L}/u

/** Reads a name from a list. */
export function readListed(text: string, type: EntryType): NameReading {
  const normal = text.normalize('NFKC')
  const split = splitName(normal, type)
  const name = type === 'entity' ? split : { family: split.family, given: withoutTitles(split.given) }
  const isPerson = type === 'individual' && name.family.length === 1
  const written = withApostrophes(normal)
  const chinese = isPerson ? readChinese(written, HYPHENATED.test(normal)) : undefined
  const korean = isPerson ? readKorean(plainOf([...name.family, ...name.given])) : undefined
  const keys = [
    ...keysOfListed(name),
    ...(chinese?.exact ? [`chinese ${chinese.exact}`] : []),
    ...(chinese ? [`merged ${chinese.merged}`] : []),
    ...(chinese?.isWadeGiles ? [`wade-giles ${chinese.merged}`] : []),
    ...(korean ? [`korean ${korean}`] : []),
  ]
  const isSyllabic = chinese !== undefined || korean !== undefined
  return { forms: formsOf(name, false, isSyllabic), keys: [...new Set(keys)] }
}

/** Reads a name to screen: as a person's name and, if that differs, as a company name. */
export function readSubject(text: string): NameReading {
  const normal = text.normalize('NFKC')
  const person = splitName(normal, 'individual')
  const words = [...person.family, ...person.given]
  const isVowelless = HEBREW.test(normal) || words.some(({ sounds }) => sounds.length === 0)
  const readings: SplitName[] = [person]
  if (words.some(({ plain }) => TITLES.has(plain))) readings.push({ family: [], given: withoutTitles(words) })
  if (words.some(({ plain }) => LEGAL_FORMS.has(plain)) || DOTS_OR_PHRASES.test(normal)) {
    readings.push({ family: [], given: withoutLegalForms(normal) })
  }
  const keys = readings.flatMap(({ family, given }) => joinedKeys([[...family, ...given]]))
  const isShort = words.length > 1 && words.length < 5 && !isVowelless
  return {
    forms: readings.flatMap((reading) => formsOf(reading, isVowelless, false)),
    keys: [...new Set([...keys, ...(isShort ? syllableKeys(normal, plainOf(words)) : [])])],
  }
}

/** Reads the name with the family name first and with the family name last. */
function syllableKeys(text: string, words: readonly string[]): string[] {
  const written = EAST_ASIAN.test(text) ? words : withApostrophes(text)
  const lastFirst = (all: readonly string[]) => [...all.slice(-1), ...all.slice(0, -1)]
  const isHyphenated = HYPHENATED.test(text)
  return [false, true].flatMap((isTurned) => {
    const chinese = readChinese(isTurned ? lastFirst(written) : written, isHyphenated)
    const korean = readKorean(isTurned ? lastFirst(words) : words)
    return [
      ...(chinese?.exact ? [`chinese ${chinese.exact}`] : []),
      ...(chinese ? [`${chinese.isWadeGiles ? 'merged' : 'wade-giles'} ${chinese.merged}`] : []),
      ...(korean ? [`korean ${korean}`] : []),
    ]
  })
}

/**
 * Returns a key that is equal for names with the same words in any order, ignoring case, accents and apostrophes. Used for
 * weak aliases and for names that `readListed` cannot read, so it must not depend on the code that reads other names.
 */
export function exactKeyOf(text: string): string {
  const letters = text.normalize('NFKD').replaceAll(/[\p{M}'’‘ʻʼ`]/gu, '')
  return `exact ${letters
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .toSorted()
    .join(' ')
    .trim()}`
}

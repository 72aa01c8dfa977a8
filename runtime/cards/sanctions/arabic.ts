/** Names in Arabic letters, which have no short vowels: they are compared by their consonants. */

/** Letters by the classes of `Word.bones`; what is absent is a vowel, or silent. */
const CLASSES: Readonly<Record<string, string>> = Object.fromEntries(
  ['bبپ', 'tتطثټ', 'sجشسصچژ', 'dدذضظزډ', 'hحهۀھ', 'kخقكکگغݢ', 'fفڤ', 'lل', 'mم', 'nنں', 'rرړ'].flatMap(
    ([common, ...letters]) => letters.map((letter) => [letter, common!]),
  ),
)

const ARABIC = /\p{Script=Arabic}/u

/** Small words before a name, as `bin`, `ibn` and `abu` are in Latin letters. */
const PARTICLES = new Set(['بن', 'ابن', 'بنت', 'أبو', 'ابو', 'أبي', 'ابي', 'ال', 'آل'])

export interface ArabicWord {
  readonly letters: string
  readonly bones: readonly string[]
  readonly isParticle: boolean
}

/** Undefined for a word in other letters. */
export function readArabicWord(letters: string): ArabicWord | undefined {
  if (!ARABIC.test(letters)) return undefined
  const bonesOf = (text: string) =>
    Array.from(text, (letter) => CLASSES[letter] ?? '')
      .join('')
      .replaceAll(/(.)\1+/g, '$1')
  // A `h` at the end is heard as a vowel; its sister `ة` as that or as `t`.
  const open = letters.replaceAll(/[هۀ](?=\u200c|$)/g, '')
  const bones = new Set([
    bonesOf(open),
    ...(letters.includes('ة') ? [bonesOf(open.replaceAll('ة', 'ت'))] : []),
  ])
  return { letters, bones: [...bones], isParticle: PARTICLES.has(letters) }
}

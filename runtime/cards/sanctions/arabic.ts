/** Names in Arabic script. Short vowels are not written, so names are compared by their consonants. */

/** Letters by the consonant classes of `Word.bones`. A letter that is not listed is a vowel or silent. */
const CLASSES: Readonly<Record<string, string>> = Object.fromEntries(
  ['bبپ', 'tتطثټ', 'sجشسصچژ', 'dدذضظزډ', 'hحهۀھ', 'kخقكکگغݢ', 'fفڤ', 'lل', 'mم', 'nنں', 'rرړ'].flatMap(
    ([common, ...letters]) => letters.map((letter) => [letter, common!]),
  ),
)

const ARABIC = /\p{Script=Arabic}/u

/** Particles before a name, such as `bin`, `ibn` and `abu` in Latin script. */
const PARTICLES = new Set(['بن', 'ابن', 'بنت', 'أبو', 'ابو', 'أبي', 'ابي', 'ال', 'آل'])

export interface ArabicWord {
  readonly letters: string
  readonly bones: readonly string[]
  readonly isParticle: boolean
}

/** Returns undefined for a word in a different script. */
export function readArabicWord(letters: string): ArabicWord | undefined {
  if (!ARABIC.test(letters)) return undefined
  const bonesOf = (text: string) =>
    Array.from(text, (letter) => CLASSES[letter] ?? '')
      .join('')
      .replaceAll(/(.)\1+/g, '$1')
  // A final `ه` sounds like a vowel. A final `ة` sounds like a vowel or like `t`.
  const open = letters.replaceAll(/[هۀ](?=\u200c|$)/g, '')
  const bones = new Set([
    bonesOf(open),
    ...(letters.includes('ة') ? [bonesOf(open.replaceAll('ة', 'ت'))] : []),
  ])
  return { letters, bones: [...bones], isParticle: PARTICLES.has(letters) }
}

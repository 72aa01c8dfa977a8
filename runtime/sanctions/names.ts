/** Names as they are compared: words in ASCII, and what is left of each when spellings of one sound are made one. */
import anyAscii from 'any-ascii'

export interface Word {
  /** Letters and digits of ASCII, in lower case. */
  readonly plain: string
  /** The same for most spellings of a name: `kh`, `q` and `k` are one, so are `ou`, `oo` and `u`, `ei` and `i`. */
  readonly sound: string
  /** The consonants of `sound`: all that scripts without vowels write. */
  readonly bones: string
}

export interface NameForm {
  readonly words: readonly Word[]
  /** How many of the first words are the family's; 0 where that is not known. */
  readonly family: number
  /** Written without vowels, in Arabic or Hebrew script. */
  readonly isVowelless: boolean
}

/** Small words that one spelling has and the next has not. */
const PARTICLES = new Set(
  'al el ul ud ad as at az bin ibn ben bint abu de la le du van von der den del di da dos mr mrs dr the of and'.split(
    ' ',
  ),
)

/** Legal forms, and what stands for them in other languages. */
const LEGAL_FORMS = new Set(
  `llc ltd limited inc incorporated corp corporation co company plc gmbh ag kg sa sarl sas spa srl bv nv oy ab as ooo oao zao pao
   ao jsc ojsc cjsc pjsc fze fzco fzc dmcc pte pty sdn bhd group holding holdings est establishment`.split(
    /\s+/,
  ),
)

const VOWELLESS = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

/** The article that Arabic writes together with its noun. */
const ARTICLE = /(^|[\s-])ال(?=\p{L}{2})/gu

const SOUNDS: readonly (readonly [RegExp, string])[] = [
  // Those with more spellings than any rule covers.
  [/^m[aeou]+h[aeu]m+[aeiu]+[dt]$/, 'mahamad'],
  [/^ah?m[ae]+[dt]$/, 'ahmad'],
  [/^[ijy]o?u?s+[eou]+f$/, 'iusuf'],
  // `Abd al-`, written together: `Abdulrahman`, `Abdurrahman`.
  [/^abd(?:[aeou]?l|[aeou]([rnszt])(?=\1))(?=[a-z]{3})/, 'abd'],
  [/^al(?=[^aeiouy][a-z]{3})/, ''],
  [/dzh|zh|dj/g, 'j'],
  [/shch|tsch|sch|tch|sh|sz|cz|ch/g, 's'],
  [/kh|gh|ck|q/g, 'k'],
  [/ph|w|v/g, 'f'],
  [/([dbt])h/g, '$1'],
  [/t[sz]/g, 'z'],
  [/x/g, 'ks'],
  [/c(?=[eiy])/g, 's'],
  [/c/g, 'k'],
  [/oe|ou|oo|ue|o/g, 'u'],
  [/ae|[ae][iy]|i[ey]|ee|e|y|j/g, 'i'],
  [/(?<=[aiu])h$/, ''],
  [/(.)\1+/g, '$1'],
]

function wordOf(plain: string): Word {
  const sound = SOUNDS.reduce((text, [spelling, common]) => text.replace(spelling, common), plain)
  return { plain, sound, bones: sound.replaceAll(/[aiu]/g, '').replaceAll(/(.)\1+/g, '$1') }
}

/** The first words of a name are enough to tell it apart. */
const MAX_WORDS = 8

/** Words of a name in its order, without particles and, of companies, legal forms. */
function readWords(text: string, type: 'individual' | 'entity'): Word[] {
  const ascii = anyAscii(
    text
      .normalize('NFKC')
      .replaceAll(/\p{Cf}/gu, '')
      .replaceAll(ARTICLE, '$1'),
  )
  const all = ascii
    .toLowerCase()
    .replaceAll(/['`’"]/g, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const left = all.filter((word) => !PARTICLES.has(word) && !(type === 'entity' && LEGAL_FORMS.has(word)))
  return (left.length > 0 ? left : all).slice(0, MAX_WORDS).map(wordOf)
}

/** Longer words are seldom written as one. */
const SHORT = 5

/**
 * The forms of a name that are compared: as it is, and with each short word written as one with the word beside it, because
 * `Jong Un` is `Jongun` elsewhere, and `Abdul Rahman` `Abdulrahman`.
 *
 * @param text `FAMILY, Given` tells which words are the family's.
 */
export function formsOf(text: string, type: 'individual' | 'entity'): NameForm[] {
  const isVowelless = VOWELLESS.test(text)
  const comma = type === 'individual' ? text.indexOf(',') : -1
  const first = comma === -1 ? [] : readWords(text.slice(0, comma), type)
  const words = comma === -1 ? readWords(text, type) : [...first, ...readWords(text.slice(comma + 1), type)]
  const whole = { words, family: first.length, isVowelless }
  const merged = words.slice(1).flatMap((word, index): NameForm[] => {
    const before = words[index]!
    if (Math.min(before.plain.length, word.plain.length) > SHORT) return []
    const one = wordOf(before.plain + word.plain)
    const family = index + 1 < first.length ? first.length - 1 : first.length
    return [{ words: words.toSpliced(index, 2, one), family, isVowelless }]
  })
  return [whole, ...merged].filter((form) => form.words.length > 0)
}

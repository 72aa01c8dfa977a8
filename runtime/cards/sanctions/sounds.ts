/** Words of names as they are compared: what is left of each when the spellings of one sound are made one. */

export interface Word {
  /** Letters and digits of ASCII, in lower case. */
  readonly plain: string
  /**
   * The word as it sounds, read as English first and then as the other languages it may be written in: `Prigozhin`,
   * `Prigojine` (French) and `Prigoschin` (German) have `prikusin` in common.
   */
  readonly sounds: readonly string[]
  /** Its consonants, which are all that Arabic and Hebrew write; two where a letter may be read in two ways. */
  readonly bones: readonly string[]
}

type Rules = readonly (readonly [RegExp, string])[]

const rewrite = (text: string, rules: Rules) =>
  rules.reduce((left, [spelling, common]) => left.replace(spelling, common), text)

/** Given names with more spellings than any rule covers. */
const GIVEN_NAMES: Rules = [
  [/^m[aeou]+h[aeu]m+[aeiu]+[dt]$/, 'mahamad'],
  [/^ah?m[ae]+[dt]$/, 'ahmad'],
  [/^[ijy]o?u?s+[eou]+[fp]h?$/, 'iusuf'],
  [/^(?:[aeo]l[ey]|al[iy]a)(?:ks|x)[aei]nd[eo]?re?$/, 'aliksandr'],
  [/^(?:[vw]olod[iy]m[iy]r|uladzimir)$/, 'vladimir'],
  [/^(?:s[ei]r(?:g|h|gu|gh)[eiy]+j?|siarhe[iy])$/, 'sirki'],
  [/^m[iy](?:kh|ch|h)a[iy]lo?$/, 'mikail'],
  [/^d[iz]?m[iy]tr[iyo]+j?$/, 'dmitri'],
]

/** What every language has in common. `ch` and `j` are English here. */
const COMMON: Rules = [
  // `Abd al-`, written together: `Abdulrahman`, `Abdurrahman`.
  [/^abd(?:[aeou]?l|[aeou]([rnszt])(?=\1))(?=[a-z]{3})/, 'abd'],
  [/^abd[aeou]l$/, 'abd'],
  [/^al(?=[^aeiouy][a-z]{3})/, ''],
  [/schtsch|shch|chtch|dsch|tsch|sch|tch|dzh|zh|dj|sh|sz|cz|ch/g, 's'],
  [/j(?=[aeiouy])/g, 's'],
  [/a[uw](?=[^aeiouy]|$)/g, 'u'],
  [/kh|gh|ck|q|g/g, 'k'],
  [/ph|w|v/g, 'f'],
  [/([dbt])h/g, '$1'],
  [/t[sz]/g, 'z'],
  [/x/g, 'ks'],
  [/c(?=[eiy])/g, 's'],
  [/c/g, 'k'],
  [/i(?:y[ae]h?|[ae]h)$/, 'ia'],
  [/oe|ou|oo|ue|o/g, 'u'],
  [/ae|[ae][iy]|i[ey]|ee|e|y|j/g, 'i'],
  [/(?<=[aiu])h$/, ''],
  [/(.)\1+/g, '$1'],
]

/** Other ways to read a word, each with what makes it worth trying. */
const READINGS: readonly (readonly [when: RegExp, rules: Rules])[] = [
  // French: `Guerassimov`, `Prigojine`.
  [
    /gu[eiy]|j|[^aeiouy]e$/,
    [
      [/gu(?=[eiy])/g, 'g'],
      [/j/g, 'zh'],
      [/(?<=[a-z]{3}[^aeiouy])e$/, ''],
    ],
  ],
  // German and the languages beside it: `Jakunin`, `Michail`, `Marija`; Polish too: `Jaroslaw`.
  [
    /j|(?<![st])ch|aw(?![aeiouy])/,
    [
      [/w/g, 'v'],
      [/schtsch|dsch|tsch|sch/g, 'sh'],
      [/ch/g, 'kh'],
      [/j/g, 'y'],
    ],
  ],
  // Latin letters of Serbs and Croats without their accents: `Karadzic`, `Djuric`.
  [
    /c(?![hk])|dz|dj/,
    [
      [/dzh?|c(?![hk])/g, 'sh'],
      [/dj/g, 'd'],
    ],
  ],
  // Egyptian: `Gamal` for `Jamal`.
  [/j[aeiouy]/, [[/j(?=[aeiouy])/g, 'g']]],
  // Russian: `Husnullin` for `Khusnullin`, `Aksenov` for `Aksyonov`.
  [
    /kh|[^aeiou][iy]o/,
    [
      [/kh/g, 'h'],
      [/(?<=[^aeiou])[iy]o/g, 'e'],
    ],
  ],
  // Countries in the Russian genitive: `Rossii` for `Rossiya`.
  [/^(?:ros+|sir|turts|gruz|armen|abkhaz)ii$/, [[/ii$/, 'iya']]],
  // Arabic: `Zaouahiri` for `Zawahiri`.
  [/[aeiou]w[aeiou]/, [[/(?<=[aeiou])w(?=[aeiou])/g, 'u']]],
  // Particles written together with what follows: `Binladin`, `Vanderberg`.
  [/^(?:vander|vanden|dela|bin|abu|abou|el)[a-z]{4}/, [[/^(?:vander|vanden|dela|bin|abu|abou|el)/, '']]],
]

function soundsOf(plain: string): readonly string[] {
  const name = rewrite(plain, GIVEN_NAMES)
  const sounds = new Set([rewrite(name, COMMON)])
  if (name === plain) {
    for (const [when, rules] of READINGS)
      if (when.test(plain)) sounds.add(rewrite(rewrite(plain, rules), COMMON))
  }
  return [...sounds].filter((sound) => sound !== '')
}

/** Consonants in classes that hold what Arabic letters are written as: `dh`, `d` and `z` are one, so are `sh`, `j` and `s`. */
const BONES: Rules = [
  [/^abd[aeou]l$/, 'abd'],
  [/^abd(?:[aeou]?l|[aeou]([rnszt])(?=\1))(?=[a-z]{3})/, 'abd'],
  [/^al(?=[^aeiouy][a-z]{3})/, ''],
  [/ph/g, 'f'],
  [/dzh|zh|dsch|tsch|sch|tch|dj|sh|ch|j/g, 's'],
  [/kh|gh|ck|[qgc]/g, 'k'],
  [/x/g, 'ks'],
  [/([dt])h/g, '$1'],
  [/z/g, 'd'],
  [/p/g, 'b'],
  [/(?<=[aeiou])h$/, ''],
  [/[aeiouvwy]/g, ''],
  [/(.)\1+/g, '$1'],
]

/** Words that were read: names of people repeat, and reading one takes some thirty expressions. */
const remembered = new Map<string, Word>()
const REMEMBERED = 50_000

/** A word in Latin letters. @param plain lower case ASCII. */
export function wordOf(plain: string): Word {
  const known = remembered.get(plain)
  if (known) return known
  const sounds = soundsOf(plain)
  // A `h` at the end is `ه` or `ة`, which are heard as a vowel, or `ح`.
  const bones = [rewrite(plain, BONES), ...(/[aeiou]h$/.test(plain) ? [`${rewrite(plain, BONES)}h`] : [])]
  const word = { plain, sounds: sounds.length > 0 ? sounds : [plain], bones }
  if (remembered.size >= REMEMBERED) remembered.clear()
  remembered.set(plain, word)
  return word
}

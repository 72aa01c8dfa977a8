/** Converts the words of names into the sounds by which they are compared. Different spellings of one sound become equal. */

export interface Word {
  /** ASCII letters and digits, in lower case. */
  readonly plain: string
  /**
   * How the word sounds: first read as English, then as the other languages that the spelling suggests. `Prigozhin`,
   * `Prigojine` (French) and `Prigoschin` (German) share the sound `prikusin`.
   */
  readonly sounds: readonly string[]
  /**
   * The consonant skeleton, which is all that Arabic and Hebrew script write. Two entries if a letter can be read in two
   * ways.
   */
  readonly bones: readonly string[]
}

type Rules = readonly (readonly [RegExp, string])[]

const rewrite = (text: string, rules: Rules) =>
  rules.reduce((left, [spelling, common]) => left.replace(spelling, common), text)

/** Given names with more spellings than the general rules cover. */
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

/** Rules for all languages, with `ch` and `j` read as in English. */
const COMMON: Rules = [
  // `Abd al-` joined with the next word: `Abdulrahman`, `Abdurrahman`.
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

/** Additional readings, each with the pattern that makes it worth trying. */
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
  // German and similar orthographies: `Jakunin`, `Michail`, `Marija`; also Polish: `Jaroslaw`.
  [
    /j|(?<![st])ch|aw(?![aeiouy])/,
    [
      [/w/g, 'v'],
      [/schtsch|dsch|tsch|sch/g, 'sh'],
      [/ch/g, 'kh'],
      [/j/g, 'y'],
    ],
  ],
  // Serbian and Croatian without accents: `Karadzic`, `Djuric`.
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
  // Russian country names in the genitive case: `Rossii` for `Rossiya`.
  [/^(?:ros+|sir|turts|gruz|armen|abkhaz)ii$/, [[/ii$/, 'iya']]],
  // Arabic: `Zaouahiri` for `Zawahiri`.
  [/[aeiou]w[aeiou]/, [[/(?<=[aeiou])w(?=[aeiou])/g, 'u']]],
  // Particles joined with the next word: `Binladin`, `Vanderberg`.
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

/**
 * Consonant classes that match how Arabic letters are transliterated: `dh`, `d` and `z` form one class, and so do `sh`, `j`
 * and `s`.
 */
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

/** A cache of words: names of people repeat, and reading one word takes about 30 regular expressions. */
const cached = new Map<string, Word>()
const MAX_CACHED = 50_000

/**
 * Reads a word in Latin script.
 * @param plain lower-case ASCII.
 */
export function wordOf(plain: string): Word {
  const known = cached.get(plain)
  if (known) return known
  const sounds = soundsOf(plain)
  // A final `h` is either `ه` or `ة`, which sound like a vowel, or the consonant `ح`.
  const bones = [rewrite(plain, BONES), ...(/[aeiou]h$/.test(plain) ? [`${rewrite(plain, BONES)}h`] : [])]
  const word = { plain, sounds: sounds.length > 0 ? sounds : [plain], bones }
  if (cached.size >= MAX_CACHED) cached.clear()
  cached.set(plain, word)
  return word
}

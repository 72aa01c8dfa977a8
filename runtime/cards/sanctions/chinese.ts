/** Reads Chinese names: splits them into Pinyin syllables and converts Wade-Giles spellings to Pinyin. */

/**
 * Finals that can follow each initial (ISO 7098). Syllables without an initial are written with `y`, `w`, or as they are.
 */
const FINALS_OF: Readonly<Record<string, string>> = {
  '': 'a ai an ang ao e ei en eng er o ou',
  b: 'a ai an ang ao ei en eng i ian iao ie in ing o u',
  p: 'a ai an ang ao ei en eng i ian iao ie in ing o ou u',
  m: 'a ai an ang ao e ei en eng i ian iao ie in ing iu o ou u',
  f: 'a an ang ei en eng o ou u',
  'd t n l': 'a ai an ang ao e ei en eng i ia ian iang iao ie in ing iu o ong ou u uan ue ui un uo',
  'g k h': 'a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo',
  'j q x': 'i ia ian iang iao ie in ing iong iu u uan ue un',
  'zh ch sh r z c s': 'a ai an ang ao e ei en eng i ong ou u ua uai uan uang ui un uo',
  y: 'a an ang ao e i in ing o ong ou u uan ue un',
  w: 'a ai an ang ei en eng o u',
}
const SYLLABLES = new Set(
  Object.entries(FINALS_OF).flatMap(([initials, finals]) =>
    initials.split(' ').flatMap((initial) => finals.split(' ').map((final) => initial + final)),
  ),
)

/** Chinese family names. A known family name, usually one syllable, identifies a name as Chinese. */
const FAMILIES = new Set(
  `an bai bi bian cai cao cen chai chang chen cheng chi chu cui dai deng ding dong dou du duan fan fang fei feng fu gan gao ge geng
   gong gu guan guo han hao he hong hou hu hua huang huo ji jia jian jiang jiao jin jing ju kang ke kong kuang lai lan lang lei li
   lian liang liao lin ling liu long lou lu luo ma mao mei meng mi miao min mo mu ni nie niu ou pan pang pei peng pi ping pu qi
   qian qiang qiao qin qiu qu quan ran rao ren rong ruan sha shan shang shao shen sheng shi shu si song su sun tan tang tao teng
   tian tong tu wan wang wei wen weng wu xi xia xian xiang xiao xie xin xing xiong xu xue yan yang yao ye yi yin ying yong you yu
   yuan yue yun zang zeng zha zhai zhan zhang zhao zhen zheng zhong zhou zhu zhuang zhuo zong zou zu zuo ouyang sima zhuge shangguan`.split(
    /\s+/,
  ),
)

/** The longest syllable has 6 letters. One word contains at most 3 syllables. */
const MAX_SYLLABLE = 6
const MAX_SYLLABLES = 3

/** Splits a word into syllables, trying the longest prefix first. Returns undefined if that is not possible. */
function cut(
  word: string,
  isSyllable: (text: string) => boolean,
  most = MAX_SYLLABLES,
): string[] | undefined {
  if (word === '') return []
  if (most === 0) return undefined
  for (let length = Math.min(MAX_SYLLABLE, word.length); length > 0; length -= 1) {
    const first = word.slice(0, length)
    if (!isSyllable(first)) continue
    const rest = cut(word.slice(length), isSyllable, most - 1)
    if (rest) return [first, ...rest]
  }
  return undefined
}

/** Treats `ü` as `u`: `Lü` is also written `Lv` (on keyboards without `ü`) or `Lu`. */
const withoutUmlaut = (syllable: string) => syllable.replace('ü', 'u').replace(/(?<=^[nl])v/, 'u')
const isPinyin = (text: string) => SYLLABLES.has(withoutUmlaut(text))

const WADE_GILES = /^(ch'?|hs|sh|ts'?|tz'?|ss|sz|p'?|t'?|k'?|[mfnlhjsyw])?([aeiouü][\wü]*)$/
const WADE_GILES_INITIALS: Readonly<Record<string, string>> = {
  p: 'b',
  "p'": 'p',
  t: 'd',
  "t'": 't',
  k: 'g',
  "k'": 'k',
  hs: 'x',
  j: 'r',
  ts: 'z',
  tz: 'z',
  "ts'": 'c',
  "tz'": 'c',
  ss: 's',
  sz: 's',
}
const WADE_GILES_FINALS: readonly (readonly [RegExp, string])[] = [
  [/^ung$/, 'ong'],
  [/^iung$/, 'iong'],
  [/^ien$/, 'ian'],
  [/^ieh$/, 'ie'],
  [/^üeh$/, 'üe'],
  [/^u?eh$/, 'ue'],
  [/^uei$/, 'ui'],
  [/^ih$/, 'i'],
  [/^erh$/, 'er'],
]

/** Converts a Wade-Giles syllable to Pinyin. Returns undefined if the text is not such a syllable. */
function toPinyin(syllable: string): string | undefined {
  const [, initial = '', final = ''] = WADE_GILES.exec(syllable) ?? []
  if (final === '') return undefined
  const rest = WADE_GILES_FINALS.reduce((text, [spelling, pinyin]) => text.replace(spelling, pinyin), final)
  const one = pinyinOf(initial, rest)
  return isPinyin(one) ? one : undefined
}

function pinyinOf(initial: string, final: string): string {
  if (final.startsWith('ü')) {
    const front = /^ch'?$/.test(initial)
      ? initial === 'ch'
        ? 'j'
        : 'q'
      : (WADE_GILES_INITIALS[initial] ?? initial)
    return `${front}u${final.slice(1)}`
  }
  if (/^t[sz]'?$|^s[sz]$/.test(initial) && final === 'u') return `${WADE_GILES_INITIALS[initial]}i`
  if (initial === '') return final === 'i' ? 'yi' : final
  if (initial === 'y')
    return final === 'u' ? 'you' : final === 'ue' ? 'ye' : final === 'en' ? 'yan' : `y${final}`
  if (/^ch'?$/.test(initial)) {
    const isAspirated = initial.endsWith("'")
    // `chi` is Pinyin `ji`. `chih` (Pinyin `zhi`) is converted to `ji` too, because `merge` makes the two equal anyway.
    if (/^i(?!$)|^i$/.test(final)) return `${isAspirated ? 'q' : 'j'}${final}`
    return `${isAspirated ? 'ch' : 'zh'}${final === 'o' ? 'uo' : final}`
  }
  if (final === 'o' && /^k'?$|^h$/.test(initial)) return `${WADE_GILES_INITIALS[initial] ?? initial}e`
  if (final === 'o' && /^(?:t'?|ts'?|l|n|j|s)$/.test(initial))
    return `${WADE_GILES_INITIALS[initial] ?? initial}uo`
  if (final === 'e' && initial === 'ts') return 'ze'
  return `${WADE_GILES_INITIALS[initial] ?? initial}${final}`
}

/** Merges sounds that Wade-Giles distinguishes only by apostrophes, because writers often omit the apostrophes. */
const merge = (syllable: string) =>
  syllable
    .replace(/^(?:zh|ch|j|q)/, 'c')
    .replace(/^p/, 'b')
    .replace(/^t/, 'd')
    .replace(/^k/, 'g')
    .replace(/^z/, 'c')

export interface ChineseName {
  /** Pinyin syllables; undefined if the name is not valid Pinyin. */
  readonly exact: string | undefined
  /** The syllables with the sounds merged that only an apostrophe distinguishes. */
  readonly merged: string
  /** Whether the name is certainly written in Wade-Giles. */
  readonly isWadeGiles: boolean
}

/**
 * Reads a Chinese name. Returns undefined for any other name.
 * @param words the words of the name, family name first, in lower case with apostrophes.
 * @param isHyphenated whether the given name has a hyphen.
 */
export function readChinese(words: readonly string[], isHyphenated: boolean): ChineseName | undefined {
  const family = words[0] ?? ''
  const converted = toPinyin(family)
  const mayBePinyin = FAMILIES.has(withoutUmlaut(family))
  const mayBeWadeGiles = converted !== undefined && FAMILIES.has(converted)
  if (!mayBePinyin && !mayBeWadeGiles) return undefined
  const pinyin = cutAll(words, isPinyin)?.map(withoutUmlaut)
  const exact = mayBePinyin ? pinyin : undefined
  const isOther = isHyphenated || pinyin === undefined || words.some((word) => word.includes("'"))
  const wade =
    mayBeWadeGiles && isOther
      ? cutAll(words, (text) => toPinyin(text) !== undefined)?.map((syllable) => toPinyin(syllable)!)
      : undefined
  const syllables = wade ?? exact
  if (!syllables || syllables.length < 2 || syllables.length > 4) return undefined
  return { exact: exact?.join(' '), merged: syllables.map(merge).join(' '), isWadeGiles: wade !== undefined }
}

function cutAll(
  words: readonly string[],
  isSyllable: (text: string) => boolean,
): readonly string[] | undefined {
  const all: string[] = []
  for (const word of words) {
    const syllables = cut(word, isSyllable)
    if (!syllables) return undefined
    all.push(...syllables)
  }
  return all
}

/** Chinese names: cut into syllables of Pinyin, and brought there from the spelling of Wade and Giles. */

/** The finals that each initial has (ISO 7098); a final without an initial is written with `y`, `w` or as it is. */
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

/** Family names, the one syllable before the comma of a list by which a Chinese name is told. */
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

/** Longer ones are never one syllable, nor are more than four the name of one person. */
const MAX_SYLLABLE = 6
const MAX_SYLLABLES = 3

/** Cuts a word into syllables; undefined where it is not made of them. The longest beginning is tried first. */
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

/** `Lü` is `Lv` where a keyboard has no `ü`, and `Lu` where it is left out: one. */
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

/** A Wade-Giles syllable in Pinyin; undefined if the text is not such a syllable. */
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
    // `ih` is the one `i` after which the tongue stays behind the teeth; `chi` is another sound.
    if (/^i(?!$)|^i$/.test(final)) return `${isAspirated ? 'q' : 'j'}${final}`
    return `${isAspirated ? 'ch' : 'zh'}${final === 'o' ? 'uo' : final}`
  }
  if (final === 'o' && /^k'?$|^h$/.test(initial)) return `${WADE_GILES_INITIALS[initial] ?? initial}e`
  if (final === 'o' && /^(?:t'?|ts'?|l|n|j|s)$/.test(initial))
    return `${WADE_GILES_INITIALS[initial] ?? initial}uo`
  if (final === 'e' && initial === 'ts') return 'ze'
  return `${WADE_GILES_INITIALS[initial] ?? initial}${final}`
}

/** Writers often leave the apostrophes out, by which Wade and Giles tell `b` from `p`: then these are one. */
const merge = (syllable: string) =>
  syllable
    .replace(/^(?:zh|ch|j|q)/, 'c')
    .replace(/^p/, 'b')
    .replace(/^t/, 'd')
    .replace(/^k/, 'g')
    .replace(/^z/, 'c')

export interface ChineseName {
  /** Syllables of Pinyin. */
  readonly exact: string | undefined
  /** The same without what apostrophes tell. */
  readonly merged: string
  /** Whether it is surely written as Wade and Giles did. */
  readonly isWadeGiles: boolean
}

/**
 * A Chinese name by its words, the family's first.
 *
 * @param words lower case, with apostrophes. @param isHyphenated whether the given name is written with a hyphen.
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

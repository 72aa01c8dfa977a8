/** Reads Korean names, and brings the romanizations of North Korea, South Korea and passports into one form. */

/** Folds spellings that sound alike, and vowels of one family: `Jong`, `Jeong`, `Jung` and `Chung` all become `cong`. */
const FOLDS: readonly (readonly [RegExp, string])[] = [
  [/y(?:eo|oo|ou|o|u)/g, 'yo'],
  [/w(?:oo|u)/g, 'o'],
  [/weo/g, 'wo'],
  [/oe|oi|wae/g, 'we'],
  [/eo|eu|oo|ou|u/g, 'o'],
  [/yae|yai/g, 'ye'],
  [/ae|ai|ay/g, 'e'],
  [/ui|oui|ee|yi/g, 'i'],
  [/ah(?![aeioyw])/g, 'a'],
  [/oh(?![aeioyw])/g, 'o'],
  [/ng/g, 'N'],
  [/kk|gg|kh|g|q/g, 'k'],
  [/tt|dd|th|d/g, 't'],
  [/pp|bb|ph|b|f|v/g, 'p'],
  [/jj|ch|j/g, 'c'],
  [/ss|sh/g, 's'],
  [/ll|l/g, 'r'],
  // North Korean spelling keeps the `r` before `i` and `y` that South Korean spelling drops.
  [/r(?=y)/g, ''],
]

const fold = (text: string) =>
  FOLDS.reduce((left, [spelling, common]) => left.replace(spelling, common), text)

const SYLLABLE = '[kntpcmsrh]?[wy]?[aeio](?:N|[kntpmrs])?'
const GIVEN = new RegExp(`^(?:${SYLLABLE}){2}$`)

/** Folds a family name: `Ri`, `Lee`, `Yi` and `I` are the same name, and so are `No` and `Roh`. */
const foldFamily = (text: string) =>
  fold(text.replace(/^(?:park|bark|bahk)$/, 'pak').replace(/^rhee$/, 'ri'))
    .replace(/^r/, 'n')
    .replace(/^n(?=[iy])/, '')

const FAMILIES = new Set(
  `kim ri pak choe chong kang cho yun chang im han o so sin kwon hwang an song ryu hong chon ko mun yang son pae paek ho nam sim no
   ha kwak song cha chu u ku min chin na om won chae kye to chi tong hyon pang pyon sok ok mo pong yu yom myong kil ki`
    .split(/\s+/)
    .map(foldFamily),
)

/**
 * Returns a Korean name in a form that all its romanizations share, or undefined for any other name.
 * @param words the words of the name, family name first.
 */
export function readKorean([family = '', ...given]: readonly string[]): string | undefined {
  const first = foldFamily(family)
  if (given.length === 0 || !FAMILIES.has(first)) return undefined
  const rest = given.length === 1 ? fold(given[0]!) : given.map(fold).join('')
  return GIVEN.test(rest) ? `${first} ${rest}` : undefined
}

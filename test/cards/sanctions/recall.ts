/** How many of the spellings of `spellings.tsv` and `held-out.tsv` are found, and how many of the ordinary names of `ordinary.tsv`. */
import { readFileSync } from 'node:fs'
import type { Matcher, Subject } from '../../../runtime/cards/sanctions/matcher.ts'
import { createMatcher } from '../../../runtime/cards/sanctions/matcher.ts'
import { readOfac } from '../../../runtime/cards/sanctions/ofac.ts'

/** A name of the list, and how it is written elsewhere. */
export interface Spelling {
  readonly kind: string
  readonly listed: string
  readonly subject: Subject
  readonly listedBorn: string
  /** Of `held-out.tsv`. */
  readonly isHeldOut: boolean
}

const readTable = (name: string): string[][] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split('\t'))

/** A comma tells people from companies, as on the list itself. */
const typeOf = (listed: string) => (/^[^,]+, (?!S\.A\.)/.test(listed) ? 'individual' : 'company')

const readSpellings = (file: string): Spelling[] =>
  readTable(file).map(([kind = '', listed = '', name = '', type, listedBorn = '', born]) => ({
    kind,
    listed,
    listedBorn,
    subject: {
      type: (type || typeOf(listed)) as Subject['type'],
      name,
      date_of_birth: born || null,
      billing_address: null,
    },
    isHeldOut: file === 'held-out.tsv',
  }))

export const SPELLINGS: readonly Spelling[] = ['spellings.tsv', 'held-out.tsv'].flatMap(readSpellings)

const NAMES_PER_CULTURE = 40

/** Each first word meets two last ones; the same names in each run. */
export const ORDINARY: readonly Subject[] = readTable('ordinary.tsv').flatMap(
  ([culture = '', first = '', last = '']) => {
    const [firsts, lasts] = [first.split(' '), last.split(' ')]
    return Array.from({ length: NAMES_PER_CULTURE }, (_, at) => {
      const one = firsts[at % firsts.length]!
      const other = lasts[(at * 7 + Math.floor(at / firsts.length) * 3) % lasts.length]!
      const isFamilyFirst = /^(chinese|korean|vietnamese|hungarian)/.test(culture)
      const words = isFamilyFirst ? [other, one] : [one, other]
      const name = words.join(culture.endsWith('-script') && isFamilyFirst ? '' : ' ').replaceAll('_', ' ')
      const type = culture === 'companies' ? 'company' : 'individual'
      return { type, name, date_of_birth: null, billing_address: null } as const
    })
  },
)

const entryOf = ({ listed, listedBorn }: Spelling) => `${listed}|${listedBorn}`

/** A list of every name in the table, and the number of each. */
export function listOf(spellings: readonly Spelling[]) {
  const ids = new Map(spellings.map((each) => [entryOf(each), each] as const))
  const keys = [...ids.keys()]
  const sdn = [...ids.values()]
    .map(({ listed, listedBorn }, at) => {
      const type = typeOf(listed) === 'individual' ? 'individual' : '-0-'
      const remarks = listedBorn === '' ? '-0-' : `DOB ${listedBorn}.`
      return `${at + 1},"${listed}",${type},"T",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"${remarks}"`
    })
    .join('\r\n')
  return { sdn, idOf: (spelling: Spelling) => String(keys.indexOf(entryOf(spelling)) + 1) }
}

/** What a matcher of these spellings does not find, and which ordinary names it takes for listed ones. */
export async function findMisses(): Promise<{
  readonly missed: readonly Spelling[]
  readonly mistaken: readonly string[]
}> {
  const { sdn, idOf } = listOf(SPELLINGS)
  const matcher: Matcher = await createMatcher(await readOfac({ sdn, alt: '', add: '' }))
  const missed = SPELLINGS.filter(
    (each) => !matcher.match(each.subject).some(({ entry }) => entry.id === idOf(each)),
  )
  const mistaken = ORDINARY.flatMap((subject) => {
    const [match] = matcher.match(subject)
    return match ? [`${subject.name}: ${match.entry.names[0]} (${match.score})`] : []
  })
  return { missed, mistaken }
}

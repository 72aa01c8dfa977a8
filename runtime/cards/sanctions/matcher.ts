/** Holds people and companies against a list. */
import { createSteps } from '../../platform/fairness/pauses.ts'
import { compareBirths } from './births.ts'
import { createNameIndex, type NameIndex } from './name-index.ts'
import { exactKeyOf, type NameForm, readListed, readSubject } from './names.ts'
import type { ListEntry } from './ofac.ts'
import { compareNames } from './score.ts'
import { readWallet } from './wallets.ts'

/** Who is screened. */
export interface Subject {
  readonly type: 'individual' | 'company'
  readonly name: string
  /** `1990-04-12` */
  readonly date_of_birth: string | null
  readonly billing_address: { readonly city: string } | null
}

export interface Match {
  readonly entry: ListEntry
  /** From 0 to 1, in hundredths. */
  readonly score: number
  /** Properties of the subject that agree with the entry. */
  readonly fields: readonly string[]
}

/**
 * Names this alike are a match, whatever else is known. Calibrated by the pairs of `test/cards/sanctions/pairs.ts` and the spellings of
 * `test/cards/sanctions/spellings.tsv`: names that differ in spelling alone lie above, names of others of the same given or family name
 * below.
 */
export const THRESHOLD = 0.91

/** Of names that are one by a key: their letters without spaces, their syllables, or all their words where nothing else is compared. */
const BY_KEY = 0.95

/** What a date of birth adds to the score of a match. */
const BIRTHS = { same: 0.08, near: 0.03, unknown: 0, other: -0.15 }

/** What a city adds that the entry has too. */
const SAME_CITY = 0.02

/** What it takes away that the entry is a company and the subject a person, or the other way round. */
const OTHER_TYPE = 0.05

/** Nobody reads more of them. */
const MAX_MATCHES = 20

/** A name of a list that cannot be taken into the index: a subject is its entry's only if the name is written the same. */
export interface UnreadName {
  /** Number of its entry. */
  readonly id: string
  readonly problem: string
}

export interface Matcher {
  readonly unread: readonly UnreadName[]
  /** Matches of at most 20 entries, the highest scores first. */
  match(subject: Subject): readonly Match[]
  /** The entry that has an address on a chain. @param account CAIP-10, or the address alone. */
  findWallet(account: string): ListEntry | undefined
}

/**
 * Prepares a list in steps, between which others are let in: tens of thousands of names take seconds.
 *
 * @param indexed false: every name is compared with every other, for tests and benches.
 */
export async function createMatcher(entries: readonly ListEntry[], indexed = true): Promise<Matcher> {
  const { names, owners, byKey, index, unread } = await prepare(entries, indexed)
  const wallets = new Map(entries.flatMap((entry) => entry.wallets.map((wallet) => [wallet, entry] as const)))
  return {
    unread,
    findWallet: (account) => wallets.get(readWallet(account)),
    match(subject) {
      const { forms, keys } = readSubject(subject.name)
      const best = new Map<ListEntry, number>()
      for (const key of [...keys, exactKeyOf(subject.name)]) {
        for (const entry of byKey.get(key) ?? []) best.set(entry, BY_KEY)
      }
      for (const form of forms) {
        for (const place of index.candidates(form)) {
          const entry = owners[place]!
          const likeness = compareNames(form, names[place]!)
          if (likeness >= THRESHOLD && likeness > (best.get(entry) ?? 0)) best.set(entry, likeness)
        }
      }
      if (best.size === 0) return []
      return [...best]
        .map(([entry, likeness]) => weigh(subject, entry, likeness))
        .toSorted((a, b) => b.score - a.score || Number(a.entry.id) - Number(b.entry.id))
        .slice(0, MAX_MATCHES)
        .map((match) => ({ ...match, score: Math.floor(match.score * 100) / 100 }))
    },
  }
}

interface Prepared {
  readonly names: readonly NameForm[]
  /** The entry that each name is of. */
  readonly owners: readonly ListEntry[]
  readonly byKey: ReadonlyMap<string, readonly ListEntry[]>
  readonly unread: readonly UnreadName[]
  readonly index: NameIndex
}

async function prepare(entries: readonly ListEntry[], indexed: boolean): Promise<Prepared> {
  const steps = createSteps()
  const names: NameForm[] = []
  const owners: ListEntry[] = []
  const byKey = new Map<string, ListEntry[]>()
  const unread: UnreadName[] = []
  const put = (key: string, entry: ListEntry) => byKey.set(key, [...(byKey.get(key) ?? []), entry])
  for (const entry of entries) {
    if (entry.type === 'craft') continue
    for (const alias of entry.weakAliases) put(exactKeyOf(alias), entry)
    for (const name of entry.names) {
      if (steps.isOver()) await steps.next()
      try {
        const { forms, keys } = readListed(name, entry.type)
        names.push(...forms)
        owners.push(...forms.map(() => entry))
        for (const key of keys) put(key, entry)
      } catch (error) {
        unread.push({ id: entry.id, problem: String(error) })
        put(exactKeyOf(String(name)), entry)
      }
    }
  }
  const all = names.keys().toArray()
  return {
    names,
    owners,
    byKey,
    unread,
    index: indexed ? await createNameIndex(names, steps) : { candidates: () => all },
  }
}

/** The score orders matches for those who review them; it decides nothing. */
function weigh({ type, date_of_birth, billing_address }: Subject, entry: ListEntry, likeness: number): Match {
  const birth = compareBirths(date_of_birth, entry.births)
  const city = billing_address?.city.toLowerCase()
  const isThere =
    city !== undefined && entry.places.some((place) => place.toLowerCase().startsWith(`${city},`))
  const isOtherType = (type === 'individual') !== (entry.type === 'individual')
  const score = likeness + BIRTHS[birth] + (isThere ? SAME_CITY : 0) - (isOtherType ? OTHER_TYPE : 0)
  return {
    entry,
    score: Math.min(score, 1),
    fields: [
      'name',
      ...(birth === 'same' || birth === 'near' ? ['date_of_birth'] : []),
      ...(isThere ? ['billing_address'] : []),
    ],
  }
}

/** Compares people and companies with the entries of a sanctions list. */
import { createSteps } from '../../platform/fairness/pauses.ts'
import { compareBirths } from './births.ts'
import { createNameIndex, type NameIndex } from './name-index.ts'
import { exactKeyOf, type NameForm, readListed, readSubject } from './names.ts'
import type { ListEntry } from './ofac.ts'
import { compareNames } from './score.ts'
import { readWallet } from './wallets.ts'

/** The person or company to screen. */
export interface Subject {
  readonly type: 'individual' | 'company'
  readonly name: string
  /** For example `1990-04-12`. */
  readonly date_of_birth: string | null
  readonly billing_address: { readonly city: string } | null
}

export interface Match {
  readonly entry: ListEntry
  /** From 0 to 1, rounded down to hundredths. */
  readonly score: number
  /** Fields of the subject that agree with the entry. */
  readonly fields: readonly string[]
}

/**
 * Minimum name similarity of a match, regardless of other facts. Calibrated with the pairs in
 * `test/cards/sanctions/pairs.ts` and the spellings in `test/cards/sanctions/spellings.tsv`: names that differ only in
 * spelling score above it; names of different people who share a given or family name score below it.
 */
export const THRESHOLD = 0.91

/**
 * Similarity of two names that have the same key. A key is the letters of the name without spaces, its syllables, or,
 * for names that cannot be compared otherwise, all its words.
 */
const BY_KEY = 0.95

/** Score adjustment for each level of date-of-birth evidence. */
const BIRTHS = { same: 0.08, near: 0.03, unknown: 0, other: -0.15 }

/** Score bonus if the subject's city is one of the entry's. */
const SAME_CITY = 0.02

/** Score penalty if one of the two is a company and the other a person. */
const OTHER_TYPE = 0.05

/** Maximum number of matches returned. */
const MAX_MATCHES = 20

/** A listed name that cannot be indexed. It matches only names with the same words. */
export interface UnreadName {
  /** Number of the list entry. */
  readonly id: string
  readonly problem: string
}

export interface Matcher {
  readonly unread: readonly UnreadName[]
  /** Returns at most 20 matches, highest score first. */
  match(subject: Subject): readonly Match[]
  /**
   * Returns the entry that lists the blockchain address.
   * @param account a CAIP-10 account, or only an address.
   */
  findWallet(account: string): ListEntry | undefined
}

/**
 * Prepares a list for matching. Tens of thousands of names take seconds, so it lets other work run in between.
 * @param indexed false: compare with every name instead of using the index, for tests and benchmarks.
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
  /** By index of the name: its entry. */
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

/** Scores a match. The score only orders matches for reviewers; it does not decide whether there is a match. */
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

/** Holds people and companies against a list. */
import { createSteps } from '../platform/fairness/pauses.ts'
import { compareBirths } from './births.ts'
import { createNameIndex, type NameIndex } from './name-index.ts'
import { formsOf, type NameForm } from './names.ts'
import type { ListEntry } from './ofac.ts'
import { compareNames } from './score.ts'

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
  /** From `THRESHOLD` to 1, in hundredths. */
  readonly score: number
  /** Properties of the subject that agree with the entry. */
  readonly fields: readonly string[]
}

/**
 * A match from here on. Calibrated by the pairs of `test/sanctions/pairs.ts`: names that differ in spelling alone lie above,
 * names of others of the same given or family name below.
 */
export const THRESHOLD = 0.91

/** What a date of birth adds to the score of a name: another one outweighs a name that is the same letter by letter. */
const BIRTHS = { same: 0.08, near: 0.03, unknown: 0, other: -0.15 }

/** What a city adds that the entry has too. */
const SAME_CITY = 0.02

/** Nobody reads more of them. */
const MAX_MATCHES = 20

export interface Matcher {
  /** Matches of at most 20 entries, the most alike first. */
  match(subject: Subject): readonly Match[]
}

/**
 * Prepares a list in steps, between which others are let in: tens of thousands of names take seconds.
 *
 * @param indexed false: every name is compared with every other, for tests and benches.
 */
export async function createMatcher(entries: readonly ListEntry[], indexed = true): Promise<Matcher> {
  const of = {
    individual: await prepare(
      entries.filter(({ type }) => type === 'individual'),
      indexed,
    ),
    company: await prepare(
      entries.filter(({ type }) => type === 'entity'),
      indexed,
    ),
  }
  return {
    match(subject) {
      const { names, owners, index } = of[subject.type]
      const best = new Map<ListEntry, number>()
      for (const form of formsOf(subject.name, subject.type === 'company' ? 'entity' : 'individual')) {
        for (const place of index.candidates(form)) {
          const entry = owners[place]!
          const likeness = compareNames(form, names[place]!)
          if (likeness > (best.get(entry) ?? 0)) best.set(entry, likeness)
        }
      }
      return [...best]
        .map(([entry, likeness]) => weigh(subject, entry, likeness))
        .filter(({ score }) => score >= THRESHOLD)
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
  readonly index: NameIndex
}

async function prepare(entries: readonly ListEntry[], indexed: boolean): Promise<Prepared> {
  const steps = createSteps()
  const names: NameForm[] = []
  const owners: ListEntry[] = []
  for (const entry of entries) {
    if (steps.isOver()) await steps.next()
    for (const form of entry.names.flatMap((name) => formsOf(name, entry.type))) {
      names.push(form)
      owners.push(entry)
    }
  }
  const all = names.keys().toArray()
  return { names, owners, index: indexed ? await createNameIndex(names, steps) : { candidates: () => all } }
}

function weigh({ date_of_birth, billing_address }: Subject, entry: ListEntry, likeness: number): Match {
  const birth = compareBirths(date_of_birth, entry.births)
  const city = billing_address?.city.toLowerCase()
  const isThere =
    city !== undefined && entry.places.some((place) => place.toLowerCase().startsWith(`${city},`))
  const score = Math.min(likeness + BIRTHS[birth] + (isThere ? SAME_CITY : 0), 1)
  return {
    entry,
    score,
    fields: [
      'name',
      ...(birth === 'same' || birth === 'near' ? ['date_of_birth'] : []),
      ...(isThere ? ['billing_address'] : []),
    ],
  }
}

/** Finds records by the names that the tenant gave them. */
import { versions } from '../../../../generated/versions.ts'
import type { ApiPage } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { selectVersion } from '../account/versions.ts'
import { findNamed, findRecent, NAMED_LIMIT, type NamedRow } from './name-queries.ts'
import { type FoundPlace, findById } from './places.ts'

interface FoundEndpoint {
  readonly id: string
  readonly url: string
  readonly description: string | null
}

/** An environment has fewer endpoints, so one page contains all of them. */
const ENDPOINTS = '100'

/** A page of a record. */
export interface Hit extends FoundPlace {
  readonly title: string
  /** More about the record, such as its email address. Empty if there is nothing to add. */
  readonly about: string
}

/** Dates of versions are not searched for with fewer characters than those of a year. */
const MIN_VERSION_LENGTH = 4

const findVersions = (text: string): Hit[] =>
  versions
    .filter(({ name }) => text.length >= MIN_VERSION_LENGTH && name.startsWith(text))
    .map(({ name, status }) => ({
      kind: 'API version',
      path: selectVersion(name),
      title: name,
      about: words(status),
    }))

/** Returns API versions, and at most `NAMED_LIMIT` records of each kind. `isCut` means that more may match. */
export async function findHits(
  visit: DashboardVisit,
  text: string,
): Promise<{ readonly hits: Hit[]; readonly isCut: boolean }> {
  if (text === '') return { hits: [], isCut: false }
  const { db, space } = await visit.place()
  const [named, recent, { data }] = await Promise.all([
    findNamed(db, space, text),
    findRecent(db, space, text),
    visit.read<ApiPage<FoundEndpoint>>('listWebhookEndpoints', { query: { limit: ENDPOINTS } }),
  ])
  const asked = text.toLowerCase()
  const endpoints: NamedRow[] = data
    .filter(({ url, description }) => `${url}\n${description ?? ''}`.toLowerCase().includes(asked))
    .map(({ id, url }) => ({ id, name: url }))
  const rows = new Map([...recent, ...endpoints, ...named].map((row) => [row.id, row]))
  const found = [...rows.values()].map(({ id, name, about = '' }) => ({
    ...findById(id)!,
    title: name,
    about,
  }))
  const byKind = [...Map.groupBy(found, ({ kind }) => kind).values()]
  return {
    hits: [...findVersions(text), ...byKind.flatMap((each) => each.slice(0, NAMED_LIMIT))],
    isCut: byKind.some(({ length }) => length >= NAMED_LIMIT),
  }
}

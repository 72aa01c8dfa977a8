/** Finds records by the names that the tenant gave them. */

import { type RecordPrefix, records } from '../../../../generated/canonical/records.ts'
import type { ApiPage } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { findNamed, NAMED_LIMIT, type NamedRow } from './name-queries.ts'

interface FoundEndpoint {
  readonly id: string
  readonly url: string
  readonly description: string | null
}

/** An environment has fewer endpoints, so one page contains all of them. */
const ENDPOINTS = '100'

export interface Hit {
  readonly id: string
  readonly name: string
  /** The kind of record, with its email address if it has one. */
  readonly about: string
}

/** Returns at most `NAMED_LIMIT` records of each kind. `isCut` means that more may match. */
export async function findHits(
  visit: DashboardVisit,
  text: string,
): Promise<{ readonly hits: Hit[]; readonly isCut: boolean }> {
  if (text === '') return { hits: [], isCut: false }
  const { db, space } = await visit.place()
  const [named, { data }] = await Promise.all([
    findNamed(db, space, text),
    visit.read<ApiPage<FoundEndpoint>>('listWebhookEndpoints', { query: { limit: ENDPOINTS } }),
  ])
  const asked = text.toLowerCase()
  const endpoints: NamedRow[] = data
    .filter(({ url, description }) => `${url}\n${description ?? ''}`.toLowerCase().includes(asked))
    .map(({ id, url }) => ({ id, name: url }))
  const byKind = Map.groupBy([...named, ...endpoints], ({ id }) => prefixOf(id))
  const hits = [...byKind].flatMap(([prefix, found]) => {
    const kind = words(records[prefix].object)
    return found.slice(0, NAMED_LIMIT).map(({ id, name, email }) => ({
      id,
      name,
      about: email === undefined ? kind : `${kind}, ${email}`,
    }))
  })
  return { hits, isCut: [...byKind.values()].some((found) => found.length >= NAMED_LIMIT) }
}

function prefixOf(id: string): RecordPrefix {
  return id.slice(0, id.indexOf('_')) as RecordPrefix
}

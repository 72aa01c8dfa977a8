/** Answers a list with the page that the request asks for, in the pagination shape of the document. */
import type { PageWire } from '../client-runtime/call.ts'
import { isJson } from '../ir/media-type.ts'
import type { Api, ApiOperation, Property } from '../ir/model.ts'
import { successOf } from '../ir/operations.ts'
import { shapeOf } from '../translate/shape.ts'
import { fitsProperty, isObject } from './values.ts'

/** A record with its identifier. */
export type StoredRecord = readonly [id: string, record: Readonly<Record<string, unknown>>]

const LIMIT = 20

const LIMITS = ['limit', 'page_size', 'pageSize', 'per_page', 'perPage', 'size', 'max_results', 'maxResults']
const CURSORS = ['cursor', 'after', 'starting_after', 'page_token', 'pageToken', 'next_token', 'marker']
const BACKWARD = ['before', 'ending_before']
const OFFSETS = ['offset', 'skip']
const PAGES = ['page', 'page_number', 'pageNumber']
const MORE = ['has_more', 'hasMore', 'has_next_page', 'hasNextPage']
const NEXT = ['next_cursor', 'nextCursor', 'next_page_token', 'nextPageToken', 'next_token', 'next', 'cursor']
const PREVIOUS = ['previous_cursor', 'prev_cursor', 'previousCursor', 'previous', 'prev']
const TOTAL = ['total', 'total_count', 'totalCount', 'count']

type Query = Readonly<Record<string, unknown>>

export interface MockPage {
  readonly records: readonly StoredRecord[]
  readonly more: boolean
  /** Identifier from which the next page continues; undefined on the last page. */
  readonly next: string | undefined
  readonly total: number
}

const encodings = (id: string): readonly string[] => [id, Buffer.from(id).toString('base64url')]

/** Returns the records that match the query's filters and are on the page that it asks for. */
export function pageOf(
  operation: ApiOperation,
  all: readonly StoredRecord[],
  query: Query,
  wire: PageWire,
): MockPage {
  const parameters = operation.parameters.filter((each) => each.in === 'query')
  const named = (names: readonly string[]) =>
    names.map((name) => parameters.find((each) => each.name === name)).find((each) => each !== undefined)
  const given = (names: readonly string[]) => {
    const parameter = named(names)
    return parameter && query[parameter.name]
  }
  const paging = [LIMITS, CURSORS, BACKWARD, OFFSETS, PAGES, [wire.after, wire.before]].flat()
  const found = all.filter(([, record]) => matches(record, query, paging))
  const limit = Math.max(Number(given(LIMITS) ?? named(LIMITS)?.schema.default ?? LIMIT), 1)
  const before = given([wire.before, ...BACKWARD])
  const indexOf = (cursor: unknown) => found.findIndex(([id]) => encodings(id).includes(String(cursor)))
  if (before !== undefined) {
    const end = indexOf(before)
    const from = Math.max(end - limit, 0)
    const records = found.slice(from, Math.max(end, 0))
    return { records, more: from > 0, next: from > 0 ? records[0]?.[0] : undefined, total: found.length }
  }
  const after = given([wire.after, ...CURSORS])
  const page = given(PAGES)
  const skipped = page === undefined ? Number(given(OFFSETS) ?? 0) : (Number(page) - 1) * limit
  // An unknown cursor, such as that of a deleted record, continues at the end.
  const start = after === undefined ? skipped : indexOf(after) + 1 || found.length
  const records = found.slice(start, start + limit)
  const more = start + limit < found.length
  return { records, more, next: more ? records.at(-1)?.[0] : undefined, total: found.length }
}

/** Applies parameters that are named like a scalar property of the record. Lists of values match any of them. */
function matches(record: Query, query: Query, paging: readonly string[]): boolean {
  return Object.entries(query).every(([name, wanted]) => {
    if (paging.includes(name) || !Object.hasOwn(record, name) || isObject(record[name])) return true
    return (Array.isArray(wanted) ? wanted : [wanted]).includes(record[name])
  })
}

/** Writes a page into a sample of the answer, and into an object such as `meta` in it. */
export function writePage(
  api: Api,
  operation: ApiOperation,
  sample: unknown,
  items: string | undefined,
  page: MockPage,
  wire: PageWire,
): unknown {
  const records = page.records.map(([, record]) => record)
  if (items === undefined) return records
  const schema = successOf(operation)?.contents.find(({ mediaType }) => isJson(mediaType))?.schema
  const properties = schema ? (shapeOf(schema, api, new Set())?.properties ?? new Map()) : new Map()
  const answer = writeMembers(api, properties, isObject(sample) ? sample : {}, page, wire)
  for (const [name, { schema: inner }] of properties as ReadonlyMap<string, Property>) {
    const inside = shapeOf(inner, api, new Set())?.properties
    if (name !== items && inside && isObject(answer[name]))
      answer[name] = writeMembers(api, inside, answer[name], page, wire)
  }
  return { ...answer, [items]: records }
}

function writeMembers(
  api: Api,
  properties: ReadonlyMap<string, Property>,
  sample: Query,
  page: MockPage,
  wire: PageWire,
): Record<string, unknown> {
  const written: Record<string, unknown> = { ...sample }
  const set = (names: readonly string[], candidates: readonly unknown[]) => {
    const property = names.map((name) => properties.get(name)).find((each) => each !== undefined)
    if (!property) return
    const value = candidates.find((each) => fitsProperty(api, property, each))
    if (value !== undefined) written[property.name] = value
    else if (!property.required) delete written[property.name]
  }
  set([wire.more, ...MORE], [page.more])
  set([wire.next, ...NEXT], page.next === undefined ? [null] : encodings(page.next))
  set(PREVIOUS, [null])
  set(TOTAL, [page.total])
  return written
}

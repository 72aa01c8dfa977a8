import type { Database } from '../../database/database.ts'
import type { ListReader } from '../../database/define-list.ts'
import type { CreatedRange, Records, RequestedPage } from '../../database/page.ts'
import { parseInstant } from '../../platform/instants.ts'
import { invalidParameter } from '../errors/errors.ts'
import type { Cursors } from './cursors.ts'

export interface ListQuery extends CreatedQuery {
  readonly limit?: number
  readonly starting_after?: string
  readonly ending_before?: string
  readonly order?: 'asc' | 'desc'
}

export interface CreatedQuery {
  readonly created_after?: string
  readonly 'created[gte]'?: string
  readonly 'created[gt]'?: string
  readonly 'created[lte]'?: string
  readonly 'created[lt]'?: string
}

const DEFAULT_LIMIT = 25

/** @throws ApiError `conflicting_parameters` or `invalid_cursor`. */
export function readPage(query: ListQuery, cursors: Cursors): RequestedPage {
  const { starting_after, ending_before } = query
  if (starting_after !== undefined && ending_before !== undefined) {
    const message = 'starting_after and ending_before cannot be used together. Send one of them.'
    throw invalidParameter('conflicting_parameters', 'ending_before', message)
  }
  const page = { limit: query.limit ?? DEFAULT_LIMIT, order: query.order ?? 'desc' }
  if (starting_after !== undefined) {
    return { ...page, backward: false, boundary: cursors.read('starting_after', starting_after) }
  }
  if (ending_before !== undefined) {
    return { ...page, backward: true, boundary: cursors.read('ending_before', ending_before) }
  }
  return { ...page, backward: false }
}

/**
 * Reads the bounds of `created`. `created_after` is exclusive, like `created[gt]`; both apply. @throws ApiError
 * `invalid_format`.
 */
export function readCreated(query: CreatedQuery): CreatedRange {
  const bound = (name: keyof CreatedQuery): number | undefined => {
    const text = query[name]
    if (text === undefined) return undefined
    const instant = parseInstant(text)
    if (instant === undefined)
      throw invalidParameter('invalid_format', name, `${name} must be a date or an RFC 3339 timestamp.`)
    return instant
  }
  const after = bound('created_after')
  const gt = bound('created[gt]')
  const gte = bound('created[gte]')
  const lte = bound('created[lte]')
  const lt = bound('created[lt]')
  const later = after === undefined ? gt : Math.max(after, gt ?? after)
  return {
    ...(gte === undefined ? {} : { gte }),
    ...(later === undefined ? {} : { gt: later }),
    ...(lte === undefined ? {} : { lte }),
    ...(lt === undefined ? {} : { lt }),
  }
}

/**
 * Returns the list object. `next_cursor` is where the next page begins, or null on the last page. A list that
 * examines more records than it returns passes in `last` where it stopped.
 */
export function showList<Row extends { readonly id: string; readonly created: number }, Shown>(
  { rows, hasMore, last }: Records<Row> & { readonly last?: Pick<Row, 'id' | 'created'> | undefined },
  page: RequestedPage,
  cursors: Cursors,
  show: (row: Row) => Shown,
): { data: Shown[]; has_more: boolean; next_cursor: string | null } {
  const edge = last ?? (page.backward ? rows[0] : rows.at(-1))
  const side = page.backward ? 'before' : 'after'
  const next = hasMore && edge ? cursors.write({ created: edge.created, id: edge.id, side }) : null
  return { data: rows.map(show), has_more: hasMore, next_cursor: next }
}

export interface ListContext {
  readonly caller: { readonly space: string }
  readonly db: Database
  readonly cursors: Cursors
}

/** Answers with the requested page of a list. Throws the errors of `readPage` and `readCreated`. */
export async function answerList<
  Query extends ListQuery,
  Row extends { readonly id: string; readonly created: number },
  Shown,
>(
  { caller, db, cursors }: ListContext,
  query: Query,
  list: ListReader<Row, Query & { readonly created: CreatedRange }>,
  show: (row: Row) => Shown,
): Promise<{ status: 200; body: { data: Shown[]; has_more: boolean; next_cursor: string | null } }> {
  const page = readPage(query, cursors)
  const records = await list(db, caller.space, { ...query, created: readCreated(query) }, page)
  return { status: 200, body: showList(records, page, cursors, show) }
}

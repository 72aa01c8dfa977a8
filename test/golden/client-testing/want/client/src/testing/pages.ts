/** Pages of a list that a mock answers with. */
import type { PageWire } from '../runtime/call.ts'
import { type MockedOperation, MockRefusal } from './requests.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * Returns the page that a query asks for. The cursor is the `id` of a record, or its position if it has none.
 *
 * @param whole the answer with all records.
 * @throws MockRefusal if the list does not contain the cursor.
 */
export function pageOf(
  whole: Members,
  query: Members,
  { limit, size }: NonNullable<MockedOperation['paged']>,
  { items, more, next, after, before }: PageWire,
): Members {
  const records = whole[items]
  if (!Array.isArray(records)) return whole
  const cursors = records.map(cursorOf)
  const at = (name: string) => {
    const index = cursors.indexOf(String(query[name]))
    if (index < 0) throw new MockRefusal('cursor', `${name} is not a cursor of this list.`, { param: name })
    return index
  }
  const count = Number((limit && query[limit]) ?? size)
  const isBackward = query[before] !== undefined
  const end = isBackward ? at(before) : undefined
  const start =
    end === undefined ? (query[after] === undefined ? 0 : at(after) + 1) : Math.max(end - count, 0)
  const stop = end ?? Math.min(start + count, records.length)
  const hasMore = isBackward ? start > 0 : stop < records.length
  return {
    ...whole,
    [items]: records.slice(start, stop),
    [more]: hasMore,
    [next]: hasMore ? cursors[isBackward ? start : stop - 1] : null,
  }
}

const cursorOf = (record: unknown, index: number): string =>
  typeof record === 'object' && record !== null && 'id' in record ? String(record.id) : String(index)

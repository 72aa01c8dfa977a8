import {
  filters as documented,
  type FilterName,
  type ListOperation,
} from '../../generated/canonical/records.ts'
import type { Database } from './database.ts'
import {
  BoundValues,
  type CreatedRange,
  combine,
  type IndexWalk,
  type ListSource,
  type Records,
  type RequestedPage,
  readPage,
} from './page.ts'

/**
 * Requested filters of a list. Each filter that the document declares takes alternative values; an absent filter
 * matches any value.
 */
export type RecordFilter<Operation, Own = object> = Own & { readonly created: CreatedRange } & {
  readonly [Name in FilterName<Operation>]?: readonly string[]
}

/** Maps the filters of a list to its table. */
export interface ListDefinition<Operation, Own = object> extends ListSource {
  readonly operation: Operation
  /** Column or SQL expression that each filter compares. */
  readonly filters: { readonly [Name in FilterName<Operation> | (keyof Own & string)]: string }
  /**
   * Columns of each index between the tenant and (created, id), by filter name. Indexes with the fewest columns come
   * first; the index by time has none.
   */
  readonly indexes: readonly (readonly (FilterName<Operation> | (keyof Own & string))[])[]
  /** Conditions of partial indexes, keyed by the first column of the index. */
  readonly partial?: { readonly [Name in FilterName<Operation>]?: string }
}

export type ListReader<Row, Filter> = (
  db: Database,
  tenantId: string,
  filter: Filter,
  page: RequestedPage,
) => Promise<Records<Row>>

/**
 * Defines a list by its operation in the newest document. A filter added to the document fails to compile until it is
 * listed here. `Own` adds filters that are not query parameters, such as a parent ID from the path.
 */
export function defineList<Row extends object, Operation extends ListOperation, Own = object>(
  definition: ListDefinition<Operation, Own>,
): ListReader<Row, RecordFilter<Operation, Own>> {
  return (db, tenantId, filter, page) => {
    const bindings = new BoundValues(tenantId)
    const walk = walkOf(definition as AnyDefinition, filter as AnyFilter, bindings)
    return readPage<Row>(db, definition, bindings, [walk], filter.created, page)
  }
}

/** The same shapes with plain strings as names. */
interface AnyDefinition extends ListSource {
  readonly operation: string
  readonly filters: Readonly<Record<string, string>>
  readonly indexes: readonly (readonly string[])[]
  readonly partial?: Readonly<Record<string, string>>
}
type AnyFilter = Readonly<Record<string, readonly string[] | undefined>>

const KNOWN: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> = documented

/**
 * Chooses the first index that has a column for every given filter, otherwise the last usable index; the remaining
 * filters then become conditions on each row. An index is usable if each of its columns has a given filter or a filter
 * whose values the document enumerates.
 */
function walkOf(definition: AnyDefinition, filter: AnyFilter, bindings: BoundValues): IndexWalk {
  const { operation, filters, indexes, partial = {} } = definition
  const given = Object.keys(filters).filter((name) => filter[name] !== undefined)
  const valuesOf = (name: string) => filter[name] ?? KNOWN[operation]?.[name] ?? undefined
  const walkable = indexes.filter((columns) => columns.every(valuesOf))
  const columns = walkable.find((each) => given.every((name) => each.includes(name))) ?? walkable.at(-1)!
  const conditions = given
    .filter((name) => !columns.includes(name))
    .map((name) => `${filters[name]} = ANY (${bindings.bind(filter[name])}::text[])`)
  const where = [partial[columns[0] ?? ''] ?? [], conditions].flat().join(' AND ')
  const keys = combine(...columns.map((name) => valuesOf(name)!))
  return { columns, keys, ...(where !== '' && { where }) }
}

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

/** What a list is asked for: alternatives for each filter of the document. Absent: any value. */
export type RecordFilter<Operation, Own = object> = Own & { readonly created: CreatedRange } & {
  readonly [Name in FilterName<Operation>]?: readonly string[]
}

/** How the filters of a list are found in its table. */
export interface ListDefinition<Operation, Own = object> extends ListSource {
  readonly operation: Operation
  /** The column, or another expression, that each filter compares. */
  readonly filters: { readonly [Name in FilterName<Operation> | (keyof Own & string)]: string }
  /**
   * Columns of each index, between the tenant and (created, id), named as their filters are: first the index with the fewest.
   * An index by time has none.
   */
  readonly indexes: readonly (readonly (FilterName<Operation> | (keyof Own & string))[])[]
  /** Conditions of partial indexes, by their first column. */
  readonly partial?: { readonly [Name in FilterName<Operation>]?: string }
}

/** Reads one page of a list, in list order. */
export type ListReader<Row, Filter> = (
  db: Database,
  tenantId: string,
  filter: Filter,
  page: RequestedPage,
) => Promise<Records<Row>>

/**
 * Defines a list by its operation in the newest document: a filter that the document gains does not compile until it is named
 * here. `Own` adds filters that are not parameters of the query, such as the parent in the path.
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

/** A definition and a filter without the names that only types know. */
interface AnyDefinition extends ListSource {
  readonly operation: string
  readonly filters: Readonly<Record<string, string>>
  readonly indexes: readonly (readonly string[])[]
  readonly partial?: Readonly<Record<string, string>>
}
type AnyFilter = Readonly<Record<string, readonly string[] | undefined>>

const KNOWN: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> = documented

/**
 * Chooses the first index that has a column for every filter that is given, otherwise the last one that can be walked: records
 * of that are checked for the filters it has no columns for. An index can be walked if each of its columns has a filter that is
 * given, or one whose values the document lists.
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

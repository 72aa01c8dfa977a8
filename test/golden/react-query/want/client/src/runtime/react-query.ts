/** Options for TanStack Query: the hooks of React Query take them, and so do its adapters for Vue, Solid, Svelte and Angular. */
import type { DataTag } from '@tanstack/react-query'
import { type Call, cursorAfter, type ListCall, pageQuery } from './call.ts'
import type { ServiceConnection } from './connect.ts'

/** The version and the tag of operations: the first part of all their keys. */
export type ResourceKey = readonly [version: string, resource: string]

/** The key of a query: `pages` keeps the pages of an infinite query apart from a single page. */
export type OperationKey = readonly [...ResourceKey, id: string, ...input: unknown[]]

/** Queries must not return undefined, so an answer without body is null. */
export type QueryData<Data> = Exclude<Data, undefined> | (undefined extends Data ? null : never)

export interface OperationQuery<Data> {
  readonly queryKey: DataTag<OperationKey, QueryData<Data>>
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<QueryData<Data>>
}

export interface PagesQuery<Page> {
  readonly queryKey: DataTag<OperationKey, { pages: Page[]; pageParams: unknown[] }>
  readonly queryFn: (context: { readonly signal: AbortSignal; readonly pageParam: unknown }) => Promise<Page>
  readonly initialPageParam: unknown
  readonly getNextPageParam: (page: Page) => unknown
}

export interface OperationMutation<Variables, Data> {
  readonly mutationKey: OperationKey
  readonly mutationFn: (input: Variables) => Promise<Data>
}

/**
 * The variables of a mutation: the arguments of the operation, as a list. They can be left out if the operation needs
 * none.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: TanStack Query reads void as variables that can be left out
type Variables<Given extends unknown[]> = [] extends Given ? Given | void : Given

/** @template Given the arguments of the operation. The last one has the call options. */
type Operation<Given extends unknown[], Result> = (connection: ServiceConnection, ...given: Given) => Result

/**
 * @param count number of arguments before the call options.
 * @returns a function that makes the options of `useQuery` for an operation. The query's signal aborts the request.
 */
export function queryOf<Given extends unknown[], Data>(
  resource: ResourceKey,
  id: string,
  operation: Operation<Given, Call<Data>>,
  count: number,
): Operation<Given, OperationQuery<Data>> {
  return (connection, ...given) => ({
    queryKey: keyOf(resource, id, given.slice(0, count)) as OperationQuery<Data>['queryKey'],
    queryFn: async ({ signal }) => {
      const data = await operation(connection, ...withOptions(given, count, { signal }))
      return (data ?? null) as QueryData<Data>
    },
  })
}

/** @returns a function that makes the options of `useInfiniteQuery` for a list. Its pages follow the cursor. */
export function pagesOf<Given extends unknown[], Page>(
  resource: ResourceKey,
  id: string,
  operation: Operation<Given, ListCall<Page, unknown>>,
  count: number,
): Operation<Given, PagesQuery<Page>> {
  return (connection, ...given) => ({
    queryKey: keyOf(resource, id, ['pages', ...given.slice(0, count)]) as PagesQuery<Page>['queryKey'],
    queryFn: ({ signal, pageParam }) => {
      const paged = withOptions(given, count, { signal })
      const first = (given[count - 1] ?? {}) as Readonly<Record<string, unknown>>
      paged[count - 1] = pageParam === undefined ? first : pageQuery(first, connection.page, pageParam)
      return operation(connection, ...paged).then()
    },
    initialPageParam: undefined,
    getNextPageParam: (page) => cursorAfter(page, connection.page),
  })
}

/** @returns a function that makes the options of `useMutation` for an operation, whose arguments are the variables. */
export function mutationOf<Given extends unknown[], Data>(
  resource: ResourceKey,
  id: string,
  operation: Operation<Given, Call<Data>>,
): (connection: ServiceConnection) => OperationMutation<Variables<Given>, Data> {
  return (connection) => ({
    mutationKey: keyOf(resource, id, []),
    mutationFn: (given) => operation(connection, ...((given ?? []) as Given)).then(),
  })
}

/** The key has no call options: they do not change the answer, and a signal is different for each call. */
function keyOf(resource: ResourceKey, id: string, given: readonly unknown[]): OperationKey {
  const last = given.findLastIndex((each) => each !== undefined)
  return [...resource, id, ...given.slice(0, last + 1)]
}

/** Returns the arguments with further call options, which are the argument at `count`. */
function withOptions<Given extends unknown[]>(given: Given, count: number, options: object): Given {
  const all = Array.from({ length: count }, (_, at) => given[at])
  return [...all, { ...(given[count] as object | undefined), ...options }] as Given
}

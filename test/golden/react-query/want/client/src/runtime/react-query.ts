/** Options for TanStack Query: the hooks of React Query take them, and so do its adapters for Vue, Solid, Svelte and Angular. */
import type { DataTag } from '@tanstack/react-query'
import { type Call, cursorAfter, type ListCall, pageQuery } from './call.ts'
import type { AnyInput, ServiceConnection } from './connect.ts'

/** The version and the tag of operations: the first part of all their keys. */
export type ResourceKey = readonly [version: string, resource: string]

/** The key of a query: `pages` keeps the pages of an infinite query apart from a single page. */
export type OperationKey = readonly [...ResourceKey, id: string, ...input: (QueryInput | 'pages')[]]

/** The part of the input that decides the answer. */
export type QueryInput = Pick<AnyInput, 'path' | 'query' | 'header' | 'cookie' | 'body'>

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

/** The input of a mutation: it can be left out if the operation needs none. */
// biome-ignore lint/suspicious/noConfusingVoidType: TanStack Query reads void as variables that can be left out
type Variables<Given extends unknown[]> = Given extends [infer Input] ? Input : Given[0] | void

/** @template Given the input, as a list of one item that is optional if the operation needs no input. */
type Operation<Given extends unknown[], Result> = (connection: ServiceConnection, ...input: Given) => Result

/** @returns a function that makes the options of `useQuery` for an operation. The query's signal aborts the request. */
export function queryOf<Given extends unknown[], Data>(
  resource: ResourceKey,
  id: string,
  operation: Operation<Given, Call<Data>>,
): Operation<Given, OperationQuery<Data>> {
  return (connection, ...given) => ({
    queryKey: keyOf(resource, id, inputOf(given)) as OperationQuery<Data>['queryKey'],
    queryFn: async ({ signal }) => {
      const data = await operation(connection, ...asGiven<Given>({ ...inputOf(given), signal }))
      return (data ?? null) as QueryData<Data>
    },
  })
}

/** @returns a function that makes the options of `useInfiniteQuery` for a list. Its pages follow the cursor. */
export function pagesOf<Given extends unknown[], Page>(
  resource: ResourceKey,
  id: string,
  operation: Operation<Given, ListCall<Page, unknown>>,
): Operation<Given, PagesQuery<Page>> {
  return (connection, ...given) => ({
    queryKey: keyOf(resource, id, inputOf(given), 'pages') as PagesQuery<Page>['queryKey'],
    queryFn: ({ signal, pageParam }) => {
      const { query: first = {}, ...input } = inputOf(given) ?? {}
      const query = pageParam === undefined ? first : pageQuery(first, connection.page, pageParam)
      return operation(connection, ...asGiven<Given>({ ...input, query, signal })).then()
    },
    initialPageParam: undefined,
    getNextPageParam: (page) => cursorAfter(page, connection.page),
  })
}

/** @returns a function that makes the options of `useMutation` for an operation, whose input is the variables. */
export function mutationOf<Given extends unknown[], Data>(
  resource: ResourceKey,
  id: string,
  operation: Operation<Given, Call<Data>>,
): (connection: ServiceConnection) => OperationMutation<Variables<Given>, Data> {
  return (connection) => ({
    mutationKey: keyOf(resource, id, undefined),
    mutationFn: (input) => operation(connection, ...asGiven<Given>(input)).then(),
  })
}

/** The key has no call options: they do not change the answer, and a signal is different for each call. */
function keyOf(
  resource: ResourceKey,
  id: string,
  input: AnyInput | undefined,
  ...kind: 'pages'[]
): OperationKey {
  const { path, query, header, cookie, body } = input ?? {}
  const decisive = Object.entries({ path, query, header, cookie, body }).filter(
    ([, part]) => part !== undefined,
  )
  return [...resource, id, ...kind, ...(decisive.length > 0 ? [Object.fromEntries(decisive)] : [])]
}

// The types of the functions say which input an operation takes; to this file, every input is an object or absent.
const inputOf = ([input]: unknown[]) => input as AnyInput | undefined
const asGiven = <Given extends unknown[]>(input: unknown) => [input] as unknown as Given

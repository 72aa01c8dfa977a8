/** Methods that take one object with `path`, `query`, `header` and `body`. */
import type { AnyInput, ServiceConnection } from './connect.ts'

/** The method's name, its function, the names of its path parameters, and the part of the input that is its `params`. */
export type FlatRow = readonly [
  name: string,
  // biome-ignore lint/suspicious/noExplicitAny: each function has its own arguments, which the generated types describe
  operation: (connection: ServiceConnection, ...given: any[]) => unknown,
  path?: readonly string[],
  params?: 'body' | 'query',
]

/** Returns a method for each row. */
export function bindFlat(
  connection: ServiceConnection,
  rows: readonly FlatRow[],
): Readonly<Record<string, (input?: AnyInput) => unknown>> {
  const methods = rows.map(([name, operation, names = [], part]) => [
    name,
    ({ path = {}, header, headers, ...input }: AnyInput = {}) => {
      const { [part ?? 'body']: params, ...options } = input
      return operation(connection, ...names.map((each) => path[each]), ...(part ? [params] : []), {
        ...options,
        ...((header || headers) && { headers: { ...header, ...headers } }),
      })
    },
  ])
  return Object.fromEntries(methods)
}

/** Names operations that have no id in the document. */
import { pascalCase } from './naming.ts'

export const METHODS: readonly string[] = [
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
  'query',
]

/** The operations of a path item with methods other than `METHODS`, by their methods as they are sent (OpenAPI 3.2). */
export const ADDITIONAL = 'additionalOperations'

export interface NamedOperation {
  readonly method: string
  readonly path: string
  /** As in the document; undefined if it has none. */
  readonly id: string | undefined
}

/**
 * Returns the ids in the order of the operations. A missing id is derived from the method and path, with a number if it
 * is taken.
 */
export function idsOf(operations: readonly NamedOperation[]): string[] {
  const taken = new Set(operations.map(({ id }) => id))
  return operations.map(({ id: given, method, path }) => {
    if (given !== undefined) return given
    const name = `${method}${pascalCase(path)}`
    let id = name
    for (let n = 2; taken.has(id); n++) id = `${name}${n}`
    taken.add(id)
    return id
  })
}

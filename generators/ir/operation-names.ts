/** What operations are called that the document gives no id. */
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
]

export interface NamedOperation {
  readonly method: string
  readonly path: string
  /** As in the document, if it gives one. */
  readonly id: string | undefined
}

/** By method and path; where two come out alike, by a number as well. @returns the ids, in the order of the operations. */
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

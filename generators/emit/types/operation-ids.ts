/** Ids of operations, which openapi-typescript cannot print all of: it reads `#` and `%` in them as something else. */
import { idsOf, METHODS, type NamedOperation } from '../../ir/operation-names.ts'
import { isObject } from '../../ir/source.ts'
import type { TypedOperation } from './flatten.ts'

/**
 * @param document loses the ids of its operations.
 * @param resolve finds what a reference leads to.
 * @returns the operations under the ids that generated code knows them by, and then those of webhooks.
 */
export function takeIds(document: object, resolve: (reference: string) => unknown): TypedOperation[] {
  const { paths, webhooks } = document as { readonly paths?: unknown; readonly webhooks?: unknown }
  const operations = operationsIn('paths', paths, resolve)
  const events = operationsIn('webhooks', webhooks, resolve)
  const ids = idsOf([...operations, ...events])
  for (const { operation } of [...operations, ...events]) delete operation.operationId
  return [...operations, ...events].map(({ root, path, method }, index) => ({
    root,
    path,
    method,
    id: ids[index]!,
  }))
}

type WrittenOperation = Omit<TypedOperation, 'id'> &
  NamedOperation & { readonly operation: Record<string, unknown> }

function operationsIn(
  root: TypedOperation['root'],
  items: unknown,
  resolve: (reference: string) => unknown,
): WrittenOperation[] {
  return Object.entries(isObject(items) ? items : {}).flatMap(([path, given]) => {
    const item = isObject(given) && typeof given.$ref === 'string' ? resolve(given.$ref) : given
    return Object.entries(isObject(item) ? item : {}).flatMap(([method, operation]) => {
      if (!METHODS.includes(method) || !isObject(operation)) return []
      const { operationId } = operation
      const id = typeof operationId === 'string' ? operationId : undefined
      return [{ root, path, method, id, operation: operation as Record<string, unknown> }]
    })
  })
}

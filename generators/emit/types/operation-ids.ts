/** Removes operation ids before openapi-typescript runs, because it misinterprets `#` and `%` in them. */
import { idsOf, METHODS, type NamedOperation } from '../../ir/operation-names.ts'
import { isObject } from '../../ir/source.ts'
import type { TypedOperation } from './flatten.ts'

/**
 * Removes the ids of operations from a document.
 *
 * @param document is modified.
 * @param resolve returns the target of a reference.
 * @returns the operations with their ids in generated code, followed by those of webhooks.
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

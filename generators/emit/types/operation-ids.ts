/** Removes operation ids before openapi-typescript runs, because it misinterprets `#` and `%` in them. */
import { ADDITIONAL, idsOf, METHODS, type NamedOperation } from '../../ir/operation-names.ts'
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
  return moveUnknown(document, [...operations, ...events]).map(({ root, path, method }, index) => ({
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
    return methodsOf(item).flatMap(([method, operation]) => {
      if (!isObject(operation)) return []
      const { operationId } = operation
      const id = typeof operationId === 'string' ? operationId : undefined
      return [{ root, path, method, id, operation: operation as Record<string, unknown> }]
    })
  })
}

const methodsOf = (item: unknown): [method: string, operation: unknown][] =>
  Object.entries(isObject(item) ? item : {}).flatMap(([name, each]): [string, unknown][] => {
    if (METHODS.includes(name)) return [[name, each]]
    return name === ADDITIONAL && isObject(each) ? Object.entries(each) : []
  })

/** Methods of OpenAPI 3.1, which openapi-typescript knows. */
const KNOWN = METHODS.filter((method) => method !== 'query')

/**
 * Gives operations whose methods openapi-typescript does not know a path of their own, under which they are the `get`.
 *
 * @param document is modified.
 */
function moveUnknown(
  document: object,
  operations: readonly WrittenOperation[],
): Omit<TypedOperation, 'id'>[] {
  const { paths } = document as { readonly paths?: Record<string, unknown> }
  return operations.map((each) => {
    const { root, path, method, operation } = each
    if (KNOWN.includes(method) || root !== 'paths') return each
    const own = `${path} ${method}`
    const { parameters } = paths![path] as { readonly parameters?: unknown }
    paths![own] = { ...(parameters !== undefined && { parameters }), get: operation }
    return { root, path: own, method: 'get' }
  })
}

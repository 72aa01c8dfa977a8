/**
 * The canonical version: the contract that handlers speak. The newest document, with what only translation needs: operations that
 * newer versions dropped, and every equality filter as a list, since one value of an old version may mean several.
 */

import type { Api, ApiOperation } from '../ir/model.ts'
import type { Change } from './change.ts'

export interface CanonicalOperation {
  readonly operation: ApiOperation
  /** The newest version that has it. */
  readonly api: Api
}

/**
 * @param apis oldest first.
 * @param changes what a lens says is served by another operation has no handler of its own.
 * @returns operations of all versions, each as the newest version that has it declares it.
 */
export function canonicalOperations(
  apis: readonly Api[],
  changes: readonly Pick<Change, 'lenses'>[] = [],
): readonly CanonicalOperation[] {
  const served = new Set(
    changes.flatMap(({ lenses }) => lenses.flatMap((lens) => (lens.kind === 'served' ? [lens.from] : []))),
  )
  const byId = new Map<string, CanonicalOperation>()
  for (const api of [...apis].reverse()) {
    for (const operation of api.operations)
      if (!byId.has(operation.id) && !served.has(operation.id)) byId.set(operation.id, { operation, api })
  }
  return [...byId.values()]
}

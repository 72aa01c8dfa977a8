/**
 * The canonical version: the contract that handlers implement. It is the newest document, plus the operations that
 * newer versions removed. Every equality filter is a list, because one value of an old version may map to several.
 */

import type { Api, ApiOperation } from '../ir/model.ts'
import type { Change } from './change.ts'

export interface CanonicalOperation {
  readonly operation: ApiOperation
  /** The newest version that has the operation. */
  readonly api: Api
}

/**
 * Collects the operations of all versions, each as the newest version that has it declares it.
 *
 * @param apis oldest first.
 * @param changes operations that a `served` lens maps to a different operation are left out: they have no handler.
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

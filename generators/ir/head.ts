/**
 * Head: the contract that handlers speak. The newest document, with what only translation needs: operations that
 * newer versions dropped, and every equality filter as a list, since one value of an old version may mean several.
 */
import type { Api, Operation } from './model.ts'

export interface HeadOperation {
  readonly operation: Operation
  /** The newest version that has it. */
  readonly api: Api
}

/** @param apis oldest first. @returns operations of all versions, each as the newest version that has it declares it. */
export function headOperations(apis: readonly Api[]): readonly HeadOperation[] {
  const byId = new Map<string, HeadOperation>()
  for (const api of [...apis].reverse()) {
    for (const operation of api.operations)
      if (!byId.has(operation.id)) byId.set(operation.id, { operation, api })
  }
  return [...byId.values()]
}

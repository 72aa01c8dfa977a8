/** Finds unresolvable references. Each is reported at its own line, whether or not it is used. */
import { indexReferences, lookUp } from '../runtime/explain/references.ts'

/** A reference, with the node that holds it and the pointer of that node. */
export interface WrittenReference {
  readonly pointer: string
  readonly node: object
  readonly ref: string
}

export interface ReferenceFault {
  readonly code: 'ref-external' | 'ref-missing' | 'ref-outside' | 'ref-remote' | 'ref-circular'
  readonly message: string
  readonly hint: string
}

/**
 * Returns the fault of an unresolvable reference.
 *
 * @param inside whether its target is in the same document.
 */
export function referenceFault(ref: string, inside: boolean): ReferenceFault {
  return inside || ref.startsWith('#')
    ? {
        code: 'ref-missing',
        message: `${ref} does not exist in this document`,
        hint: 'define it or correct the reference',
      }
    : {
        code: 'ref-external',
        message: `${ref} points outside this document`,
        hint: 'define the target in this document, or in a file next to it',
      }
}

/**
 * Returns the unresolvable references of a document, by the pointer of the node that holds each.
 *
 * @param known faults of references to other files, by the node that holds each.
 */
export function findDangling(
  json: Readonly<Record<string, unknown>>,
  written: readonly WrittenReference[],
  known: ReadonlyMap<object, ReferenceFault> = new Map(),
): ReadonlyMap<string, ReferenceFault> {
  if (written.length === 0) return new Map()
  const references = indexReferences(json, String(json.openapi).startsWith('3.0'))
  const found = new Map<string, ReferenceFault>()
  for (const { pointer, node, ref } of written) {
    const target = references.pointerOf(node, ref)
    const fault = known.get(node)
    if (fault) found.set(pointer, fault)
    else if (target === undefined || lookUp(json, target) === undefined)
      found.set(pointer, referenceFault(ref, target !== undefined))
  }
  return found
}

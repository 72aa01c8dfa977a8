/**
 * Why a value was refused, asked only after a validator said no. The schemas of a document become small functions the
 * first time they are needed; a walk gives up each branch at its first fault and stops after `limit` faults, so that a
 * large bad body costs little more than a small one. What stands here is copied into what is generated.
 */
import { knowDocument } from './explain/check.ts'
import { lookUp } from './explain/references.ts'
import type { Fault, Formats, Json, Known, Walk } from './explain/walk.ts'

export type { Fault } from './explain/walk.ts'

const documents = new WeakMap<Json, Known>()

/**
 * @param document the OpenAPI document as plain JSON; `pointer` (RFC 6901) names the schema in it.
 * @param formats checks of string formats, by name; others are not checked.
 * @returns at least one fault exactly when the value does not fit.
 */
export function explain(
  document: Json,
  pointer: string,
  value: unknown,
  formats: Formats,
  limit = 50,
): Fault[] {
  const known = documents.get(document) ?? knowDocument(document)
  documents.set(document, known)
  const walk: Walk = { formats, faults: [], limit, path: [] }
  try {
    known.checkOf(lookUp(document, pointer))?.(walk, value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // The validators refuse it for the same reason.
    return [{ field: '', issue: 'is nested too deeply', keyword: 'depth' }]
  }
  return walk.faults
}

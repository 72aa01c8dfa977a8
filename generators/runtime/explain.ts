/**
 * Why a value was refused, asked only after a validator said no. The schemas of a document become small functions the
 * first time they are needed; a walk gives up each branch at its first fault and stops after `limit` faults, so that a
 * large bad body costs little more than a small one. What stands here is copied into what is generated.
 */
import { splitAccess } from './explain/access.ts'
import { knowDocument } from './explain/check.ts'
import { lookUp } from './explain/references.ts'
import type { Fault, Formats, Json, KnownDocument, Walk } from './explain/walk.ts'

export type { Fault } from './explain/walk.ts'

interface Knowledge {
  /** What each direction asks for, told apart. */
  readonly document: Json
  readonly known: KnownDocument
}

const documents = new WeakMap<Json, Knowledge>()

function learn(given: Json): Knowledge {
  const document = splitAccess(given, false)
  return { document, known: knowDocument(document) }
}

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
  const knowledge = documents.get(document) ?? learn(document)
  documents.set(document, knowledge)
  const { known } = knowledge
  const walk: Walk = { formats, faults: [], limit, path: [] }
  try {
    known.checkOf(lookUp(knowledge.document, pointer))?.(walk, value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // The validators refuse it for the same reason.
    return [{ field: '', issue: 'is nested too deeply', keyword: 'depth' }]
  }
  return walk.faults
}

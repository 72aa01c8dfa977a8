/**
 * Explains why a validator refused a value. Schemas are compiled into small functions when they are first needed. Each
 * branch stops at its first problem, and the whole check stops after `limit` problems, so a large invalid body costs
 * little more than a small one.
 */
import { splitAccess } from './explain/access.ts'
import { knowDocument } from './explain/check.ts'
import { lookUp } from './explain/references.ts'
import type { Check, Fault, Formats, Json, KnownDocument, Walk } from './explain/walk.ts'

export type { Fault } from './explain/walk.ts'

interface Knowledge {
  /** The document with separate schemas for requests and responses. */
  readonly document: Json
  readonly known: KnownDocument
  /** By pointer, because finding a schema may take longer than checking a small value. */
  readonly checks: Map<string, Check | undefined>
}

const documents = new WeakMap<Json, Knowledge>()

function learn(given: Json): Knowledge {
  const document = splitAccess(given, false)
  return { document, known: knowDocument(document), checks: new Map() }
}

function checkAt({ document, known, checks }: Knowledge, pointer: string): Check | undefined {
  if (!checks.has(pointer)) checks.set(pointer, known.checkOf(lookUp(document, pointer)))
  return checks.get(pointer)
}

/**
 * Finds the problems of a value.
 *
 * @param document the OpenAPI document as plain JSON; `pointer` (RFC 6901) locates the schema in it.
 * @param formats checks of string formats by name; other formats are not checked.
 * @returns at least one problem if the value is invalid, and none otherwise.
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
  const walk: Walk = { formats, faults: [], limit, path: [] }
  try {
    checkAt(knowledge, pointer)?.(walk, value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // The value exhausts the stack, as it does in the validators, which refuse it for this reason.
    return [{ path: [], field: '', issue: 'is nested too deeply', keyword: 'depth' }]
  }
  return walk.faults
}

/** Returns the issue of a fault, with the name that was probably meant. */
export const issueOf = ({ issue, meant }: Fault): string =>
  meant === undefined ? issue : `${issue} (did you mean ${meant}?)`

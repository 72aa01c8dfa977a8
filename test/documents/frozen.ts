/** What of a document callers can tell apart on the wire: all but its words and its examples. */
import { createHash } from 'node:crypto'

/** Members of OpenAPI that are words or examples, and those of extensions. */
const TEXT = new Set([
  'description',
  'summary',
  'title',
  'example',
  'examples',
  'externalDocs',
  'x-displayName',
  'x-enumDescriptions',
])

/** Members whose own members have names of the document's choice, so that `example` is a name there. */
const NAMED = new Set(['properties', 'patternProperties', 'schemas', 'parameters', 'headers', 'responses'])

function wireOf(value: unknown, isNamed: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => wireOf(each, false))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .filter(([name]) => isNamed || !TEXT.has(name))
    .map(([name, each]) => [name, wireOf(each, !isNamed && NAMED.has(name))] as const)
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** @returns SHA-256, in hexadecimal, of what two documents have in common that differ in text only. */
export const wireHash = (document: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(wireOf(document, false)))
    .digest('hex')

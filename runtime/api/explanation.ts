/** Reads the documents of versions, and explains why a value does not match a schema. */

import { readFileSync } from 'node:fs'
import type { Detail } from 'dateline/runtime'
import { explain } from 'dateline/runtime/explain'
import { formats } from 'dateline/runtime/formats'
import { MAX_DETAILS } from './errors/errors.ts'

export interface ParsedDocument {
  /** The parsed document; parsed at the first call. */
  parsed(): Readonly<Record<string, unknown>>
}

export interface ApiDocument extends ParsedDocument {
  readonly bytes: Buffer
}

export function readDocument(version: string): ApiDocument {
  const bytes = readFileSync(new URL(`../../generated/${version}/openapi.json`, import.meta.url))
  let object: Readonly<Record<string, unknown>> | undefined
  return {
    bytes,
    parsed() {
      object ??= JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>
      return object
    },
  }
}

export interface VersionedSchema {
  readonly version: { readonly name: string; readonly document: ParsedDocument }
  readonly pointer: string
}

const faultsOf = ({ version, pointer }: VersionedSchema, value: unknown) =>
  explain(version.document.parsed(), pointer, value, formats, MAX_DETAILS)

/** Schema keywords about names and words that a different version may know. */
const UNKNOWN = new Set(['additionalProperties', 'const', 'discriminator', 'enum'])

/**
 * Explains why a schema's validator refused a value. Returns at least one fault. For an unknown name or word, the
 * fault names a version that knows it, or else a similar one that the schema knows.
 *
 * @param history the same schema in all versions that have it, including this one, oldest first.
 */
export function explainAll(
  schema: VersionedSchema,
  value: unknown,
  history: readonly VersionedSchema[] = [],
): Detail[] {
  const faults = faultsOf(schema, value)
  if (faults.length === 0) return [{ field: '', issue: 'does not match its schema' }]
  const here = history.findIndex(({ version }) => version === schema.version)
  // The nearest version first, in both directions.
  const others = faults.some(({ keyword }) => UNKNOWN.has(keyword))
    ? [
        ...history.slice(here + 1).map((other) => ({ other, word: 'since' })),
        ...history
          .slice(0, Math.max(here, 0))
          .toReversed()
          .map((other) => ({ other, word: 'until' })),
      ].map(({ other, word }) => ({
        known: ` (known ${word} ${other.version.name})`,
        unknown: new Set(faultsOf(other, value).map(({ field }) => field)),
      }))
    : []
  return faults.map(({ field, issue, keyword, meant }) => {
    const other = UNKNOWN.has(keyword) ? others.find(({ unknown }) => !unknown.has(field)) : undefined
    return { field, issue: `${issue}${other?.known ?? didYouMean(meant)}` }
  })
}

/** Returns a suffix for an error message; empty if there is no similar name. */
export const didYouMean = (meant: string | undefined): string =>
  meant === undefined ? '' : ` (did you mean ${meant}?)`

/** Returns only the faults about types. */
export function explainTypes(document: ParsedDocument, pointer: string, value: unknown): Detail[] {
  return explain(document.parsed(), pointer, value, formats, MAX_DETAILS)
    .filter(({ keyword }) => keyword === 'type')
    .map(({ field, issue }) => ({ field, issue }))
}

export function explainFirst(schema: VersionedSchema, value: unknown): Detail {
  return explainAll(schema, value)[0]!
}

/** Matches integers written like `1.0` or `1e2`. May also match inside strings, so a match is only a first check. */
const SUSPICIOUS = /[[:,]\s*-?\d+(?:\.0+(?!\d)|(?:\.\d+)?[eE])/

const SPELLING = /[.eE]/

/** JSON.parse with source text access, which TypeScript does not declare yet. */
const parseWithSource = JSON.parse as (
  text: string,
  revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

/**
 * Finds integers that are written as fractions or with exponents where the schema requires an integer. JavaScript
 * reads `100.0` as an integer, but other languages read a float. The body must already be valid. For most bodies,
 * this costs one regular expression.
 */
export function findMisspelt(bytes: Buffer, document: ParsedDocument, pointer: string): Detail[] {
  const text = bytes.toString('latin1')
  if (!SUSPICIOUS.test(text)) return []
  // Adding 0.5 makes such a number a fraction. If the schema then refuses it, it requires an integer there.
  const shifted = parseWithSource(bytes.toString(), (_name, value, { source = '' }) =>
    Number.isInteger(value) && SPELLING.test(source) ? (value as number) + 0.5 : value,
  )
  return explainTypes(document, pointer, shifted)
}

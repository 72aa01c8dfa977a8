/** The documents of versions, and what is wrong with a value that one does not allow. */

import { readFileSync } from 'node:fs'
import type { Detail } from 'dateline/runtime'
import { explain } from 'dateline/runtime/explain'
import { formats } from 'dateline/runtime/formats'
import { MAX_DETAILS } from './errors/errors.ts'

/** The OpenAPI document of one version. */
export interface ApiDocument {
  /** As served. */
  readonly bytes: Buffer
  /** As an object, parsed when first asked for. */
  parsed(): Readonly<Record<string, unknown>>
}

/** Reads the generated document of a version. */
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

/** A schema of one version. */
export interface VersionedSchema {
  readonly version: { readonly name: string; readonly document: ApiDocument }
  readonly pointer: string
}

const faultsOf = ({ version, pointer }: VersionedSchema, value: unknown) =>
  explain(version.document.parsed(), pointer, value, formats, MAX_DETAILS)

/** Faults of names and words that another version may know. */
const UNKNOWN = new Set(['additionalProperties', 'const', 'discriminator', 'enum'])

/**
 * What is wrong with a value that the schema's validator refused: at least one fault. What is not known is told with the
 * version that knows it, or else with what was probably meant.
 *
 * @param history the same schema in the versions that have it, this one too, oldest first.
 */
export function explainAll(
  schema: VersionedSchema,
  value: unknown,
  history: readonly VersionedSchema[] = [],
): Detail[] {
  const faults = faultsOf(schema, value)
  if (faults.length === 0) return [{ field: '', issue: 'does not fit its description' }]
  const here = history.findIndex(({ version }) => version === schema.version)
  // The nearest first, on either side.
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

/** Words to be put behind what is wrong, or none. */
export const didYouMean = (meant: string | undefined): string =>
  meant === undefined ? '' : ` (did you mean ${meant}?)`

/** Those faults of a value that are about types. */
export function explainTypes(document: ApiDocument, pointer: string, value: unknown): Detail[] {
  return explain(document.parsed(), pointer, value, formats, MAX_DETAILS)
    .filter(({ keyword }) => keyword === 'type')
    .map(({ field, issue }) => ({ field, issue }))
}

export function explainFirst(schema: VersionedSchema, value: unknown): Detail {
  return explainAll(schema, value)[0]!
}

/** A number that is whole and is not written so: `1.0`, `1e2`. In text it may only look like one. */
const SUSPICIOUS = /[[:,]\s*-?\d+(?:\.0+(?!\d)|(?:\.\d+)?[eE])/

const SPELLING = /[.eE]/

/** ECMAScript's source text access, which TypeScript does not describe yet. */
const parseWithSource = JSON.parse as (
  text: string,
  revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

/**
 * Finds whole numbers that are written as fractions or with exponents where the schema wants integers: `100.0` is a float
 * to every reader but JavaScript. The body has been found valid; most bodies cost one look at their text.
 */
export function findMisspelt(bytes: Buffer, document: ApiDocument, pointer: string): Detail[] {
  const text = bytes.toString('latin1')
  if (!SUSPICIOUS.test(text)) return []
  // With a half added such a number is no integer: where the schema refuses that, it is misspelt.
  const shifted = parseWithSource(bytes.toString(), (_name, value, { source = '' }) =>
    Number.isInteger(value) && SPELLING.test(source) ? (value as number) + 0.5 : value,
  )
  return explainTypes(document, pointer, shifted)
}

/** The documents of versions, and what is wrong with a value that one does not allow. */

import { readFileSync } from 'node:fs'
import ajvFormats from 'ajv-formats/dist/formats.js'
import type { Detail } from 'dateline/runtime'
import { explain } from 'dateline/runtime/explain'
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

type FormatCheck = (text: string) => boolean

/** The checks of string formats that the generated validators use. */
const formats: Readonly<Record<string, FormatCheck>> = Object.fromEntries(
  Object.entries(ajvFormats.fullFormats).flatMap(([name, format]) => {
    const check = toCheck(format)
    return check ? [[name, check]] : []
  }),
)

function toCheck(format: unknown): FormatCheck | undefined {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format as FormatCheck
  if (typeof format !== 'object' || format === null || !('validate' in format)) return undefined
  return toCheck(format.validate)
}

/** What is wrong with a value that the schema's validator refused: at least one fault. */
export function explainAll(document: ApiDocument, pointer: string, value: unknown): Detail[] {
  const faults = explain(document.parsed(), pointer, value, formats, MAX_DETAILS)
  if (faults.length === 0) return [{ field: '', issue: 'does not fit its description' }]
  return faults.map(({ field, issue }) => ({ field, issue }))
}

/** Those faults of a value that are about types. */
export function explainTypes(document: ApiDocument, pointer: string, value: unknown): Detail[] {
  return explain(document.parsed(), pointer, value, formats, MAX_DETAILS)
    .filter(({ keyword }) => keyword === 'type')
    .map(({ field, issue }) => ({ field, issue }))
}

export function explainFirst(document: ApiDocument, pointer: string, value: unknown): Detail {
  return explainAll(document, pointer, value)[0]!
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

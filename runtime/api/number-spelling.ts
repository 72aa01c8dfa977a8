import type { Detail } from '../contract.ts'
import type { ApiDocument } from './documents.ts'
import { explainTypes } from './explanation.ts'

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

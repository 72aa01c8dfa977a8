import ajvFormats from 'ajv-formats/dist/formats.js'
import { explain } from 'dateline/runtime/explain'
import type { Detail } from '../contract.ts'
import type { ApiDocument } from './documents.ts'
import { MAX_DETAILS } from './errors.ts'

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

/** The checks of string formats that generated validators use, for `explain`. */
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Formats } from './explain/walk.ts'

type FormatCheck = (text: string) => boolean

function toCheck(format: unknown): FormatCheck | undefined {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format as FormatCheck
  if (typeof format !== 'object' || format === null || !('validate' in format)) return undefined
  return toCheck(format.validate)
}

/** Checks by the name of their format. */
export const formats: Formats = Object.fromEntries(
  Object.entries(fullFormats).flatMap(([name, format]) => {
    const check = toCheck(format)
    return check ? [[name, check]] : []
  }),
)

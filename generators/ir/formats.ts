/** Checks of string formats by name, as the validators perform them. */
import ajvFormats from 'ajv-formats/dist/formats.js'

type FormatCheck = (text: string) => boolean

/** Formats without an entry are only annotations. */
export const FORMAT_CHECKS: Readonly<Record<string, FormatCheck>> = Object.fromEntries(
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

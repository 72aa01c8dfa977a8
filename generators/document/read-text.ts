/** Parses one file, and reports its errors. */
import type { Report } from '../diagnostics/diagnostic.ts'
import { createLocator, type Locator } from './locate.ts'
import { readLocated, readValue } from './read-yaml.ts'

export interface ReadText {
  readonly json: unknown
  readonly locator: Locator
  /** All values of each repeated key, by pointer. */
  readonly repeated: ReadonlyMap<string, readonly unknown[]>
}

/**
 * Returns the value of a YAML or JSON text, or undefined after reporting syntax errors.
 *
 * @param keepsRepeated whether the last value of a repeated key counts, after an error.
 */
export function readText(
  file: string,
  text: string,
  report: Report,
  keepsRepeated = false,
): ReadText | undefined {
  const quick = readValue(text)
  if (quick) return { json: quick.value, locator: createLocator(text), repeated: new Map() }
  const { value, offsets, errors, repeated } = readLocated(text)
  const locator = createLocator(text, offsets)
  for (const { offset, message } of errors) {
    const hint = keepsRepeated ? 'correct the YAML' : 'correct the YAML; nothing was generated'
    const place = { file, ...locator.ofOffset(offset), pointer: '' }
    report.add({ code: 'document-syntax', severity: 'error', place, message, hint })
  }
  const isRead = errors.length === 0 || (keepsRepeated && value !== undefined)
  return isRead ? { json: value, locator, repeated } : undefined
}

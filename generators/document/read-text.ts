/** Parses one file, and reports its errors. */
import type { Report } from '../diagnostics/diagnostic.ts'
import { createLocator, type Locator } from './locate.ts'
import { readLocated, readValue } from './read-yaml.ts'

export interface ReadText {
  readonly json: unknown
  readonly locator: Locator
}

/** Returns the value of a YAML or JSON text, or undefined after reporting syntax errors. */
export function readText(file: string, text: string, report: Report): ReadText | undefined {
  const quick = readValue(text)
  if (quick) return { json: quick.value, locator: createLocator(text) }
  const { value, offsets, errors } = readLocated(text)
  const locator = createLocator(text, offsets)
  for (const { offset, message } of errors) {
    const hint = 'correct the YAML; nothing was generated'
    const place = { file, ...locator.ofOffset(offset), pointer: '' }
    report.add({ code: 'document-syntax', severity: 'error', place, message, hint })
  }
  return errors.length > 0 ? undefined : { json: value, locator }
}

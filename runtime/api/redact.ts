/** Removes secrets and card numbers from requests for the request log, and shortens them. */

import { REDACTED, redactCardNumbers } from '../platform/card-numbers.ts'
import { redactCredentials } from '../platform/log.ts'
import type { ApiDocument } from './explanation.ts'

/** Maximum number of characters of a body that are stored. */
const MAX_KEPT = 8192

/** Bodies that may contain secrets and are longer than this are not parsed, and so not stored. */
const MAX_READ = 256 * 1024

const TOO_LONG = '[too long to store]'

/** Returns the names of all properties that any document marks with `x-sensitive`. */
export function sensitiveNames(documents: readonly ApiDocument[]): ReadonlySet<string> {
  const names = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties') {
        for (const [name, schema] of Object.entries(value as object)) if (isSensitive(schema)) names.add(name)
      }
      visit(value)
    }
  }
  // Parsed here and discarded, so that the objects do not stay in memory.
  for (const { bytes } of documents) visit(JSON.parse(bytes.toString()))
  return names
}

function isSensitive(schema: unknown): boolean {
  return (
    typeof schema === 'object' && schema !== null && 'x-sensitive' in schema && schema['x-sensitive'] === true
  )
}

/** Returns a body as it is stored. @param names properties whose values are removed. */
export function redact(body: unknown, names: ReadonlySet<string>): string {
  const text = JSON.stringify(body, (name, value: unknown) =>
    names.has(name) && value !== null ? REDACTED : value,
  )
  return shorten(text)
}

/** Returns JSON text as it is stored. @param mayHoldSecrets whether to parse it and remove sensitive values. */
export function redactText(text: string, mayHoldSecrets: boolean, names: ReadonlySet<string>): string {
  if (!mayHoldSecrets) return shorten(text)
  return text.length > MAX_READ ? TOO_LONG : redact(JSON.parse(text), names)
}

/** Removes credentials and card numbers from any text. */
export const redactSecrets = (text: string): string => redactCardNumbers(redactCredentials(text))

/** Matches the beginning of a card number at the end of a truncated text. */
const CUT_NUMBER = /\d[\d +-]{0,24}$/

function shorten(text: string): string {
  if (text.length <= MAX_KEPT) return redactSecrets(text)
  return `${redactSecrets(text.slice(0, MAX_KEPT).replace(CUT_NUMBER, ''))}…`
}

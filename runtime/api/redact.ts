/** What the request log keeps of requests: without secrets and card numbers, and not too long. */

import { redactCardNumbers } from '../platform/card-numbers.ts'
import { redactCredentials } from '../platform/log.ts'
import type { ApiDocument } from './explanation.ts'

const REDACTED = '[redacted]'

/** Characters of a body that are kept. */
const MAX_KEPT = 8192

/** Longer ones are not even looked into. */
const MAX_READ = 256 * 1024

const TOO_LONG = '[too long to be kept]'

/** Names of properties that any of the documents marks with `x-sensitive`, at whatever place. */
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
  // Looked through once: not kept as objects.
  for (const { bytes } of documents) visit(JSON.parse(bytes.toString()))
  return names
}

function isSensitive(schema: unknown): boolean {
  return (
    typeof schema === 'object' && schema !== null && 'x-sensitive' in schema && schema['x-sensitive'] === true
  )
}

/** A body as it is kept. @param names of properties whose values are not. */
export function redact(body: unknown, names: ReadonlySet<string>): string {
  const text = JSON.stringify(body, (name, value: unknown) =>
    names.has(name) && value !== null ? REDACTED : value,
  )
  return shorten(text)
}

/** JSON as it is kept. @param mayHoldSecrets whether it is worth looking into. */
export function redactText(text: string, mayHoldSecrets: boolean, names: ReadonlySet<string>): string {
  if (!mayHoldSecrets) return shorten(text)
  return text.length > MAX_READ ? TOO_LONG : redact(JSON.parse(text), names)
}

/** Takes credentials and card numbers out of a text, wherever in it they are. */
export const redactSecrets = (text: string): string => redactCardNumbers(redactCredentials(text))

/** The beginning of a card number at the end of a text that was cut. */
const CUT_NUMBER = /\d[\d +-]{0,24}$/

function shorten(text: string): string {
  if (text.length <= MAX_KEPT) return redactSecrets(text)
  return `${redactSecrets(text.slice(0, MAX_KEPT).replace(CUT_NUMBER, ''))}…`
}

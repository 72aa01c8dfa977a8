import { scanJson } from './scan-json.ts'

/**
 * Parses JSON that a different system sent. Rejects objects with a repeated member, because parsers disagree on which
 * one counts.
 *
 * @throws SyntaxError for text that is not JSON, and for an object with a repeated member.
 */
export function parsePeerJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (scanJson(Buffer.from(text)).colons !== countColons(value))
    throw new SyntaxError('an object has a repeated member')
  return value
}

/**
 * Counts members and the colons in names and strings. `scanJson` returns the same number for text without repeated
 * members.
 */
function countColons(value: unknown): number {
  let colons = 0
  // A stack instead of recursion, because the text may be nested deeper than the call stack allows.
  const left = [value]
  while (left.length > 0) {
    const each = left.pop()
    if (typeof each === 'string') colons += each.split(':').length - 1
    else if (Array.isArray(each)) for (const item of each) left.push(item)
    else if (typeof each === 'object' && each !== null) {
      for (const [name, member] of Object.entries(each)) {
        colons += name.split(':').length
        left.push(member)
      }
    }
  }
  return colons
}

import { scanJson } from './scan-json.ts'

/**
 * Parses JSON that another system sent. Where an object names a member twice, readers take different ones, so such text
 * decides nothing.
 *
 * @throws SyntaxError for text that is not JSON, and for an object with a member twice.
 */
export function parsePeerJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (scanJson(Buffer.from(text)).colons !== countColons(value))
    throw new SyntaxError('an object has a member twice')
  return value
}

/** Members, and the colons within names and strings: what `scanJson` counts in text without repeated members. */
function countColons(value: unknown): number {
  let colons = 0
  // A list of what is left, since text may be nested deeper than calls can be.
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

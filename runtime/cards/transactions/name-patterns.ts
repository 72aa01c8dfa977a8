/** Patterns of merchant names: `*` matches any text, case does not matter. */

/** A pattern, cut at each `*`. */
type Parts = readonly string[]

const compiled = new WeakMap<readonly string[], readonly Parts[]>()

/** Names differ in case and in compatible forms of a character (Unicode NFKC), such as full-width letters. */
const plain = (text: string) => text.normalize('NFKC').toLowerCase()

/**
 * Returns whether a name matches one of the patterns. Each part of a pattern is looked for once, behind the previous part, so
 * no pattern makes the time grow faster than the product of the lengths.
 */
export function matchesName(patterns: readonly string[], name: string): boolean {
  let known = compiled.get(patterns)
  if (!known) {
    known = patterns.map((pattern) => plain(pattern).split('*'))
    compiled.set(patterns, known)
  }
  const text = plain(name)
  return known.some((parts) => matches(parts, text))
}

function matches(parts: Parts, text: string): boolean {
  const [first = '', ...others] = parts
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

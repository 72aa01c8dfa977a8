/**
 * Serializes a JSON value in canonical form (RFC 8785): members sorted by UTF-16 code units, numbers and strings as
 * in ECMAScript. Two bodies that differ only in member order or whitespace give the same text.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
}

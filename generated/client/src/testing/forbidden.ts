/** Rejects values that are valid JSON but unsafe in parameters and forms. */
import type { Detail } from './contract.ts'

/** Maximum nesting depth of objects and lists. */
const MAX_DEPTH = 32

/**
 * Finds a `__proto__` member, a NUL character, or excessive nesting. @returns the first problem; undefined if there is
 * none.
 */
export function findForbidden(value: unknown, depth = 0): Detail | undefined {
  if (typeof value === 'string')
    return value.includes('\0') ? { field: '', issue: 'must not contain U+0000' } : undefined
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === MAX_DEPTH) return { field: '', issue: `is nested deeper than ${MAX_DEPTH} levels` }
  const isList = Array.isArray(value)
  for (const [name, each] of Object.entries(value)) {
    if (name === '__proto__') return { field: name, issue: 'is not allowed as a name' }
    const found = findForbidden(each, depth + 1)
    if (found) return { field: joinField(isList ? `[${name}]` : name, found.field), issue: found.issue }
  }
  return undefined
}

/** Joins field paths: `filter.name`, `filter[0]`. */
export const joinField = (outer: string, inner: string): string =>
  inner === '' || inner.startsWith('[') ? outer + inner : `${outer}.${inner}`

import type { Detail } from 'dateline/runtime'

type Members = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Applies a JSON merge patch (RFC 7396). Does not change its arguments. The result is built without assignment, so a
 * name such as `__proto__` is an ordinary member.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  }
  return Object.fromEntries(merged)
}

const MAX_PAIRS = 50

/** Checks the result of a patch: a valid patch may still lead to too many pairs. */
export function checkMetadata(metadata: Readonly<Record<string, string>>): Detail[] {
  if (Object.keys(metadata).length <= MAX_PAIRS) return []
  return [{ field: 'metadata', issue: `must not have more than ${MAX_PAIRS} pairs` }]
}

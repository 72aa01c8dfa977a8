import type { Detail } from 'dateline/runtime'

type Members = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Applies a JSON merge patch (RFC 7396): absent members stay, null removes, objects merge, everything else replaces.
 * Neither argument changes. Members are defined, never assigned, so a name such as `__proto__` is a name like others.
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

/** A patch that fits may still leave too many pairs behind. */
export function checkMetadata(metadata: Readonly<Record<string, string>>): Detail[] {
  if (Object.keys(metadata).length <= MAX_PAIRS) return []
  return [{ field: 'metadata', issue: `must not have more than ${MAX_PAIRS} pairs` }]
}

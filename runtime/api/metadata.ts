import type { Detail } from '../contract.ts'

const MAX_PAIRS = 50

/** A patch that fits may still leave too many pairs behind. */
export function checkMetadata(metadata: Readonly<Record<string, string>>): Detail[] {
  if (Object.keys(metadata).length <= MAX_PAIRS) return []
  return [{ field: 'metadata', issue: `must not have more than ${MAX_PAIRS} pairs` }]
}

import type { Detail } from 'dateline/runtime'
import { parseInstant } from '../../platform/instants.ts'

/** Parses the expiry time of a pass. Returns whole milliseconds since the epoch, or the validation problem. */
export function readExpiry(text: string, now: number): number | Detail {
  const instant = parseInstant(text)
  if (instant === undefined) {
    return {
      field: 'expires_at',
      issue: 'is not a valid date and time in the years 0001 to 9999 (UTC)',
    }
  }
  if (instant <= now) return { field: 'expires_at', issue: 'must be in the future' }
  return Math.floor(instant)
}

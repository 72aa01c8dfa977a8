import type { Detail } from 'dateline/runtime'
import { parseInstant } from '../../platform/instants.ts'

/** Reads when a pass expires: whole milliseconds since the epoch, or what is wrong with the text. */
export function readExpiry(text: string, now: number): number | Detail {
  const instant = parseInstant(text)
  if (instant === undefined) {
    return {
      field: 'expires_at',
      issue: 'is no instant of the calendar within the years 0001 to 9999 in UTC',
    }
  }
  if (instant <= now) return { field: 'expires_at', issue: 'must lie ahead' }
  return Math.floor(instant)
}

import type { Detail } from '../contract.ts'

/** Reads when a pass expires: milliseconds since the epoch, or what is wrong with the text. */
export function readExpiry(text: string, now: number): number | Detail {
  const instant = Date.parse(text)
  if (Number.isNaN(instant)) return { field: 'expires_at', issue: 'is no instant of the calendar' }
  if (instant <= now) return { field: 'expires_at', issue: 'must lie ahead' }
  return instant
}

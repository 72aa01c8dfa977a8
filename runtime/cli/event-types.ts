/** The event types of the newest API version. */
import { events } from '../../generated/2026-05-19/events.ts'
import { MisuseError } from './terminal/failures.ts'

export const EVENT_TYPES: readonly string[] = Object.keys(events)

/**
 * Reads a comma-separated list of event types. Returns undefined if it contains `*`, which means all.
 * @throws MisuseError for an unknown type, which would never occur.
 */
export function readTypes(text: string): ReadonlySet<string> | undefined {
  const types = text.split(',').map((type) => type.trim())
  const unknown = types.filter((type) => type !== '*' && !EVENT_TYPES.includes(type))
  if (unknown.length > 0) {
    throw new MisuseError(
      `unknown event type ${unknown.join(', ')}; expected one of:\n  ${EVENT_TYPES.join('\n  ')}`,
    )
  }
  return types.includes('*') ? undefined : new Set(types)
}

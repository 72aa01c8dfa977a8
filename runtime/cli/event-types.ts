/** The types of events that the newest version has. */
import { events } from '../../generated/2026-05-19/events.ts'
import { MisuseError } from './terminal/failures.ts'

/** In the order of the document. */
export const EVENT_TYPES: readonly string[] = Object.keys(events)

/**
 * @returns undefined for all of them.
 * @throws MisuseError for a type that is misspelt: it would never come.
 */
export function readTypes(text: string): ReadonlySet<string> | undefined {
  const types = text.split(',').map((type) => type.trim())
  const unknown = types.filter((type) => type !== '*' && !EVENT_TYPES.includes(type))
  if (unknown.length > 0) {
    throw new MisuseError(
      `there is no event type ${unknown.join(', ')}; these there are:\n  ${EVENT_TYPES.join('\n  ')}`,
    )
  }
  return types.includes('*') ? undefined : new Set(types)
}

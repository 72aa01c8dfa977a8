/** Breaking changes that vendors made, as data: the page shows them, and a test carries each one. */
import type { ExampleFragments } from '../run-example.ts'

/** Who made a change, and when. */
interface Announced {
  readonly vendor: string
  /** The version or date, as the vendor writes it. */
  readonly date: string
  /** One sentence. */
  readonly what: string
}

/** A value of both versions. */
export interface CarriedValue {
  readonly old: unknown
  readonly new: unknown
  /** The only direction in which the value is translated. */
  readonly only?: 'up' | 'down'
  /**
   * A part of the first operation: `operation` (its id), `request` (its parts), `query`, `path`, `headers`, `status`, `event` (its name), a status with its
   * body, or the new name of an event. Absent for the body and the success response.
   */
  readonly at?: string
}

/** A change that lenses carry. */
export interface CarriedChange extends Announced, ExampleFragments {
  /** Source text of the lenses. */
  readonly lens: string
  /** What a caller of the old version does not see, or the placeholder that it gets. */
  readonly note?: string
  readonly values: readonly CarriedValue[]
}

/** A change that no lens carries. */
export interface UncarriedChange extends Announced {
  readonly reason: string
}

export type RealChange = CarriedChange | UncarriedChange

export const isCarried = (change: RealChange): change is CarriedChange => 'lens' in change

/** Returns the directions in which a value is translated: requests up, responses and events down. */
export function directionsOf(
  { paths, use = 'both' }: CarriedChange,
  { only, at }: CarriedValue,
): readonly ('up' | 'down')[] {
  if (only) return [only]
  if (at !== undefined) return /^(operation|request|query|path|headers)$/.test(at) ? ['up'] : ['down']
  if (paths !== undefined || use === 'both') return ['up', 'down']
  return use === 'request' ? ['up'] : ['down']
}

import type { EventPayloads } from '../../generated/canonical/events.ts'
import type { EmittedEvent, NewEvent } from '../contract.ts'

/** Types whose events carry `previous_attributes`. */
type ChangeType = {
  [Type in keyof EventPayloads]: EventPayloads[Type] extends { previous_attributes: unknown } ? Type : never
}[keyof EventPayloads]

/** A typed event: what belongs to its type, and the state before where it tells of a change. */
export type TypedEvent<Type extends keyof EventPayloads> = {
  readonly type: Type
  readonly data: EventPayloads[Type]['data']
  readonly recipients?: NewEvent['recipients']
} & (Type extends ChangeType ? { readonly before: EventPayloads[Type]['data'] } : { readonly before?: never })

/** Whoever collects events for a transaction: the context of a request, or a worker's own. */
export interface Emitter {
  emit(event: NewEvent): EmittedEvent | undefined
}

/**
 * Records that something happened; it is written with the rest of the transaction, or not at all.
 *
 * @returns the event as it will be sent; undefined where the tenant's version does not have its type, or nothing changed.
 */
export function emit<Type extends keyof EventPayloads>(
  emitter: Emitter,
  event: TypedEvent<Type>,
): EmittedEvent | undefined {
  return emitter.emit(event as NewEvent)
}

/** Ends the waiting period of destinations: screens them again, activates or denies them, and emits events. */
import type { Context } from '../../api/handler.ts'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type EventSink, emit } from '../../events/emit/emit.ts'
import { lockHeldOf, removeDefault, updateDestination } from './queries.ts'
import { isListed } from './screening.ts'
import { activate, deny } from './states.ts'
import { showDestination } from './view.ts'

/** The context in which the destinations of one tenant are written. */
export interface HeldPlace {
  readonly db: Database
  readonly space: string
  /** Returns the event sink for a time on the settlement clock. */
  readonly eventsAt: (at: number) => EventSink
  readonly sanctions: Context['sanctions']
}

/** An ended waiting period, with the action for the audit log. */
export interface EndedHold {
  readonly id: string
  readonly action: 'payout_destination.activated' | 'payout_destination.denied'
}

/** Maximum number of waiting periods that one transaction ends. */
export const MAX_ENDED = 100

/**
 * Ends the overdue waiting periods of one tenant, at most `MAX_ENDED`, in the caller's transaction.
 * @param now service time.
 * @param time time on the tenant's settlement clock.
 */
export async function endHolds(
  { db, space, eventsAt, sanctions }: HeldPlace,
  now: number,
  time: number,
): Promise<readonly EndedHold[]> {
  const held = await lockHeldOf(db, space, time, MAX_ENDED)
  return held.map((row) => {
    const isDenied = isListed(sanctions.list(), row)
    const after = isDenied ? deny(row, now) : activate(row, now)
    pipelined(updateDestination(db, space, after))
    if (isDenied) pipelined(removeDefault(db, space, row.id))
    const action = isDenied ? 'payout_destination.denied' : 'payout_destination.activated'
    emit(eventsAt(row.active_at!), { type: action, data: { payout_destination: showDestination(after) } })
    return { id: row.id, action }
  })
}

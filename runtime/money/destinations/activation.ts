/** The end of holds: destinations are screened once more and become active, and that is told. */
import type { Context } from '../../api/handler.ts'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type EventSink, emit } from '../../events/emit/emit.ts'
import { lockHeldOf, removeDefault, updateDestination } from './queries.ts'
import { isListed } from './screening.ts'
import { activate, deny } from './states.ts'
import { showDestination } from './view.ts'

/** Where destinations of one tenant are written. */
export interface HeldPlace {
  readonly db: Database
  readonly space: string
  /** What tells of something that happens at a time by the settlement clock. */
  readonly eventsAt: (at: number) => EventSink
  readonly sanctions: Context['sanctions']
}

/** What happened to one, as the audit log calls it. */
export interface EndedHold {
  readonly id: string
  readonly action: 'payout_destination.activated' | 'payout_destination.denied'
}

/** Holds of a tenant that one transaction ends. */
export const MAX_ENDED = 100

/**
 * Ends the holds of one tenant that are over, `MAX_ENDED` at most, in the caller's transaction.
 *
 * @param now service time. @param time the tenant's settlement clock.
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

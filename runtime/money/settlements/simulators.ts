/** Sandbox simulators: advance the settlement clock and fail settlements. */

import type { TestSettlementsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { expire } from '../../cards/transactions/expiry-job.ts'
import {
  type CardTransactionRow,
  findOverdueHoldsOf,
  lockCardTransactions,
  readNextExpiry,
} from '../../cards/transactions/queries.ts'
import type { Database } from '../../database/database.ts'
import type { NewEvent } from '../../events/emit/queries.ts'
import { writeInstant } from '../../platform/instants.ts'
import { endHolds } from '../destinations/activation.ts'
import { readNextActivation } from '../destinations/queries.ts'
import { lockClock, moveClock, readClockOffset } from '../settlement-lines/clock.ts'
import { writeMove } from '../settlement-lines/lines.ts'
import { lockSettlement, readNextDue, readSettlement } from '../settlement-lines/queries.ts'
import { showSettlement } from '../settlement-lines/view.ts'
import { moveSettlements, type PlaceAt } from './moving.ts'
import { fail, timeOf } from './states.ts'

type Advance = components['schemas']['SettlementClockAdvance']

/** Maximum number of holds that expire in the request. Workers expire the rest immediately afterwards. */
const MAX_HOLDS = 200

/** Latest time of the clock, so that all later times are before the year 10000. */
const LAST = Date.UTC(9001, 0)

export const settlementSimulators = {
  async advanceSettlementClock(context, { body = {} }) {
    requireOneWay(body)
    const { caller, db, request, sanctions } = context
    const { now } = request
    const { space } = caller
    // Lock order: cards before the clock, like transactions that open a settlement.
    const seen = await targetOf(db, space, body, now, await readClockOffset(db, space))
    const holds = await lockCardTransactions(db, space, await findOverdueHoldsOf(db, space, seen, MAX_HOLDS))
    const offset = await lockClock(db, space)
    const target = await targetOf(db, space, body, now, offset)
    const told: ToldEvent[] = []
    const placeAt = placesOf(context, told)
    await moveClock(db, space, target - now)
    const follow = async (until: number) => {
      const ended = await endHolds({ db, space, sanctions, eventsAt: (at) => placeAt(at).events }, now, until)
      for (const { id, action } of ended) context.audit.add({ action, targetId: id })
    }
    const moved = await moveSettlements(placeAt, target, now, sanctions.list(), follow)
    await follow(target)
    await expireAll(placeAt, holds, target, now)
    for (const { event } of told.toSorted((a, b) => a.at - b.at)) context.events.emit(event)
    const data = [...new Map(moved.map((row) => [row.id, row])).values()].map(showSettlement)
    return { status: 200, body: { object: 'list', now: writeInstant(target), data } }
  },

  async simulateSettlementFailure({ caller, db, events, request }, { body }) {
    const offset = await lockClock(db, caller.space)
    const row = await lockSettlement(db, caller.space, body.settlement_id)
    if (!row) throw noSettlement()
    const place = { db, space: caller.space, events }
    return { status: 200, body: showSettlement(await writeMove(place, fail(row, request.now + offset))) }
  },
} satisfies Pick<TestSettlementsHandlers<Context>, 'advanceSettlementClock' | 'simulateSettlementFailure'>

/** Throws 422 if the request combines two ways to advance, or names a status without a settlement. */
function requireOneWay({ settlement_id, seconds, to }: Advance): void {
  if (to !== undefined && settlement_id === undefined) {
    throw validationFailed([{ field: 'settlement_id', issue: 'is required with `to`' }])
  }
  if (seconds !== undefined && settlement_id !== undefined) {
    throw validationFailed([{ field: 'seconds', issue: 'cannot be given together with `settlement_id`' }])
  }
}

/** A 422 error, because the settlement is referenced in the request body. */
const noSettlement = () =>
  validationFailed([{ field: 'settlement_id', issue: 'does not identify an existing settlement' }])

/**
 * Returns the time to advance to, which is never in the past. Throws 422 if the settlement does not exist, and 409 if it
 * never reaches the status.
 */
async function targetOf(
  db: Database,
  space: string,
  { settlement_id, seconds, to }: Advance,
  now: number,
  offset: number,
): Promise<number> {
  const at = now + offset
  if (seconds !== undefined) {
    if (at + seconds * 1000 > LAST) {
      throw validationFailed([{ field: 'seconds', issue: 'would advance the clock beyond the year 9000' }])
    }
    return at + seconds * 1000
  }
  if (settlement_id !== undefined) {
    const row = await readSettlement(db, space, settlement_id)
    if (!row) throw noSettlement()
    return Math.max(at, (to === undefined ? row.due : timeOf(row, to)) ?? at)
  }
  const next = await Promise.all([
    readNextDue(db, space),
    readNextActivation(db, space),
    readNextExpiry(db, space),
  ])
  const times = next.filter((time) => time !== null)
  return times.length === 0 ? at : Math.max(at, Math.min(...times))
}

interface ToldEvent {
  /** Time on the settlement clock. Events are emitted in the order in which they would have occurred. */
  readonly at: number
  readonly event: NewEvent
}

const placesOf =
  ({ db, caller }: Context, told: ToldEvent[]): PlaceAt =>
  (at) => ({
    db,
    space: caller.space,
    events: {
      emit: (event) => {
        told.push({ at, event })
        return undefined
      },
    },
  })

async function expireAll(
  placeAt: PlaceAt,
  holds: readonly CardTransactionRow[],
  until: number,
  now: number,
): Promise<void> {
  for (const row of holds) {
    if (row.expires_at !== null && row.expires_at <= until) await expire(placeAt(row.expires_at), row, now)
  }
}

import type { PayoutsHandlers, TestSettlementsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { forbidden, invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { withdrawTransfer } from '../chain/transfers.ts'
import { type DestinationRow, lockDestination } from '../destinations/queries.ts'
import { type DestinationList, isListed } from '../destinations/screening.ts'
import { changePayout, currencyOf, openPayout, type PayoutPlace } from './changes.ts'
import { listPayouts, type PayoutRow, readPayout } from './queries.ts'
import { cancel, fail, giveBack } from './states.ts'
import { showPayout } from './view.ts'

type Schemas = components['schemas']

const shown = (row: PayoutRow) => ({ status: 200 as const, body: showPayout(row) })

const placeOf = ({ db, caller, events }: Context): PayoutPlace => ({ db, space: caller.space, events })

const missing = () => validationFailed([{ field: 'payout_id', issue: 'names no payout' }])

export const payoutsHandlers = {
  async createPayout(context, { body }) {
    const { caller, db, request } = context
    const { amount, currency, destination_id, metadata = {} } = body
    if (currency === 'usd' && caller.environment === 'sandbox') {
      throw forbidden('live_only', 'Payouts in `usd` are made in live only: pay `usdc` in the sandbox.')
    }
    const found = await lockDestination(db, caller.space, destination_id)
    const destination = requirePayable(found, currency, context.sanctions.list())
    const order = { amount, metadata, settlement_id: null }
    const row = await openPayout(placeOf(context), order, destination, request.now)
    return { status: 201, body: showPayout(row) }
  },

  listPayouts: (context, { query }) => answerList(context, query, listPayouts, showPayout),

  async getPayout({ caller, db }, { path }) {
    const row = await readPayout(db, caller.space, path.payout_id)
    if (!row) throw notFound()
    return shown(row)
  },

  async cancelPayout(context, { path }) {
    const { caller, db, request } = context
    const { now } = request
    // First the transfer, as whoever signs it locks it: what is signed stays on its way.
    const isWithdrawn = await withdrawTransfer(db, caller.space, path.payout_id, now)
    const change = (row: PayoutRow) => cancel(row, isWithdrawn, now)
    return shown(await changePayout(placeOf(context), path.payout_id, change))
  },

  async simulatePayoutFailure(context, { body: { payout_id, failure_code = 'rejected' } }) {
    const { caller, db, request } = context
    const { now } = request
    await withdrawTransfer(db, caller.space, payout_id, now)
    const change = (row: PayoutRow) => fail(row, failure_code, now)
    return shown(await changePayout(placeOf(context), payout_id, change, missing))
  },

  async simulatePayoutReturn(context, { body: { payout_id, failure_code = 'rejected' } }) {
    const { now } = context.request
    const change = (row: PayoutRow) => giveBack(row, failure_code, now)
    return shown(await changePayout(placeOf(context), payout_id, change, missing))
  },
} satisfies PayoutsHandlers<Context> &
  Pick<TestSettlementsHandlers<Context>, 'simulatePayoutFailure' | 'simulatePayoutReturn'>

/** Throws 422 where there is no such destination or it is paid otherwise, 409 where it is not active or on the sanctions list. */
function requirePayable(
  destination: DestinationRow | undefined,
  currency: Schemas['PayoutCurrency'],
  list: DestinationList,
): DestinationRow {
  if (!destination) {
    throw validationFailed([{ field: 'destination_id', issue: 'names no payout destination' }])
  }
  const paid = currencyOf(destination)
  if (paid !== currency) {
    const issue = `must be ${paid} for a destination of type ${destination.type}`
    throw validationFailed([{ field: 'currency', issue }])
  }
  if (destination.status !== 'active') {
    throw invalidState(`The destination is ${destination.status}; only active ones are paid.`)
  }
  if (isListed(list, destination)) {
    throw invalidState(
      'The destination is on the sanctions list and is about to be denied: pay to another destination.',
    )
  }
  return destination
}

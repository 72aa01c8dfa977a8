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

const missing = () =>
  validationFailed([{ field: 'payout_id', issue: 'does not identify an existing payout' }])

export const payoutsHandlers = {
  async createPayout(context, { body }) {
    const { caller, db, request } = context
    const { amount, currency, destination_id, metadata = {} } = body
    if (currency === 'usd' && caller.environment === 'sandbox') {
      throw forbidden('live_only', 'Payouts in `usd` are available only in live. In the sandbox, use `usdc`.')
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
    // Lock order: the transfer first, like the worker that signs it. A signed transfer can no longer be withdrawn.
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

/**
 * Returns the destination. Throws 422 if it does not exist or has a different currency, and 409 if it is not active or is on
 * the sanctions list.
 */
function requirePayable(
  destination: DestinationRow | undefined,
  currency: Schemas['PayoutCurrency'],
  list: DestinationList,
): DestinationRow {
  if (!destination) {
    throw validationFailed([
      { field: 'destination_id', issue: 'does not identify an existing payout destination' },
    ])
  }
  const paid = currencyOf(destination)
  if (paid !== currency) {
    const issue = `must be ${paid} for a destination of type ${destination.type}`
    throw validationFailed([{ field: 'currency', issue }])
  }
  if (destination.status !== 'active') {
    throw invalidState(
      `The status of the destination is ${destination.status}. Only active destinations can be paid.`,
    )
  }
  if (isListed(list, destination)) {
    throw invalidState(
      'The destination is on the sanctions list and will be denied. Pay to a different destination.',
    )
  }
  return destination
}

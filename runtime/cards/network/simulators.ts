/** Sandbox simulators: they play the card network. Their messages take effect as the network's do. */
import type { TestCardsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import { type Context, pausing } from '../../api/handler.ts'
import { isCountry } from '../../platform/countries.ts'
import { lockCard } from '../cards/queries.ts'
import { pose } from '../decisions/asking.ts'
import { authorize, conclude } from '../decisions/concluding.ts'
import type { AskedUse } from '../decisions/queries.ts'
import { lockDisputesOf } from '../disputes/queries.ts'
import { contestedBy } from '../disputes/refunds.ts'
import { OPEN } from '../disputes/states.ts'
import { lockFacts, newCardTransaction, requireCard } from '../transactions/authorizing.ts'
import { type CardTransactionRow, lockCardTransaction, readCardTransaction } from '../transactions/queries.ts'
import {
  type OwnStep,
  ownMessage,
  requireClearable,
  requireHeld,
  requireIncrementable,
  requireRefundable,
  requireRoom,
} from '../transactions/states.ts'
import { showCardTransaction } from '../transactions/view.ts'
import { applyIncrement, applyMessage, beginWith } from './apply.ts'
import { mismatchOf } from './checks.ts'

type Schemas = components['schemas']

const placeOf = ({ db, caller, events, rates, request }: Context) => ({
  db,
  space: caller.space,
  events,
  rates,
  now: request.now,
})

/** A 422 error, because the transaction is referenced in the request body. */
const missing = () =>
  validationFailed([
    { field: 'card_transaction_id', issue: 'does not identify an existing card transaction' },
  ])

const changed = (row: CardTransactionRow) =>
  ({ status: 200, body: showCardTransaction(requireRoom(row)) }) as const

/** Applies one message to a transaction. `read` throws if the simulated merchant cannot send it. */
async function simulate(
  context: Context,
  id: string,
  read: (row: CardTransactionRow) => OwnStep | Promise<OwnStep>,
) {
  const place = placeOf(context)
  const before = await lockCardTransaction(place.db, place.space, id)
  if (!before) throw missing()
  return changed(await applyMessage(place, before, ownMessage(before, await read(before), place.now)))
}

export const networkSimulators = {
  /** If the tenant has an authorization endpoint, the endpoint decides too. */
  simulateAuthorization: pausing(
    ({ db, caller, request, isRetry }, { body }: { body: Schemas['AuthorizationSimulation'] }) => {
      const isEnterprise = caller.tenant.plan === 'enterprise'
      const requestKey = isEnterprise ? (request.header('Idempotency-Key') ?? null) : undefined
      const funds = isRetry ? 'locked' : 'read'
      const { merchant } = readUse(body)
      return lockFacts(db, caller.space, body.card_id, request.now, funds, { requestKey, merchant })
    },
    async (context, { body }, prefetched) => {
      if (context.injectedDecline !== undefined) return undefined
      const { now, machineNow } = context.request
      const facts = await prefetched
      if (!facts?.isAsked) return undefined
      const requestKey = context.request.header('Idempotency-Key') ?? null
      const ask = await pose({ ...placeOf(context), machineNow, requestKey }, readUse(body), facts)
      return ask && ((between) => ask({ ...between, now, machineNow }))
    },
    async (context, { body }, asked, prefetched) => {
      const { injectedDecline: declined } = context
      if (declined !== undefined) {
        const step = { kind: 'authorization', amount: body.amount, declined } as const
        return begun(context, body.card_id, body.merchant, step)
      }
      const facts = requireCard(await prefetched)
      const place = placeOf(context)
      const row = asked ? await conclude(place, asked, facts) : await authorize(place, readUse(body), facts)
      return { status: 201, body: showCardTransaction(row) }
    },
  ),

  async simulateDecline(context, { body: { card_id, amount, merchant = UNNAMED, reason } }) {
    return begun(context, card_id, merchant, { kind: 'authorization', amount, declined: reason })
  },

  async simulateForcePost(context, { body: { card_id, amount, merchant } }) {
    return begun(context, card_id, merchant, { kind: 'clearing', amount, final: true })
  },

  async simulateIncrement(context, { body: { card_transaction_id: id, amount } }) {
    const place = placeOf(context)
    // The card of a transaction never changes. Lock order: the card before the transaction.
    const known = await readCardTransaction(place.db, place.space, id)
    if (!known) throw missing()
    const [facts, before] = await Promise.all([
      lockFacts(place.db, place.space, known.card_id, place.now, 'locked', { merchant: null }),
      lockCardTransaction(place.db, place.space, id),
    ])
    if (!facts || !before) throw missing()
    requireIncrementable(before)
    return changed(await applyIncrement(place, before, facts, amount))
  },

  simulateReversal: (context, { body: { card_transaction_id: id, amount } }) =>
    simulate(context, id, (row) => requireHeld(row, { kind: 'reversal', amount: amount ?? row.held })),

  simulateExpiry: (context, { body: { card_transaction_id: id } }) =>
    simulate(context, id, (row) => {
      requireHeld(row, { kind: 'expiry', amount: row.held })
      // Without an amount: an advice that arrives later and holds more has expired too.
      return { kind: 'expiry' }
    }),

  simulateClearing: (context, { body: { card_transaction_id: id, ...given } }) =>
    simulate(context, id, (row) => requireClearable(row, given)),

  simulateRefund: (context, { body: { card_transaction_id: id, amount } }) =>
    simulate(context, id, async (row) => {
      const disputes = await lockDisputesOf(context.db, context.caller.space, id, OPEN)
      return requireRefundable(row, amount, contestedBy(disputes))
    }),
} satisfies Partial<TestCardsHandlers<Context>>

const UNNAMED: Schemas['MerchantInput'] = { name: 'TEST MERCHANT', category_code: '5999', country: 'US' }

/** Begins a transaction with a message that needs no decision. */
async function begun(context: Context, cardId: string, merchant: Schemas['MerchantInput'], step: OwnStep) {
  const place = placeOf(context)
  const use = { merchant: readMerchant(merchant), requested: step.amount!, entry_method: null, wallet: null }
  const card = requireCard(await lockCard(place.db, place.space, cardId))
  const blank = newCardTransaction(card, use, place.now)
  const row = await beginWith(place, blank, ownMessage(blank, step, place.now))
  return { status: 201, body: showCardTransaction(row) } as const
}

function readUse(body: Schemas['AuthorizationSimulation']): AskedUse {
  const { card_id, amount, currency = 'usd', merchant, entry_method = null, wallet = null, checks } = body
  const mismatch = mismatchOf(checks)
  // Adding 0 turns -0 into 0, which is what the database returns.
  const requested = amount + 0
  return {
    card_id,
    currency,
    merchant: readMerchant(merchant),
    requested,
    entry_method,
    wallet,
    ...(checks && { checks }),
    ...(mismatch && { mismatch }),
    ...(body.partial_approval && { partial: true }),
  }
}

/** Returns the merchant with defaults filled in. Throws `validation_failed` for an unknown country. */
function readMerchant({
  name,
  category_code,
  country = 'US',
  city,
  network_id,
}: Schemas['MerchantInput']): Schemas['Merchant'] {
  if (!isCountry(country)) {
    throw validationFailed([{ field: 'merchant.country', issue: 'is not an ISO 3166-1 country code' }])
  }
  return { name, category_code, network_id: network_id ?? null, city: city ?? null, country }
}

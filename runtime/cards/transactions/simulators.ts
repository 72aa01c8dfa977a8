/** Sandbox simulators of merchants and the card network. */
import type { TestCardsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { readOpenSettlement } from '../../money/settlement-lines/queries.ts'
import { isCountry } from '../../platform/countries.ts'
import { lockCard } from '../cards/queries.ts'
import { lockFacts, newCardTransaction, requireCard, type Use } from './authorizing.ts'
import { changeCardTransaction, writeChange, writeNew } from './changes.ts'
import { type CardTransactionRow, lockCardTransaction, readCardTransaction } from './queries.ts'
import { decide } from './rules.ts'
import { begin, clear, forcePost, giveUp, increment, requireIncrementable } from './states.ts'
import { showCardTransaction } from './view.ts'

type Schemas = components['schemas']

/** Where a request writes card transactions. */
export const placeOf = ({ db, caller, events, rates }: Context) => ({
  db,
  space: caller.space,
  events,
  rates,
})

/** A 422 error, because the transaction is referenced in the request body. */
export const missingTransaction = () =>
  validationFailed([
    { field: 'card_transaction_id', issue: 'does not identify an existing card transaction' },
  ])

type TransactionChange = (row: CardTransactionRow, now: number) => CardTransactionRow

async function change(
  context: Context,
  id: string,
  type: Parameters<typeof changeCardTransaction>[2],
  how: TransactionChange,
): Promise<{ status: 200; body: Schemas['CardTransaction'] }> {
  const { now } = context.request
  const row = await changeCardTransaction(context, id, type, (before) => how(before, now), missingTransaction)
  return { status: 200, body: showCardTransaction(row) }
}

export const cardTransactionSimulators = {
  async simulateDecline(context, { body }) {
    const { amount: requested, merchant = UNNAMED, reason } = body
    const seen = readMerchant(merchant)
    const row = begin(await newFor(context, body.card_id, { ...NOT_SHOWN, merchant: seen, requested }), {
      declined: reason,
      rules: [],
    })
    await writeNew(placeOf(context), row, 'card.transaction.declined')
    return { status: 201, body: showCardTransaction(row) }
  },

  async simulateForcePost(context, { body }) {
    const { amount: requested, merchant } = body
    const seen = readMerchant(merchant)
    const [row, open] = await Promise.all([
      newFor(context, body.card_id, { ...NOT_SHOWN, merchant: seen, requested }),
      readOpenSettlement(context.db, context.caller.space),
    ])
    const posted = forcePost(row)
    await writeNew({ ...placeOf(context), open }, posted, 'card.transaction.cleared')
    return { status: 201, body: showCardTransaction(posted) }
  },

  async simulateIncrement(context, { body }) {
    const { db, caller, request } = context
    const { card_transaction_id: id, amount } = body
    // The card of a transaction never changes. Lock order: the card before the transaction.
    const known = await readCardTransaction(db, caller.space, id)
    if (!known) throw missingTransaction()
    const [facts, before] = await Promise.all([
      lockFacts(db, caller.space, known.card_id, request.now, 'locked'),
      lockCardTransaction(db, caller.space, id),
    ])
    if (!facts || !before) throw missingTransaction()
    requireIncrementable(before)
    const { category_code: categoryCode, country } = before.merchant
    const { currency, authorized } = before
    // An increment needs no active wallet token: the wallet took part only in the original authorization.
    const asked = { amount, currency, categoryCode, country, authorized, wallet: null }
    const after = increment(before, amount, decide(asked, facts), request.now)
    await writeChange(placeOf(context), before, after, 'card.transaction.updated')
    return { status: 200, body: showCardTransaction(after) }
  },

  async simulateReversal(context, { body }) {
    return change(context, body.card_transaction_id, 'card.transaction.reversed', (row, now) =>
      giveUp(row, 'reversal', body.amount ?? row.held, now),
    )
  },

  async simulateExpiry(context, { body }) {
    return change(context, body.card_transaction_id, 'card.transaction.expired', (row, now) =>
      giveUp(row, 'expiry', row.held, now),
    )
  },

  async simulateClearing(context, { body }) {
    const { card_transaction_id: id, ...given } = body
    return change(context, id, 'card.transaction.cleared', (row, now) => clear(row, given, now))
  },
} satisfies Partial<TestCardsHandlers<Context>>

const UNNAMED: Schemas['MerchantInput'] = { name: 'TEST MERCHANT', category_code: '5999', country: 'US' }
const NOT_SHOWN = { entry_method: null, wallet: null }

async function newFor(
  { db, caller, request }: Context,
  cardId: string,
  use: Use,
): Promise<CardTransactionRow> {
  return newCardTransaction(requireCard(await lockCard(db, caller.space, cardId)), use, request.now)
}

/** Returns the merchant with defaults filled in. Throws `validation_failed` for an unknown country. */
export function readMerchant({
  name,
  category_code,
  country = 'US',
  city,
}: Schemas['MerchantInput']): Schemas['Merchant'] {
  if (!isCountry(country)) {
    throw validationFailed([{ field: 'merchant.country', issue: 'is not an ISO 3166-1 country code' }])
  }
  return { name, category_code, network_id: null, city: city ?? null, country }
}

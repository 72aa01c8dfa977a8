/** Suggestions for the ID fields of forms: the list to read, and the text to show. */
import type { components } from '../../../../generated/canonical/types.ts'
import type { Suggest } from '../../engine/shapes.ts'
import { words, writeMoney } from '../../engine/values.ts'

type Schemas = components['schemas']

export const CARDHOLDER: Suggest = {
  operation: 'listCardholders',
  text: ({ name, status }: Schemas['Cardholder']) => `${name}, ${words(status)}`,
}

export const CARD_PROGRAM: Suggest = {
  operation: 'listCardPrograms',
  text: ({ name }: Schemas['CardProgram']) => name,
}

export const CARD: Suggest = {
  operation: 'listCards',
  text: ({ last4, type }: Schemas['Card']) => `•••• ${last4}, ${words(type)}`,
}

export const TRANSACTION: Suggest = {
  operation: 'listCardTransactions',
  text: ({ merchant, amounts, currency, status }: Schemas['CardTransaction']) =>
    `${merchant.name}, ${writeMoney(amounts.requested, currency)}, ${words(status)}`,
}

export const DISPUTE: Suggest = {
  operation: 'listDisputes',
  text: ({ amount, currency, status }: Schemas['Dispute']) =>
    `${writeMoney(amount, currency)}, ${words(status)}`,
}

export const PASS: Suggest = {
  operation: 'listPasses',
  text: ({ holder, status }: Schemas['Pass']) => `${holder.name ?? 'No name'}, ${words(status)}`,
}

export const DESTINATION: Suggest = {
  operation: 'listPayoutDestinations',
  query: { status: 'active' },
  text: ({ holder_name, type }: Schemas['PayoutDestination']) => `${holder_name}, ${words(type)}`,
}

export const SETTLEMENT: Suggest = {
  operation: 'listSettlements',
  text: ({ period_start, status }: Schemas['Settlement']) => `${period_start.slice(0, 10)}, ${words(status)}`,
}

export const PAYOUT: Suggest = {
  operation: 'listPayouts',
  text: ({ amount, currency, status }: Schemas['Payout']) =>
    `${writeMoney(amount, currency)}, ${words(status)}`,
}

/** Limits the suggestions to resources with the given status. */
export function inState(suggest: Suggest, status: string): Suggest {
  return { ...suggest, query: { ...suggest.query, status } }
}

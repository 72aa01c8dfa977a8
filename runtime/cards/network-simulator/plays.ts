/** What merchants and terminals do with a card. Amounts are cents. */

import type { Random } from '../../platform/random.ts'
import type { NetworkMessages } from '../network/network.ts'

type Authorization = NetworkMessages['authorize'][0]

/** What happens to a card, from the first message to the last refund or chargeback. */
export interface CardUse {
  readonly play: PlayName
  /** Which of the cards, from 1. */
  readonly card: number
  /** The amount of the authorization. 0 verifies the card. */
  readonly amount: number
  readonly merchant: Authorization['merchant']
  readonly entry_method: NonNullable<Authorization['entry_method']>
  readonly wallet?: Authorization['wallet']
  /** Whether the merchant accepts an approval of less than the amount. */
  readonly partial_approval: boolean
  /** The final amount that a fuel pump reports by an advice, in place of what it requested. */
  readonly completion?: number
  readonly increments: readonly number[]
  readonly reversals: readonly number[]
  /** The last one is final. */
  readonly clearings: readonly number[]
  readonly refunds: readonly number[]
  /** Stages of a dispute that the tenant has submitted. */
  readonly chargeback: readonly NetworkMessages['moveChargeback'][0]['stage'][]
  /** Statuses that the token of the wallet takes, two of them before the authorization. */
  readonly token: readonly NetworkMessages['changeToken'][0]['status'][]
  /** Whether the merchant collects the money without an authorization. */
  readonly forced: boolean
  /** Whether the network decides without asking. */
  readonly stand_in: boolean
}

interface Play {
  readonly text: string
  readonly merchant: CardUse['merchant']
  readonly entry_method: CardUse['entry_method']
  /** Usual amounts. */
  readonly from: number
  readonly to: number
  /** What follows from the amount and from what is given. */
  more(amount: number, random: Random, given: Partial<CardUse>): Partial<CardUse>
}

const at = (name: string, category_code: string, city: string) => ({
  name,
  category_code,
  network_id: `sim-${category_code}`,
  city,
  country: 'US',
})

/** Splits an amount at a random place. */
function split(amount: number, random: Random): readonly number[] {
  if (amount < 2) return [amount]
  const first = random.between(1, amount - 1)
  return [first, amount - first]
}

const PLAY_TABLE = {
  restaurant: {
    text: 'clears the bill with a tip, above the authorized amount',
    ...{ merchant: at('Harbor Diner', '5812', 'Oakland'), entry_method: 'chip', from: 800, to: 12_000 },
    more: (amount, random) => ({ clearings: [amount + Math.floor((amount * random.between(0, 25)) / 100)] }),
  },
  fuel_pump: {
    text: 'authorizes 1.00 or a maximum, and reports by an advice what was pumped',
    ...{ merchant: at('Bay Fuel', '5542', 'Oakland'), entry_method: 'contactless', from: 17_500, to: 17_500 },
    more: (_amount, random, { completion = random.between(1000, 9000) }) => ({
      amount: random.pick([100, 17_500]),
      completion,
      clearings: [completion],
    }),
  },
  hotel: {
    text: 'increases the authorization during the stay, and clears room and minibar one after the other',
    ...{ merchant: at('Pier Hotel', '7011', 'San Francisco'), entry_method: 'chip', from: 9000, to: 60_000 },
    more: (amount, random) => {
      const increments = Array.from({ length: random.between(0, 3) }, () => random.between(500, 20_000))
      const total = increments.reduce((sum, each) => sum + each, amount)
      return { increments, clearings: split(total, random) }
    },
  },
  online_shop: {
    text: 'clears each parcel, and refunds one sometimes',
    ...{ merchant: at('Dock Supplies', '5732', 'Seattle'), entry_method: 'online', from: 500, to: 40_000 },
    more: (amount, random) => {
      const clearings = split(amount, random)
      return { clearings, refunds: random.chance(0.3) ? clearings.slice(0, 1) : [] }
    },
  },
  airline: {
    text: 'clears each ticket, weeks after the authorization',
    ...{ merchant: at('Pacific Air', '4511', 'Denver'), entry_method: 'online', from: 9000, to: 150_000 },
    more: (amount, random) => ({ clearings: split(amount, random) }),
  },
  atm: {
    text: 'pays out cash',
    ...{ merchant: at('Harbor Bank ATM', '6011', 'Oakland'), entry_method: 'chip', from: 2000, to: 40_000 },
    more: (amount) => ({ clearings: [amount] }),
  },
  subscription: {
    text: 'charges an amount on file',
    ...{ merchant: at('Tide Music', '5815', 'Austin'), entry_method: 'keyed_in', from: 499, to: 2999 },
    more: (amount) => ({ clearings: [amount] }),
  },
  verification: {
    text: 'verifies the card with an amount of 0',
    ...{ merchant: at('Tide Music', '5815', 'Austin'), entry_method: 'keyed_in', from: 0, to: 0 },
    more: () => ({}),
  },
  refund: {
    text: 'clears a purchase and refunds all of it',
    ...{ merchant: at('Sail Outfitters', '5651', 'Boston'), entry_method: 'chip', from: 1000, to: 20_000 },
    more: (amount) => ({ clearings: [amount], refunds: [amount] }),
  },
  partial_approval: {
    text: 'accepts less than it requests, and clears what was approved',
    ...{ merchant: at('Corner Market', '5411', 'Oakland'), entry_method: 'contactless', from: 500, to: 9000 },
    more: (amount) => ({ partial_approval: true, clearings: [amount] }),
  },
  reversal: {
    text: 'reverses part or all of the authorization, and clears the rest',
    ...{ merchant: at('Sail Outfitters', '5651', 'Boston'), entry_method: 'chip', from: 1000, to: 20_000 },
    more: (amount, random) => {
      const [back = amount, rest] = split(amount, random)
      return random.chance(0.5) && rest !== undefined
        ? { reversals: [back], clearings: [rest] }
        : { reversals: [amount] }
    },
  },
  forced_post: {
    text: 'collects money without an authorization',
    ...{ merchant: at('Ferry Kiosk', '4111', 'Seattle'), entry_method: 'swipe', from: 100, to: 3000 },
    more: (amount) => ({ forced: true, clearings: [amount] }),
  },
  wallet: {
    text: 'adds the card to a phone, pays with it, and removes it sometimes',
    ...{ merchant: at('Corner Market', '5411', 'Oakland'), entry_method: 'contactless', from: 300, to: 5000 },
    more: (amount, random) => ({
      wallet: random.pick(['apple_pay', 'google_pay']),
      token: random.chance(0.5) ? ['requested', 'active'] : ['requested', 'active', 'suspended', 'deleted'],
      clearings: [amount],
    }),
  },
  chargeback: {
    text: 'clears a purchase whose dispute the tenant wins or loses',
    ...{ merchant: at('Dock Supplies', '5732', 'Seattle'), entry_method: 'online', from: 1000, to: 20_000 },
    more: (amount, random) => ({
      clearings: [amount],
      chargeback: ['under_review', random.pick(['won', 'lost'])],
    }),
  },
} satisfies Record<string, Play>

export type PlayName = keyof typeof PLAY_TABLE

export const PLAYS: Readonly<Record<PlayName, Play>> = PLAY_TABLE

const NOTHING = {
  ...{ partial_approval: false, forced: false, stand_in: false },
  ...{ increments: [], reversals: [], clearings: [], refunds: [], chargeback: [], token: [] },
}

/**
 * Completes a use with what is usual for its play.
 * @param given overrides the usual values. What is left out follows from the amount.
 */
export function planUse(play: PlayName, card: number, given: Partial<CardUse>, random: Random): CardUse {
  const { merchant, entry_method, from, to, more } = PLAYS[play]
  const amount = given.amount ?? random.between(from, to)
  return { ...NOTHING, play, card, merchant, entry_method, amount, ...more(amount, random, given), ...given }
}

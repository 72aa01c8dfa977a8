/** What `svc cards simulate` can do: a table of operations, and for each the options that make its body. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'

/** An option and where in the body its value goes. */
export interface SimulationOption {
  readonly flags: string
  readonly text: string
  /** Names of members, from the outside. */
  readonly field: string
  readonly required?: true
  readonly default?: string
  /** How its text becomes what is sent; default: it is sent as it is. */
  readonly reads?: 'number' | 'boolean'
}

export interface CardSimulation {
  readonly operation: keyof Client
  readonly text: string
  /** What it is about: the argument. */
  readonly of: 'card_id' | 'card_transaction_id'
  readonly options: readonly SimulationOption[]
  /** Words behind `svc cards simulate`. */
  readonly example: string
}

const amountOf = (text: string, required = false): SimulationOption => ({
  flags: '--amount <cents>',
  text,
  field: 'amount',
  reads: 'number',
  ...(required && { required }),
})

const MERCHANT: readonly SimulationOption[] = [
  { flags: '--merchant <name>', text: 'its name', field: 'merchant.name', default: 'Harbor Diner' },
  { flags: '--category <code>', text: 'its category', field: 'merchant.category_code', default: '5812' },
  { flags: '--country <code>', text: 'its country (default: US)', field: 'merchant.country' },
  { flags: '--city <name>', text: 'its town', field: 'merchant.city' },
]

const CARD = 'card_01jxg19h8j7k6m5n4p3q2r1s0t'
const TRANSACTION = 'ctx_01jxk19m8n7p6q5r4s3t2v1w0x'

/** By the word for each. */
export const SIMULATIONS: Readonly<Record<string, CardSimulation>> = {
  authorization: {
    operation: 'simulateAuthorization',
    text: 'a merchant asks to use a card',
    of: 'card_id',
    options: [
      amountOf('how much; 0 verifies the card', true),
      ...MERCHANT,
      { flags: '--currency <code>', text: 'its currency (default: usd)', field: 'currency' },
      {
        flags: '--entry-method <method>',
        text: 'how the card was read: contactless, online, …',
        field: 'entry_method',
      },
      { flags: '--wallet <wallet>', text: 'the phone wallet used', field: 'wallet' },
    ],
    example: `authorization ${CARD} --amount 1250 --entry-method contactless`,
  },
  decline: {
    operation: 'simulateDecline',
    text: 'a use of a card is declined',
    of: 'card_id',
    options: [
      amountOf('how much', true),
      { flags: '--reason <code>', text: 'why: suspected_fraud, …', field: 'reason', required: true },
      ...MERCHANT,
    ],
    example: `decline ${CARD} --amount 1250 --reason suspected_fraud`,
  },
  increment: {
    operation: 'simulateIncrement',
    text: 'the merchant asks for more',
    of: 'card_transaction_id',
    options: [amountOf('how much more', true)],
    example: `increment ${TRANSACTION} --amount 500`,
  },
  reversal: {
    operation: 'simulateReversal',
    text: 'the merchant gives up what is held',
    of: 'card_transaction_id',
    options: [amountOf('how much (default: all that is held)')],
    example: `reversal ${TRANSACTION} --amount 500`,
  },
  expiry: {
    operation: 'simulateExpiry',
    text: 'the hold expires',
    of: 'card_transaction_id',
    options: [],
    example: `expiry ${TRANSACTION}`,
  },
  clearing: {
    operation: 'simulateClearing',
    text: 'the merchant collects',
    of: 'card_transaction_id',
    options: [
      amountOf('how much (default: all that is held)'),
      {
        flags: '--final <yes-or-no>',
        text: 'whether it is the last one, so that the rest is given up (default: if it covers what is held)',
        field: 'final',
        reads: 'boolean',
      },
    ],
    example: `clearing ${TRANSACTION} --amount 1250 --final yes`,
  },
  refund: {
    operation: 'simulateRefund',
    text: 'the merchant gives back what was collected',
    of: 'card_transaction_id',
    options: [amountOf('how much (default: all that was cleared and not refunded)')],
    example: `refund ${TRANSACTION} --amount 500`,
  },
  'force-post': {
    operation: 'simulateForcePost',
    text: 'a merchant collects without having asked',
    of: 'card_id',
    options: [amountOf('how much', true), ...MERCHANT],
    example: `force-post ${CARD} --amount 1250`,
  },
  shipping: {
    operation: 'simulateShipping',
    text: 'a step of a physical card on its way',
    of: 'card_id',
    options: [
      {
        flags: '--status <status>',
        text: 'shipped, delivered, returned, …',
        field: 'status',
        required: true,
      },
    ],
    example: `shipping ${CARD} --status shipped`,
  },
}

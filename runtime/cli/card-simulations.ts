/** The simulations of `svc cards simulate`: for each one, its operation and the options that form the request body. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'

/** A command-line option and the body field that it sets. */
export interface SimulationOption {
  readonly flags: string
  readonly text: string
  /** Path in the body, with dots between the names. */
  readonly field: string
  readonly required?: true
  readonly default?: string
  /** How the text is converted; default: sent as a string. */
  readonly reads?: 'number' | 'boolean'
}

export interface CardSimulation {
  readonly operation: keyof Client
  readonly text: string
  /** The body field that the command's argument sets. */
  readonly of: 'card_id' | 'card_transaction_id'
  readonly options: readonly SimulationOption[]
  /** Example arguments of `svc cards simulate`. */
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
  { flags: '--merchant <name>', text: 'merchant name', field: 'merchant.name', default: 'Harbor Diner' },
  {
    flags: '--category <code>',
    text: 'merchant category code',
    field: 'merchant.category_code',
    default: '5812',
  },
  { flags: '--country <code>', text: 'merchant country (default: US)', field: 'merchant.country' },
  { flags: '--city <name>', text: 'merchant city', field: 'merchant.city' },
  {
    flags: '--merchant-id <id>',
    text: 'network identifier of the merchant',
    field: 'merchant.network_id',
  },
]

const CHECKS = ['cvc', 'pin', 'expiry', 'address_line', 'postal_code', 'authentication'].map(
  (check): SimulationOption => ({
    flags: `--${check.replace('_', '-')} <result>`,
    text: 'result of this check of the network: match, mismatch, …',
    field: `checks.${check}`,
  }),
)

const CARD = 'card_01jxg19h8j7k6m5n4p3q2r1s0t'
const TRANSACTION = 'ctx_01jxk19m8n7p6q5r4s3t2v1w0x'

/** By name of the simulation. */
export const SIMULATIONS: Readonly<Record<string, CardSimulation>> = {
  authorization: {
    operation: 'simulateAuthorization',
    text: 'authorize a card payment',
    of: 'card_id',
    options: [
      amountOf('amount in cents; 0 verifies the card', true),
      ...MERCHANT,
      { flags: '--currency <code>', text: 'currency (default: usd)', field: 'currency' },
      {
        flags: '--entry-method <method>',
        text: 'how the card was read: contactless, online, …',
        field: 'entry_method',
      },
      { flags: '--wallet <wallet>', text: 'device wallet used for the payment', field: 'wallet' },
      ...CHECKS,
      {
        flags: '--partial-approval <yes-or-no>',
        text: 'whether the merchant accepts less than the amount (default: no)',
        field: 'partial_approval',
        reads: 'boolean',
      },
    ],
    example: `authorization ${CARD} --amount 1250 --entry-method contactless`,
  },
  decline: {
    operation: 'simulateDecline',
    text: 'decline a card payment',
    of: 'card_id',
    options: [
      amountOf('amount in cents', true),
      {
        flags: '--reason <code>',
        text: 'decline reason: suspected_fraud, …',
        field: 'reason',
        required: true,
      },
      ...MERCHANT,
    ],
    example: `decline ${CARD} --amount 1250 --reason suspected_fraud`,
  },
  increment: {
    operation: 'simulateIncrement',
    text: 'increase an authorization',
    of: 'card_transaction_id',
    options: [amountOf('additional amount in cents', true)],
    example: `increment ${TRANSACTION} --amount 500`,
  },
  reversal: {
    operation: 'simulateReversal',
    text: 'reverse an authorization',
    of: 'card_transaction_id',
    options: [amountOf('amount in cents (default: the full held amount)')],
    example: `reversal ${TRANSACTION} --amount 500`,
  },
  expiry: {
    operation: 'simulateExpiry',
    text: 'expire an authorization',
    of: 'card_transaction_id',
    options: [],
    example: `expiry ${TRANSACTION}`,
  },
  clearing: {
    operation: 'simulateClearing',
    text: 'clear an authorization',
    of: 'card_transaction_id',
    options: [
      amountOf('amount in cents (default: the full held amount)'),
      {
        flags: '--final <yes-or-no>',
        text: 'yes if this is the last clearing, which releases the rest (default: yes if it covers the held amount)',
        field: 'final',
        reads: 'boolean',
      },
    ],
    example: `clearing ${TRANSACTION} --amount 1250 --final yes`,
  },
  refund: {
    operation: 'simulateRefund',
    text: 'refund a cleared transaction',
    of: 'card_transaction_id',
    options: [amountOf('amount in cents (default: everything not refunded yet)')],
    example: `refund ${TRANSACTION} --amount 500`,
  },
  'force-post': {
    operation: 'simulateForcePost',
    text: 'clear a transaction without an authorization',
    of: 'card_id',
    options: [amountOf('amount in cents', true), ...MERCHANT],
    example: `force-post ${CARD} --amount 1250`,
  },
  shipping: {
    operation: 'simulateShipping',
    text: 'change the shipping status of a physical card',
    of: 'card_id',
    options: [
      {
        flags: '--status <status>',
        text: 'new status: shipped, delivered, returned, …',
        field: 'status',
        required: true,
      },
    ],
    example: `shipping ${CARD} --status shipped`,
  },
}

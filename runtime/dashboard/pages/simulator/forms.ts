/** Everything that the sandbox can be made to do, as forms. */
import type { components } from '../../../../generated/canonical/types.ts'
import type { FormField, OperationForm } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import {
  CARD,
  CARDHOLDER,
  DISPUTE,
  inState,
  PASS,
  PAYOUT,
  SETTLEMENT,
  TRANSACTION,
} from '../resources/suggestions.ts'

type Schemas = components['schemas']

export interface Helper extends OperationForm {
  /** Last part of the address. */
  readonly name: string
  readonly text: string
  /** Where what it did is seen, below the environment. */
  next(answer: never): string
}

export interface HelperGroup {
  readonly group: string
  readonly helpers: readonly Helper[]
}

const options = (names: readonly string[]) => names.map((name) => [name, words(name)] as const)
const orNone = (names: readonly string[]) => [['', '–'] as const, ...options(names)]

const card: FormField = { name: 'card_id', label: 'Card', suggest: CARD }
const physicalCard: FormField = { ...card, hint: 'A physical one.' }
const amount: FormField = { name: 'amount', label: 'Amount', kind: 'amount', hint: 'In USD, such as 12.50.' }
const partOf = (whole: string): FormField => ({ ...amount, optional: true, hint: `Empty: ${whole}.` })
const transaction = (status?: string): FormField => ({
  name: 'card_transaction_id',
  label: 'Transaction',
  suggest: status === undefined ? TRANSACTION : inState(TRANSACTION, status),
})
const merchant: readonly FormField[] = [
  { name: 'merchant.name', label: 'Merchant', value: 'Harbour Grocer' },
  {
    name: 'merchant.category_code',
    label: 'Category',
    value: '5411',
    hint: 'Four digits: 5411 is groceries, 5812 restaurants, 7995 betting.',
  },
  { name: 'merchant.country', label: 'Country', value: 'US', optional: true },
  { name: 'merchant.city', label: 'Town', optional: true },
]
const pass: FormField = { name: 'pass_id', label: 'Pass', suggest: PASS }
const platform: FormField = {
  name: 'platform',
  label: 'Wallet',
  kind: 'choice',
  options: [
    ['apple', 'Apple Wallet'],
    ['google', 'Google Wallet'],
  ],
}

const DECLINES = [
  'insufficient_funds',
  'card_inactive',
  'card_frozen',
  'card_canceled',
  'card_expired',
  'card_lost',
  'card_stolen',
  'cardholder_inactive',
  'cardholder_blocked',
  'cardholder_verification_required',
  'account_disabled',
  'merchant_category_blocked',
  'merchant_country_blocked',
  'spending_limit_exceeded',
  'authorization_count_exceeded',
  'transaction_not_allowed',
  'incorrect_cvc',
  'incorrect_pin',
  'incorrect_expiry',
  'address_mismatch',
  'authentication_failed',
  'suspected_fraud',
  'decision_declined',
  'decision_timed_out',
  'decision_errored',
  'unsupported_currency',
  'processing_error',
] as const satisfies readonly Schemas['DeclineReasonCode'][]

const toTransaction = ({ id }: Schemas['CardTransaction']) => `card-transactions/${id}`
const toPass = ({ id }: Schemas['Pass']) => `passes/${id}`
const toPayout = ({ id }: Schemas['Payout']) => `payouts/${id}`
const BUTTON = 'Simulate'

const PASSES: readonly Helper[] = [
  {
    name: 'install',
    operation: 'simulateInstall',
    title: 'Installation',
    text: 'A holder adds a pass to a telephone.',
    button: BUTTON,
    fields: [pass, platform],
    next: toPass,
  },
  {
    name: 'uninstall',
    operation: 'simulateUninstall',
    title: 'Removal',
    text: 'A holder takes a pass off a telephone.',
    button: BUTTON,
    fields: [pass, platform],
    next: toPass,
  },
  {
    name: 'scan',
    operation: 'simulateScan',
    title: 'Scan',
    text: 'A till scans a pass, with all that follows.',
    button: BUTTON,
    fields: [
      pass,
      { name: 'mode', label: 'To', kind: 'choice', options: options(['verify', 'redeem']) },
      { name: 'scanner', label: 'Scanner', optional: true, hint: 'What your till is called.' },
      { name: 'location.latitude', label: 'Latitude', kind: 'number', optional: true },
      { name: 'location.longitude', label: 'Longitude', kind: 'number', optional: true },
    ],
    next: ({ pass_id }: Schemas['Scan']) => `passes/${pass_id}`,
  },
]

const CARDS: readonly Helper[] = [
  {
    name: 'authorization',
    operation: 'simulateAuthorization',
    title: 'Authorization',
    text: 'A merchant asks for money; every rule is checked as in live.',
    button: BUTTON,
    fields: [
      card,
      { ...amount, hint: 'In USD, such as 12.50; 0 verifies the card.' },
      ...merchant,
      { name: 'currency', label: 'Currency', optional: true, value: 'usd' },
      {
        name: 'entry_method',
        label: 'How the card is read',
        kind: 'choice',
        options: orNone(['chip', 'contactless', 'swipe', 'keyed_in', 'online']),
      },
      { name: 'wallet', label: 'Wallet', kind: 'choice', options: orNone(['apple_pay', 'google_pay']) },
    ],
    next: toTransaction,
  },
  {
    name: 'decline',
    operation: 'simulateDecline',
    title: 'Decline',
    text: 'An authorization that is declined for the reason given.',
    button: BUTTON,
    fields: [
      card,
      amount,
      { name: 'reason', label: 'Reason', kind: 'choice', options: options(DECLINES) },
      ...merchant,
    ],
    next: toTransaction,
  },
  {
    name: 'increment',
    operation: 'simulateIncrement',
    title: 'Increment',
    text: 'The merchant asks for more on an open authorization.',
    button: BUTTON,
    fields: [transaction('authorized'), amount],
    next: toTransaction,
  },
  {
    name: 'reversal',
    operation: 'simulateReversal',
    title: 'Reversal',
    text: 'The merchant gives up some or all of an open authorization.',
    button: BUTTON,
    fields: [transaction('authorized'), partOf('all that is held')],
    next: toTransaction,
  },
  {
    name: 'expiry',
    operation: 'simulateExpiry',
    title: 'Expiry of a hold',
    text: 'What an open authorization still holds expires now.',
    button: BUTTON,
    fields: [transaction('authorized')],
    next: toTransaction,
  },
  {
    name: 'clearing',
    operation: 'simulateClearing',
    title: 'Clearing',
    text: 'The merchant collects; more than was authorized is possible.',
    button: BUTTON,
    fields: [
      transaction('authorized'),
      partOf('all that is held'),
      {
        name: 'final',
        label: 'More to come',
        kind: 'truth',
        options: [
          ['true', 'No, what is left is released'],
          ['false', 'Yes, what is left stays held'],
        ],
      },
    ],
    next: toTransaction,
  },
  {
    name: 'refund',
    operation: 'simulateRefund',
    title: 'Refund',
    text: 'The merchant gives back what it has collected.',
    button: BUTTON,
    fields: [transaction('cleared'), partOf('all that was collected')],
    next: toTransaction,
  },
  {
    name: 'force-post',
    operation: 'simulateForcePost',
    title: 'Force post',
    text: 'A merchant collects without an authorization.',
    button: BUTTON,
    fields: [card, amount, ...merchant],
    next: toTransaction,
  },
  {
    name: 'shipping',
    operation: 'simulateShipping',
    title: 'Shipping',
    text: 'A physical card moves on its way.',
    button: BUTTON,
    fields: [
      physicalCard,
      {
        name: 'status',
        label: 'To',
        kind: 'choice',
        options: options(['pending', 'shipped', 'delivered', 'returned', 'failed', 'canceled']),
      },
    ],
    next: ({ id }: Schemas['Card']) => `cards/${id}`,
  },
  {
    name: 'sanctions-match',
    operation: 'simulateSanctionsMatch',
    title: 'Sanctions match',
    text: 'Monitoring finds a possible match for a cardholder.',
    button: BUTTON,
    fields: [
      { name: 'cardholder_id', label: 'Cardholder', suggest: CARDHOLDER },
      { name: 'score', label: 'Alike', kind: 'number', optional: true, hint: 'From 0 to 1.' },
    ],
    next: ({ id }: Schemas['SanctionsAlert']) => `sanctions-alerts/${id}`,
  },
  {
    name: 'dispute-outcome',
    operation: 'simulateDisputeOutcome',
    title: 'Outcome of a dispute',
    text: 'The merchant’s bank answers, or the network decides.',
    button: BUTTON,
    fields: [
      { name: 'dispute_id', label: 'Dispute', suggest: DISPUTE },
      {
        name: 'outcome',
        label: 'Outcome',
        kind: 'choice',
        options: options(['under_review', 'won', 'lost']),
      },
    ],
    next: ({ id }: Schemas['Dispute']) => `disputes/${id}`,
  },
]

const FAILURES = orNone([
  'account_closed',
  'invalid_account',
  'rejected',
  'insufficient_gas',
  'transaction_failed',
  'network_error',
])

const failedPayout = (status: string): readonly FormField[] => [
  { name: 'payout_id', label: 'Payout', suggest: inState(PAYOUT, status) },
  { name: 'failure_code', label: 'Because', kind: 'choice', options: FAILURES },
]

const MONEY: readonly Helper[] = [
  {
    name: 'funding',
    operation: 'simulateFunding',
    title: 'Funding',
    text: 'Test money arrives in the balance.',
    button: BUTTON,
    fields: [amount],
    next: () => 'balance',
  },
  {
    name: 'clock',
    operation: 'advanceSettlementClock',
    title: 'Settlement clock',
    text: 'Time passes for settlements, cut-offs, the hold of destinations and the holds of cards. Every state on the way is passed, events included.',
    button: 'Advance',
    fields: [
      {
        name: 'seconds',
        label: 'Seconds',
        kind: 'number',
        optional: true,
        hint: '86400 is a day. Empty, as all else: to the next change.',
      },
      { name: 'settlement_id', label: 'Settlement', suggest: SETTLEMENT, optional: true },
      {
        name: 'to',
        label: 'Until it is',
        kind: 'choice',
        options: orNone(['open', 'pending', 'processing', 'settled', 'failed']),
      },
    ],
    next: ({ data }: Schemas['SettlementClock']) =>
      data.length === 1 ? `settlements/${data[0]!.id}` : 'settlements',
  },
  {
    name: 'settlement-failure',
    operation: 'simulateSettlementFailure',
    title: 'Failed settlement',
    text: 'A settlement that is being processed fails.',
    button: BUTTON,
    fields: [{ name: 'settlement_id', label: 'Settlement', suggest: inState(SETTLEMENT, 'processing') }],
    next: ({ id }: Schemas['Settlement']) => `settlements/${id}`,
  },
  {
    name: 'payout-failure',
    operation: 'simulatePayoutFailure',
    title: 'Failed payout',
    text: 'A payout on its way fails.',
    button: BUTTON,
    fields: failedPayout('in_transit'),
    next: toPayout,
  },
  {
    name: 'payout-return',
    operation: 'simulatePayoutReturn',
    title: 'Returned payout',
    text: 'A payout that arrived comes back.',
    button: BUTTON,
    fields: failedPayout('paid'),
    next: toPayout,
  },
]

export const HELPERS: readonly HelperGroup[] = [
  { group: 'Passes', helpers: PASSES },
  { group: 'Cards', helpers: CARDS },
  { group: 'Money', helpers: MONEY },
]

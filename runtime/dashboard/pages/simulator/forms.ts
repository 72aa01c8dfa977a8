/** The forms of the sandbox simulator. */
import type { components } from '../../../../generated/canonical/types.ts'
import { DECLINE_MESSAGES } from '../../../cards/transactions/view.ts'
import type { FormField, OperationForm } from '../../engine/shapes.ts'
import { CARDHOLDER, DISPUTE, PAYOUT, SETTLEMENT } from '../pickers/pickable.ts'
import {
  amount,
  card,
  checks,
  currencies,
  merchant,
  merchants,
  options,
  orNone,
  partOf,
  pass,
  physicalCard,
  platform,
  transaction,
} from './fields.ts'

type Schemas = components['schemas']

export interface Helper extends OperationForm {
  /** Last segment of the path. */
  readonly name: string
  readonly text: string
  /** Returns the page that shows the result, as a path below the environment. */
  next(answer: never): string
}

export interface HelperGroup {
  readonly group: string
  readonly helpers: readonly Helper[]
}

const DECLINES = Object.keys(DECLINE_MESSAGES)

const toTransaction = ({ id }: Schemas['CardTransaction']) => `card-transactions/${id}`
const toPass = ({ id }: Schemas['Pass']) => `passes/${id}`
const toPayout = ({ id }: Schemas['Payout']) => `payouts/${id}`

const PASSES: readonly Helper[] = [
  {
    name: 'install',
    operation: 'simulateInstall',
    title: 'Pass installation',
    text: 'The holder adds a pass to a phone.',
    button: 'Simulate pass installation',
    fields: [pass, platform],
    next: toPass,
  },
  {
    name: 'uninstall',
    operation: 'simulateUninstall',
    title: 'Pass removal',
    text: 'The holder removes a pass from a phone.',
    button: 'Simulate pass removal',
    fields: [pass, platform],
    next: toPass,
  },
  {
    name: 'scan',
    operation: 'simulateScan',
    title: 'Pass scan',
    text: 'A scanner reads a pass.',
    button: 'Simulate pass scan',
    fields: [
      pass,
      { name: 'mode', label: 'Mode', kind: 'choice', options: options(['verify', 'redeem']) },
      { name: 'scanner', label: 'Scanner', optional: true, hint: 'The name of the scanner.' },
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
    text: 'A merchant requests an authorization. All rules are checked as in live.',
    button: 'Simulate authorization',
    presets: merchants,
    fields: [
      card,
      { ...amount, hint: 'An amount of 0 only verifies the card.' },
      ...merchant,
      { name: 'currency', label: 'Currency', kind: 'choice', value: 'usd', options: currencies },
      {
        name: 'entry_method',
        label: 'Entry method',
        kind: 'choice',
        options: orNone(['chip', 'contactless', 'swipe', 'keyed_in', 'online']),
      },
      { name: 'wallet', label: 'Wallet', kind: 'choice', options: orNone(['apple_pay', 'google_pay']) },
      ...checks,
      {
        name: 'partial_approval',
        label: 'The merchant accepts less than the amount',
        kind: 'truth',
      },
    ],
    next: toTransaction,
  },
  {
    name: 'decline',
    operation: 'simulateDecline',
    title: 'Decline',
    text: 'An authorization is declined for a reason that you select.',
    button: 'Simulate decline',
    presets: merchants,
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
    text: 'The merchant increases the amount of an open authorization.',
    button: 'Simulate increment',
    fields: [transaction('authorized'), amount],
    next: toTransaction,
  },
  {
    name: 'reversal',
    operation: 'simulateReversal',
    title: 'Reversal',
    text: 'The merchant reverses all or part of an open authorization.',
    button: 'Simulate reversal',
    fields: [transaction('authorized'), partOf('the full held amount')],
    next: toTransaction,
  },
  {
    name: 'expiry',
    operation: 'simulateExpiry',
    title: 'Hold expiry',
    text: 'The hold of an open authorization expires now.',
    button: 'Simulate hold expiry',
    fields: [transaction('authorized')],
    next: toTransaction,
  },
  {
    name: 'clearing',
    operation: 'simulateClearing',
    title: 'Clearing',
    text: 'The merchant clears an authorization. The amount can exceed the authorized amount.',
    button: 'Simulate clearing',
    fields: [
      transaction('authorized'),
      partOf('the full held amount'),
      {
        name: 'final',
        label: 'Final clearing',
        kind: 'truth',
        options: [
          ['true', 'Yes, release the remaining hold'],
          ['false', 'No, keep the remaining hold'],
        ],
      },
    ],
    next: toTransaction,
  },
  {
    name: 'refund',
    operation: 'simulateRefund',
    title: 'Refund',
    text: 'The merchant refunds a cleared transaction.',
    button: 'Simulate refund',
    fields: [transaction('cleared'), partOf('the full cleared amount')],
    next: toTransaction,
  },
  {
    name: 'force-post',
    operation: 'simulateForcePost',
    title: 'Force post',
    text: 'A merchant posts a transaction without an authorization.',
    button: 'Simulate force post',
    presets: merchants,
    fields: [card, amount, ...merchant],
    next: toTransaction,
  },
  {
    name: 'shipping',
    operation: 'simulateShipping',
    title: 'Card shipping',
    text: 'The shipping status of a physical card changes.',
    button: 'Simulate card shipping',
    fields: [
      physicalCard,
      {
        name: 'status',
        label: 'Shipping status',
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
    text: 'Screening finds a possible sanctions match for a cardholder.',
    button: 'Simulate sanctions match',
    fields: [
      { name: 'cardholder_id', label: 'Cardholder', pick: CARDHOLDER },
      { name: 'score', label: 'Match score', kind: 'number', optional: true, hint: 'A number from 0 to 1.' },
    ],
    next: ({ id }: Schemas['SanctionsAlert']) => `sanctions-alerts/${id}`,
  },
  {
    name: 'dispute-outcome',
    operation: 'simulateDisputeOutcome',
    title: 'Dispute outcome',
    text: 'The acquiring bank responds, or the card network decides the dispute.',
    button: 'Simulate dispute outcome',
    fields: [
      { name: 'dispute_id', label: 'Dispute', pick: DISPUTE, picksNewest: true },
      {
        name: 'outcome',
        label: 'Outcome',
        kind: 'choice',
        options: options(['under_review', 'won', 'lost']),
      },
    ],
    next: ({ id }: Schemas['Dispute']) => `disputes/${id}`,
  },
  {
    name: 'backtest-failure',
    operation: 'simulateSpendingControlBacktestFailure',
    title: 'Backtest failure',
    text: 'A pending backtest of spending controls fails.',
    button: 'Simulate backtest failure',
    fields: [{ name: 'spending_control_backtest_id', label: 'Backtest ID' }],
    next: ({ id }: Schemas['SpendingControlBacktest']) => `spending-control-backtests/${id}`,
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
  { name: 'payout_id', label: 'Payout', pick: PAYOUT, status, picksNewest: true },
  { name: 'failure_code', label: 'Failure reason', kind: 'choice', options: FAILURES },
]

const MONEY: readonly Helper[] = [
  {
    name: 'funding',
    operation: 'simulateFunding',
    title: 'Funding',
    text: 'Test funds are added to the balance.',
    button: 'Simulate funding',
    fields: [amount],
    next: () => 'balance',
  },
  {
    name: 'clock',
    operation: 'advanceSettlementClock',
    title: 'Settlement clock',
    text: 'Time advances for settlements, cutoffs, destination holds, and card holds. All intermediate statuses occur, and their events are sent.',
    button: 'Advance clock',
    fields: [
      {
        name: 'seconds',
        label: 'Seconds',
        kind: 'number',
        optional: true,
        hint: 'For example, 86400 for one day. Leave all fields empty to advance to the next change.',
      },
      { name: 'settlement_id', label: 'Settlement', pick: SETTLEMENT, optional: true },
      {
        name: 'to',
        label: 'Target status',
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
    title: 'Settlement failure',
    text: 'A settlement in processing fails.',
    button: 'Simulate settlement failure',
    fields: [
      {
        name: 'settlement_id',
        label: 'Settlement',
        pick: SETTLEMENT,
        status: 'processing',
        picksNewest: true,
      },
    ],
    next: ({ id }: Schemas['Settlement']) => `settlements/${id}`,
  },
  {
    name: 'payout-failure',
    operation: 'simulatePayoutFailure',
    title: 'Payout failure',
    text: 'A payout in transit fails.',
    button: 'Simulate payout failure',
    fields: failedPayout('in_transit'),
    next: toPayout,
  },
  {
    name: 'payout-return',
    operation: 'simulatePayoutReturn',
    title: 'Payout return',
    text: 'The bank or chain returns a paid payout.',
    button: 'Simulate payout return',
    fields: failedPayout('paid'),
    next: toPayout,
  },
]

const percent = (name: string, label: string): FormField => ({
  name,
  label,
  kind: 'number',
  optional: true,
  hint: 'Percent, from 0 to 100.',
})

const FAULTS: readonly Helper[] = [
  {
    name: 'faults',
    operation: 'putFaults',
    title: 'API failures',
    text: 'A share of the sandbox requests and webhook deliveries fails or takes longer. Requests of the dashboard do not fail.',
    button: 'Set API failures',
    fields: [
      { name: 'latency_ms', label: 'Latency (ms)', kind: 'number', optional: true, hint: 'From 0 to 10000.' },
      percent('rate_limited_percent', 'Requests refused with 429'),
      percent('error_percent', 'Requests that fail with 500'),
      percent('declined_percent', 'Declined authorizations'),
      { name: 'decline_reason', label: 'Decline reason', kind: 'choice', options: orNone(DECLINES) },
      percent('late_webhooks_percent', 'Late webhook deliveries'),
      percent('duplicate_webhooks_percent', 'Duplicate webhook deliveries'),
      {
        name: 'expires_in_seconds',
        label: 'Duration (seconds)',
        kind: 'number',
        optional: true,
        hint: 'From 1 to 86400. Leave empty for one hour.',
      },
    ],
    next: () => 'simulator',
  },
  {
    name: 'end-faults',
    operation: 'deleteFaults',
    title: 'End of API failures',
    text: 'No further request or delivery fails on purpose.',
    button: 'End API failures',
    fields: [],
    next: () => 'simulator',
  },
]

export const HELPERS: readonly HelperGroup[] = [
  { group: 'Passes', helpers: PASSES },
  { group: 'Cards', helpers: CARDS },
  { group: 'Money', helpers: MONEY },
  { group: 'API', helpers: FAULTS },
]

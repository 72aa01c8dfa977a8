/** Twenty tasks of a merchant's day, each with what a person does for it. */
import type { Effort, Step } from './driver.ts'

export interface Task {
  readonly name: string
  /** What the task took in the dashboard of 2026-11-25. Undefined if it was impossible there. */
  readonly before: Effort | undefined
  /** Absent while the dashboard does not offer the task. */
  readonly steps?: readonly Step[]
  /** Text that shows that the task is done. */
  readonly shows: string | RegExp
}

export const TASKS: readonly Task[] = [
  {
    name: 'Add points to a pass',
    before: undefined,
    steps: [{ search: 'Grace Kim' }, { type: '50', into: 'Step of Points' }, { click: 'Add to Points' }],
    shows: /^Points: \d+$/,
  },
  {
    name: 'Issue a pass',
    before: { clicks: 5, fields: 2 },
    steps: [
      { search: 'Issue pass' },
      { choose: 'Harbor Coffee loyalty' },
      { click: 'Continue' },
      { type: 'Rosa Diaz', into: 'Name' },
      { type: 'rosa.diaz@example.com', into: 'Email' },
      { click: 'Issue pass' },
    ],
    shows: 'Pass issued',
  },
  {
    name: 'Find a customer by name',
    before: { clicks: 2, fields: 1 },
    steps: [{ search: 'Grace Kim' }],
    shows: 'grace.kim@example.com',
  },
  {
    name: 'Issue a card for a person',
    before: { clicks: 4, fields: 1 },
    steps: [{ search: 'David Kim' }, { click: 'Issue card' }, { click: 'Issue card' }],
    shows: 'Card issued',
  },
  {
    name: 'Freeze the card of a person',
    before: { clicks: 4, fields: 1 },
    steps: [{ search: 'Ada Moreau' }, { click: '••••' }, { click: 'Freeze card' }],
    shows: 'Unfreeze card',
  },
  {
    name: 'See why a payment was declined',
    before: { clicks: 4, fields: 0 },
    steps: [{ search: 'Pacific Air' }],
    shows: 'does not cover',
  },
  {
    name: 'Change a spending limit',
    before: { clicks: 5, fields: 2 },
    steps: [
      { search: 'Carla Nunes' },
      { click: '••••' },
      { click: 'Edit spending controls' },
      { type: '2000.00', into: 'Amount (USD)' },
      { click: 'Save changes' },
    ],
    shows: '2,000.00',
  },
  {
    name: 'See what is left of a spending limit',
    before: undefined,
    steps: [{ search: 'Carla Nunes' }, { click: '••••' }],
    shows: /left/,
  },
  {
    name: 'Dispute a transaction',
    before: { clicks: 7, fields: 0 },
    steps: [
      { search: 'Harbor Grocer' },
      { click: 'Dispute transaction' },
      { choose: 'Duplicate', of: 'Reason' },
      { click: 'Create dispute' },
      { click: 'Submit dispute' },
      { click: 'Submit dispute' },
    ],
    shows: 'Dispute submitted',
  },
  {
    name: "See a settlement's net amount",
    before: { clicks: 2, fields: 0 },
    steps: [{ search: 'Settlements' }, { row: 'Settled' }],
    shows: /^Net$/,
  },
  {
    name: 'Pay out',
    before: { clicks: 6, fields: 2 },
    steps: [
      { search: 'Create payout' },
      { pick: 'Harbor Coffee LLC', into: 'Destination' },
      { type: '5.00', into: 'Amount' },
      { choose: 'usdc', of: 'Currency' },
      { click: 'Create payout' },
    ],
    shows: 'Payout created',
  },
  {
    name: 'Add a bank account',
    before: undefined,
    steps: [
      { click: 'Live' },
      { search: 'Add payout destination' },
      { choose: 'bank_account', of: 'Type' },
      { type: 'Harbor Coffee LLC', into: 'Account holder' },
      { type: '110000000', into: 'Routing number' },
      { type: '000123456789', into: 'Account number' },
      { code: 'typed' },
      { click: 'Add payout destination' },
    ],
    shows: 'Payout destination added',
  },
  {
    name: 'Resolve a sanctions alert',
    before: { clicks: 5, fields: 1 },
    steps: [
      { search: 'Sanctions alerts' },
      { row: 'Elena Petrova' },
      { click: 'Resolve alert' },
      { choose: 'false_positive', of: 'Resolution' },
      { type: 'Another date of birth.', into: 'Note' },
      { click: 'Resolve alert' },
    ],
    shows: 'Alert resolved',
  },
  {
    name: 'Send a webhook again',
    before: { clicks: 4, fields: 0 },
    steps: [{ search: 'ledger' }, { click: 'Send again' }],
    shows: 'Delivery retried',
  },
  {
    name: 'Find a request by its ID',
    before: { clicks: 1, fields: 1 },
    steps: [{ search: '{request}' }],
    shows: 'Response body',
  },
  {
    name: 'Pin an API version',
    before: { clicks: 3, fields: 0 },
    steps: [{ search: '2026-02-01' }, { click: 'Pin version' }, { click: 'Pin sandbox anyway' }],
    shows: 'Version 2026-02-01 pinned',
  },
  {
    name: 'Invite a member',
    before: { clicks: 4, fields: 2 },
    steps: [
      { search: 'Invite member' },
      { type: 'sam@example.com', into: 'Email' },
      { choose: 'developer', of: 'Role' },
      { code: 'typed' },
      { click: 'Create invitation link' },
    ],
    shows: 'I have copied the link',
  },
  {
    name: "Export a month's transactions",
    before: undefined,
    steps: [
      { search: 'Transactions' },
      { click: 'Add filter' },
      { choose: 'Last 30 days', of: 'Period' },
      { click: 'Apply filters' },
      { click: 'Export' },
      { download: 'CSV' },
    ],
    shows: 'Last 30 days',
  },
  {
    name: 'Design a pass template',
    before: { clicks: 3, fields: 3 },
    steps: [
      { search: 'Create template' },
      { type: 'Winter punch card', into: 'Name' },
      { type: '#22444f', into: 'Background color' },
      { type: 'Harbor Coffee', into: 'Logo text' },
      { click: 'Create template' },
    ],
    shows: 'Template created',
  },
  {
    name: 'Reveal a card number',
    before: undefined,
    steps: [
      { search: 'Ada Moreau' },
      { click: '••••' },
      { click: 'Reveal card number' },
      { code: 'typed' },
      { click: 'Reveal card number' },
    ],
    shows: /\d{4} \d{4} \d{4} \d{4}/,
  },
]

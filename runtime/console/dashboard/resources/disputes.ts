import type { components } from '../../../../generated/canonical/types.ts'
import { resource } from '../shape/shapes.ts'
import { code, money, orDash, state, when, words } from '../shape/values.ts'
import { inState, TRANSACTION } from './suggestions.ts'

type Dispute = components['schemas']['Dispute']

const REASONS = [
  'fraudulent',
  'duplicate',
  'canceled',
  'not_received',
  'merchandise_not_as_described',
  'service_not_as_described',
  'no_valid_authorization',
  'customer_complaint',
  'incorrect_amount',
  'refund_not_processed',
  'other',
]

export const DISPUTES = resource<Dispute>({
  path: 'disputes',
  title: 'Disputes',
  intro: 'Transactions that your cardholders contest.',
  list: {
    operation: 'listDisputes',
    columns: [
      { title: 'Dispute', show: ({ id }) => code(id) },
      { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
      { title: 'Reason', show: ({ reason }) => words(reason) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Due', show: ({ submission_deadline }) => when(submission_deadline) },
    ],
    filters: [
      {
        name: 'status',
        label: 'State',
        options: ['unsubmitted', 'submitted', 'under_review', 'won', 'lost', 'withdrawn', 'expired'],
      },
    ],
    empty: 'No dispute. A transaction that has cleared can be disputed here.',
  },
  create: {
    operation: 'createDispute',
    title: 'Dispute a transaction',
    button: 'Dispute',
    fields: [
      {
        name: 'card_transaction_id',
        label: 'Transaction',
        suggest: inState(TRANSACTION, 'cleared'),
        hint: 'The identifier of one that has cleared.',
      },
      {
        name: 'reason',
        label: 'Reason',
        kind: 'choice',
        options: REASONS.map((reason) => [reason, words(reason)] as const),
      },
      { name: 'evidence', label: 'Explanation', kind: 'lines', optional: true },
    ],
    body: ({ card_transaction_id, reason, evidence }) => ({
      card_transaction_id,
      reason,
      ...(evidence && { evidence: { explanation: evidence } }),
    }),
  },
  detail: {
    operation: 'getDispute',
    parameter: 'dispute_id',
    name: ({ id }) => id,
    facts: (dispute, link) => [
      [
        'Transaction',
        link(`card-transactions/${dispute.card_transaction_id}`, code(dispute.card_transaction_id)),
      ],
      ['State', state(dispute.status)],
      ['Amount', money(dispute.amount, dispute.currency)],
      ['Reason', words(dispute.reason)],
      ['Explanation', orDash(dispute.evidence.explanation)],
      ['Files', orDash(dispute.evidence.files.map(({ name }) => name).join(', '))],
      ['Submit by', when(dispute.submission_deadline)],
      ['Submitted', when(dispute.submitted_at)],
      ['Closed', when(dispute.closed_at)],
    ],
    actions: [
      {
        name: 'evidence',
        operation: 'updateDispute',
        button: 'Explain',
        fields: [{ name: 'evidence', label: 'Explanation', kind: 'lines' }],
        body: ({ evidence }) => ({ evidence: { explanation: evidence } }),
        when: ({ status }) => status === 'unsubmitted',
      },
      {
        name: 'submit',
        operation: 'submitDispute',
        button: 'Submit',
        warning: 'The evidence goes to the network as it is now, and cannot be changed afterwards.',
        when: ({ status }) => status === 'unsubmitted',
      },
      {
        name: 'withdraw',
        operation: 'withdrawDispute',
        button: 'Withdraw',
        warning: 'What was credited for the time being is taken back. This cannot be undone.',
        isDanger: true,
        when: ({ status }) => ['unsubmitted', 'submitted', 'under_review'].includes(status),
      },
    ],
  },
})

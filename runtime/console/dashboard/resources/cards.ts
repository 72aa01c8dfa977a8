import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { writeTable } from '../shape/list-page.ts'
import { resource } from '../shape/shapes.ts'
import { code, money, orDash, state, when, words } from '../shape/values.ts'
import { explainRule } from './rules.ts'

type Card = components['schemas']['Card']
type Transaction = components['schemas']['CardTransaction']
type Dispute = components['schemas']['Dispute']

export const CARDS = resource<Card>({
  path: 'cards',
  title: 'Cards',
  intro: 'Cards of your cardholders.',
  list: {
    operation: 'listCards',
    columns: [
      { title: 'Card', show: ({ last4 }) => `•••• ${last4}` },
      { title: 'Type', show: ({ type }) => words(type) },
      { title: 'State', show: ({ status, frozen }) => state(frozen ? 'frozen' : status) },
      { title: 'Cardholder', show: ({ cardholder_id }) => code(cardholder_id) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: [
      { name: 'status', label: 'State', options: ['inactive', 'active', 'canceled'] },
      { name: 'cardholder_id', label: 'Cardholder' },
    ],
    empty: 'No card yet. Make a cardholder by the API, then issue the first card to them.',
  },
  create: {
    operation: 'createCard',
    title: 'Issue a card',
    button: 'Issue',
    fields: [
      { name: 'cardholder_id', label: 'Cardholder', hint: 'The identifier of somebody who is verified.' },
    ],
    body: ({ cardholder_id }) => ({ cardholder_id, type: 'virtual' }),
  },
  detail: {
    operation: 'getCard',
    parameter: 'card_id',
    name: ({ last4 }) => `Card •••• ${last4}`,
    facts: (card) => [
      ['Identifier', code(card.id)],
      ['Type', words(card.type)],
      ['State', state(card.frozen ? 'frozen' : card.status)],
      ['Cardholder', code(card.cardholder_id)],
      ['Good until', `${String(card.exp_month).padStart(2, '0')}/${card.exp_year}`],
      ['Canceled because', card.cancellation_reason === null ? '–' : words(card.cancellation_reason)],
      ['Created', when(card.created)],
    ],
    actions: [
      {
        name: 'activate',
        operation: 'activateCard',
        button: 'Activate',
        when: ({ status }) => status === 'inactive',
      },
      {
        name: 'freeze',
        operation: 'freezeCard',
        button: 'Freeze',
        when: ({ status, frozen }) => status === 'active' && !frozen,
      },
      { name: 'unfreeze', operation: 'unfreezeCard', button: 'Unfreeze', when: ({ frozen }) => frozen },
      {
        name: 'cancel',
        operation: 'cancelCard',
        button: 'Cancel',
        warning: 'The card never works again. This cannot be undone.',
        isDanger: true,
        when: ({ status }) => status !== 'canceled',
      },
    ],
    sections: [
      {
        title: 'Transactions',
        write: ({ id }, _visit, link) =>
          html`<p>${link(`card-transactions?card_id=${id}`, 'Transactions of this card')}</p>`,
      },
    ],
  },
})

export const CARD_TRANSACTIONS = resource<Transaction>({
  path: 'card-transactions',
  title: 'Transactions',
  intro: 'What was asked of your cards, and what was decided.',
  list: {
    operation: 'listCardTransactions',
    columns: [
      { title: 'Merchant', show: ({ merchant }) => merchant.name },
      { title: 'Amount', show: ({ amounts, currency }) => money(amounts.requested, currency) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Card', show: ({ card_id }, link) => link(`cards/${card_id}`, code(card_id)) },
      { title: 'When', show: ({ created }) => when(created) },
    ],
    filters: [
      {
        name: 'status',
        label: 'State',
        options: ['authorized', 'declined', 'reversed', 'expired', 'cleared'],
      },
      { name: 'card_id', label: 'Card' },
    ],
    empty:
      'No transaction yet. In the sandbox, simulate an authorization by POST /v1/test/cards/simulate_authorization.',
  },
  detail: {
    operation: 'getCardTransaction',
    parameter: 'card_transaction_id',
    name: ({ merchant }) => merchant.name,
    facts: ({ id, card_id, status, type, amounts, currency, merchant, decline_reason, created }, link) => [
      ['Identifier', code(id)],
      ['Card', link(`cards/${card_id}`, code(card_id))],
      ['State', state(status)],
      ['Type', words(type)],
      ['Requested', money(amounts.requested, currency)],
      ['Authorized', money(amounts.authorized, currency)],
      ['Held', money(amounts.held, currency)],
      ['Cleared', money(amounts.cleared, currency)],
      ['Refunded', money(amounts.refunded, currency)],
      ['Where', [merchant.city, merchant.country].filter(Boolean).join(', ') || '–'],
      ['Category', code(merchant.category_code)],
      ['Declined because', decline_reason === null ? '–' : decline_reason.message],
      ['When', when(created)],
    ],
    actions: [
      {
        name: 'release',
        operation: 'releaseCardTransaction',
        button: 'Release the hold',
        warning: 'What is held becomes available again. A later clearing is posted all the same.',
        when: ({ status }) => status === 'authorized',
      },
    ],
    sections: [
      {
        title: 'What decided it',
        write: ({ rules, currency }, _visit, link) =>
          rules.length === 0
            ? html`<p class="empty">No rule was asked: it came without an authorization.</p>`
            : writeTable(
                'Rules',
                [
                  { title: 'Rule', show: ({ rule }) => words(rule) },
                  { title: 'Said', show: ({ outcome }) => state(outcome) },
                  { title: 'In words', show: (rule) => explainRule(rule, currency) },
                ],
                rules,
                link,
              ),
      },
      {
        title: 'What happened',
        write: ({ history, currency }, _visit, link) =>
          writeTable(
            'Steps',
            [
              { title: 'Step', show: ({ type }) => words(type) },
              { title: 'Amount', show: ({ amount }) => money(amount, currency) },
              { title: 'When', show: ({ created }) => when(created) },
            ],
            history,
            link,
          ),
      },
    ],
  },
})

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
      { name: 'card_transaction_id', label: 'Transaction', hint: 'The identifier of one that has cleared.' },
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

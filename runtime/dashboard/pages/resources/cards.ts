import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type FormField, resource, type ShownText } from '../../engine/shapes.ts'
import { code, money, orDash, state, when, words, writeAddress } from '../../engine/values.ts'
import { CARD_PROGRAM, CARDHOLDER } from '../pickers/pickable.ts'
import { addressFields } from './addresses.ts'
import { writeNetworkMessages } from './network-messages.ts'
import { explainRule } from './rules.ts'
import {
  CONTROL_FIELDS,
  controlFacts,
  controlValues,
  readControls,
  writeLimits,
} from './spending-controls.ts'

type Card = components['schemas']['Card']
type Transaction = components['schemas']['CardTransaction']

const SHIPPED: Pick<FormField, 'group' | 'when'> = {
  group: 'Shipping',
  when: [{ name: 'type', is: 'physical' }],
}

const SHIPPING: readonly FormField[] = [
  ...addressFields('shipping.address', SHIPPED),
  {
    ...SHIPPED,
    name: 'shipping.service',
    label: 'Shipping service',
    kind: 'choice',
    options: [
      ['standard', 'Standard'],
      ['express', 'Express'],
    ],
  },
]

function shippingFacts({ shipping }: Card): readonly (readonly [string, ShownText])[] {
  if (shipping === null) return []
  const { address, service, status, tracking_number } = shipping
  return [
    ['Shipping address', writeAddress(address)],
    ['Shipping service', words(service)],
    ['Shipping status', state(status)],
    ['Tracking number', orDash(tracking_number)],
  ]
}

export const CARDS = resource<Card>({
  path: 'cards',
  title: 'Cards',
  intro: 'Virtual and physical cards issued to your cardholders.',
  list: {
    operation: 'listCards',
    columns: [
      { title: 'Card', show: ({ last4 }) => `•••• ${last4}` },
      { title: 'Type', show: ({ type }) => words(type) },
      { title: 'Status', show: ({ status, frozen }) => state(frozen ? 'frozen' : status) },
      {
        title: 'Cardholder',
        show: ({ cardholder_id }, link) => link.to(cardholder_id),
      },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status', cardholder_id: 'Cardholder' },
    empty: 'No cards yet. Add a cardholder, and then issue a card.',
  },
  create: {
    operation: 'createCard',
    title: 'Issue card',
    button: 'Issue card',
    fields: [
      {
        name: 'cardholder_id',
        label: 'Cardholder',
        pick: CARDHOLDER,
        status: 'active',
      },
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: [
          ['virtual', 'Virtual'],
          ['physical', 'Physical'],
        ],
      },
      { name: 'card_program_id', label: 'Card program', pick: CARD_PROGRAM, optional: true },
      ...SHIPPING,
    ],
  },
  detail: {
    operation: 'getCard',
    parameter: 'card_id',
    name: ({ last4 }) => `Card •••• ${last4}`,
    facts: (card, link) => [
      ['ID', code(card.id)],
      ['Type', words(card.type)],
      ['Status', state(card.frozen ? 'frozen' : card.status)],
      ['Cardholder', link.to(card.cardholder_id)],
      ['Card program', link.to(card.card_program_id)],
      ['Expires', `${String(card.exp_month).padStart(2, '0')}/${card.exp_year}`],
      ...controlFacts(card.spending_controls),
      ...shippingFacts(card),
      ['Cancellation reason', card.cancellation_reason === null ? '–' : words(card.cancellation_reason)],
      ['Created', when(card.created)],
    ],
    actions: [
      {
        name: 'activate',
        operation: 'activateCard',
        button: 'Activate card',
        when: ({ status }) => status === 'inactive',
      },
      {
        name: 'freeze',
        isBulk: true,
        operation: 'freezeCard',
        button: 'Freeze card',
        when: ({ status, frozen }) => status === 'active' && !frozen,
      },
      {
        name: 'unfreeze',
        isBulk: true,
        operation: 'unfreezeCard',
        button: 'Unfreeze card',
        when: ({ frozen }) => frozen,
      },
      {
        name: 'limit',
        operation: 'updateCard',
        button: 'Edit spending controls',
        fields: CONTROL_FIELDS,
        values: ({ spending_controls }) => controlValues(spending_controls),
        body: (values) => ({ spending_controls: readControls(values) }),
        when: ({ status }) => status !== 'canceled',
      },
      {
        name: 'cancel',
        operation: 'cancelCard',
        button: 'Cancel card',
        warning: 'The card declines permanently. You cannot undo this.',
        isDanger: true,
        when: ({ status }) => status !== 'canceled',
      },
    ],
    sections: [
      {
        title: 'Spending limits',
        write: ({ spending_controls }, _visit, link) =>
          writeLimits(
            spending_controls,
            link,
            'No spending limits. The card can spend the full available balance.',
          ),
      },
      {
        title: 'Transactions',
        write: ({ id }, _visit, link) =>
          html`<p>${link(`card-transactions?card_id=${id}`, 'View transactions of this card')}</p>`,
      },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id, type }, _visit, link) =>
          html`<ul class="plain"><li>${link(`simulator/authorization?card_id=${id}`, 'Simulate an authorization')}</li><li>${link(`simulator/force-post?card_id=${id}`, 'Simulate a force post')}</li>${
            type === 'physical' &&
            html`<li>${link(`simulator/shipping?card_id=${id}`, 'Simulate shipping')}</li>`
          }</ul>`,
      },
    ],
  },
})

export const CARD_TRANSACTIONS = resource<Transaction>({
  path: 'card-transactions',
  title: 'Transactions',
  intro: 'Authorizations, clearings, and refunds on your cards.',
  list: {
    operation: 'listCardTransactions',
    columns: [
      { title: 'Merchant', show: ({ merchant }) => merchant.name },
      { title: 'Amount', show: ({ amounts, currency }) => money(amounts.requested, currency) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Card', show: ({ card_id }, link) => link.to(card_id) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status', card_id: 'Card' },
    empty: 'No transactions yet. In the sandbox, use the simulator to create an authorization.',
  },
  detail: {
    operation: 'getCardTransaction',
    parameter: 'card_transaction_id',
    name: ({ merchant }) => merchant.name,
    facts: ({ id, card_id, status, type, amounts, currency, merchant, decline_reason, created }, link) => [
      ['ID', code(id)],
      ['Card', link.to(card_id)],
      ['Status', state(status)],
      ['Type', words(type)],
      ['Requested', money(amounts.requested, currency)],
      ['Authorized', money(amounts.authorized, currency)],
      ['Held', money(amounts.held, currency)],
      ['Cleared', money(amounts.cleared, currency)],
      ['Refunded', money(amounts.refunded, currency)],
      ['Merchant location', [merchant.city, merchant.country].filter(Boolean).join(', ') || '–'],
      ['Merchant category', code(merchant.category_code)],
      ['Decline reason', decline_reason === null ? '–' : decline_reason.message],
      ['Created', when(created)],
    ],
    ways: [
      {
        operation: 'createDispute',
        text: 'Dispute transaction',
        to: ({ id }) => `disputes/new?card_transaction_id=${id}`,
        when: ({ status }) => status === 'cleared',
      },
    ],
    actions: [
      {
        name: 'release',
        operation: 'releaseCardTransaction',
        button: 'Release hold',
        warning:
          'The held amount becomes available again. If the merchant clears the transaction later, the clearing is still posted.',
        when: ({ status }) => status === 'authorized',
      },
    ],
    sections: [
      {
        title: 'Authorization rules',
        write: ({ rules, currency }, _visit, link) =>
          rules.length === 0
            ? html`<p class="empty">No authorization rules were checked for this transaction.</p>`
            : writeTable(
                'Rules',
                [
                  { title: 'Rule', show: ({ rule }) => words(rule) },
                  { title: 'Result', show: ({ outcome }) => state(outcome) },
                  { title: 'Description', show: (rule) => explainRule(rule, currency) },
                ],
                rules,
                link,
              ),
      },
      {
        title: 'History',
        write: ({ history, currency }, _visit, link) =>
          writeTable(
            'History',
            [
              { title: 'Event', show: ({ type }) => words(type) },
              { title: 'Amount', show: ({ amount }) => money(amount, currency) },
              { title: 'Created', show: ({ created }) => when(created) },
            ],
            history,
            link,
          ),
      },
      { title: 'Messages of the card network', write: writeNetworkMessages },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: (transaction, _visit, link) => {
          const next = nextOf(transaction)
          if (next.length === 0)
            return html`<p class="empty">No further events are possible for this transaction.</p>`
          const steps = next.map(([name, text]) => {
            const path = `simulator/${name}?card_transaction_id=${transaction.id}`
            return html`<li>${link(path, text)}</li>`
          })
          return html`<ul class="plain">${steps}</ul>`
        },
      },
    ],
  },
})

/** Returns the simulator helpers that apply to the transaction in its current status. */
function nextOf({ status, amounts }: Transaction): readonly (readonly [string, string])[] {
  // A zero-amount authorization only verifies the card, so it cannot be incremented.
  return (NEXT[status] ?? []).filter(([name]) => name !== 'increment' || amounts.held > 0)
}

const NEXT: Readonly<Partial<Record<Transaction['status'], readonly (readonly [string, string])[]>>> = {
  authorized: [
    ['clearing', 'Simulate a clearing'],
    ['increment', 'Simulate an increment'],
    ['reversal', 'Simulate a reversal'],
    ['expiry', 'Simulate a hold expiry'],
  ],
  cleared: [['refund', 'Simulate a refund']],
}

import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type FormField, resource, type ShownText } from '../../engine/shapes.ts'
import { code, money, orDash, state, when, words, writeAddress } from '../../engine/values.ts'
import { explainRule } from './rules.ts'
import {
  CONTROL_FIELDS,
  controlFacts,
  controlValues,
  readControls,
  writeLimits,
} from './spending-controls.ts'
import { CARD_PROGRAM, CARDHOLDER, inState } from './suggestions.ts'

type Card = components['schemas']['Card']
type Transaction = components['schemas']['CardTransaction']

/** Where a physical card is sent; nothing for a virtual one. */
const SHIPPING: readonly FormField[] = [
  {
    name: 'shipping.address.line1',
    label: 'Sent to: street and number',
    optional: true,
    hint: 'Physical cards only.',
  },
  { name: 'shipping.address.city', label: 'Town', optional: true },
  { name: 'shipping.address.state', label: 'State or province', optional: true },
  { name: 'shipping.address.postal_code', label: 'Postal code', optional: true },
  { name: 'shipping.address.country', label: 'Country', optional: true, hint: 'Two letters, such as US.' },
  {
    name: 'shipping.service',
    label: 'How',
    kind: 'choice',
    options: [
      ['', '–'],
      ['standard', 'Standard'],
      ['express', 'Express'],
    ],
  },
]

function shippingFacts({ shipping }: Card): readonly (readonly [string, ShownText])[] {
  if (shipping === null) return []
  const { address, service, status, tracking_number } = shipping
  return [
    ['Sent to', writeAddress(address)],
    ['How', words(service)],
    ['On its way', state(status)],
    ['Tracking number', orDash(tracking_number)],
  ]
}

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
      {
        title: 'Cardholder',
        show: ({ cardholder_id }, link) => link.to(cardholder_id),
      },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'State', cardholder_id: 'Cardholder' },
    empty: 'No card yet. Add a cardholder, then issue the first card to them.',
  },
  create: {
    operation: 'createCard',
    title: 'Issue a card',
    button: 'Issue',
    fields: [
      {
        name: 'cardholder_id',
        label: 'Cardholder',
        suggest: inState(CARDHOLDER, 'active'),
        hint: 'The identifier of one that is active.',
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
      { name: 'card_program_id', label: 'Program', suggest: CARD_PROGRAM, optional: true },
      ...SHIPPING,
    ],
  },
  detail: {
    operation: 'getCard',
    parameter: 'card_id',
    name: ({ last4 }) => `Card •••• ${last4}`,
    facts: (card, link) => [
      ['Identifier', code(card.id)],
      ['Type', words(card.type)],
      ['State', state(card.frozen ? 'frozen' : card.status)],
      ['Cardholder', link.to(card.cardholder_id)],
      ['Program', link.to(card.card_program_id)],
      ['Good until', `${String(card.exp_month).padStart(2, '0')}/${card.exp_year}`],
      ...controlFacts(card.spending_controls),
      ...shippingFacts(card),
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
        name: 'limit',
        operation: 'updateCard',
        button: 'Change its limits',
        fields: CONTROL_FIELDS,
        values: ({ spending_controls }) => controlValues(spending_controls),
        body: (values) => ({ spending_controls: readControls(values) }),
        when: ({ status }) => status !== 'canceled',
      },
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
        title: 'Limits',
        write: ({ spending_controls }, _visit, link) =>
          writeLimits(spending_controls, link, 'No limit: the card spends what the balance has.'),
      },
      {
        title: 'Transactions',
        write: ({ id }, _visit, link) =>
          html`<p>${link(`card-transactions?card_id=${id}`, 'Transactions of this card')}</p>`,
      },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id, type }, _visit, link) =>
          html`<ul class="plain"><li>${link(`simulator/authorization?card_id=${id}`, 'An authorization')}</li><li>${link(`simulator/force-post?card_id=${id}`, 'A force post')}</li>${
            type === 'physical' &&
            html`<li>${link(`simulator/shipping?card_id=${id}`, 'Its way by post')}</li>`
          }</ul>`,
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
      { title: 'Card', show: ({ card_id }, link) => link.to(card_id) },
      { title: 'When', show: ({ created }) => when(created) },
    ],
    filters: { status: 'State', card_id: 'Card' },
    empty: 'No transaction yet. In the sandbox the simulator makes one: an authorization of any amount.',
  },
  detail: {
    operation: 'getCardTransaction',
    parameter: 'card_transaction_id',
    name: ({ merchant }) => merchant.name,
    facts: ({ id, card_id, status, type, amounts, currency, merchant, decline_reason, created }, link) => [
      ['Identifier', code(id)],
      ['Card', link.to(card_id)],
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
        title: 'Dispute',
        write: ({ id, status }, _visit, link) =>
          status === 'cleared'
            ? html`<p>${link(`disputes/new?card_transaction_id=${id}`, 'Dispute this transaction')}</p>`
            : html`<p class="empty">What has not cleared cannot be disputed.</p>`,
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
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: (transaction, _visit, link) => {
          const next = nextOf(transaction)
          if (next.length === 0) return html`<p class="empty">Nothing more becomes of it.</p>`
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

/** Which helpers simulate what can become of a transaction. */
function nextOf({ status, amounts }: Transaction): readonly (readonly [string, string])[] {
  // One of 0 only verifies the card.
  return (NEXT[status] ?? []).filter(([name]) => name !== 'increment' || amounts.held > 0)
}

const NEXT: Readonly<Partial<Record<Transaction['status'], readonly (readonly [string, string])[]>>> = {
  authorized: [
    ['clearing', 'The merchant collects'],
    ['increment', 'The merchant asks for more'],
    ['reversal', 'The merchant gives it up'],
    ['expiry', 'The hold expires'],
  ],
  cleared: [['refund', 'The merchant gives it back']],
}

import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeRelated } from '../../engine/detail-page.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type ApiPage, type FormField, type LinkTo, resource, type ShownText } from '../../engine/shapes.ts'
import { code, orDash, state, when, words, writeAddress } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { panel } from '../../html/records.ts'
import { CARD_PROGRAM, CARDHOLDER } from '../pickers/pickable.ts'
import { addressFields } from './addresses.ts'
import { drawCard, statusOf, writeDetails, writeExpiry } from './card-face.ts'
import { writeSpending } from './card-limits.ts'
import { CARD_TRANSACTIONS } from './card-transactions.ts'
import { writeSteps } from './simulator-steps.ts'
import { CONTROL_FIELDS, controlFacts, controlValues, readControls } from './spending-controls.ts'

type Card = components['schemas']['Card']
type WalletToken = components['schemas']['WalletToken']

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
      { title: 'Card', show: ({ last4 }) => html`<span class="number">•••• ${last4}</span>` },
      { title: 'Cardholder', show: ({ cardholder_id }, link) => link.to(cardholder_id) },
      { title: 'Card program', show: ({ card_program_id }, link) => link.to(card_program_id) },
      { title: 'Type', show: ({ type }) => words(type) },
      { title: 'Status', show: (card) => state(statusOf(card)) },
      { title: 'Expires', show: writeExpiry },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status', cardholder_id: { label: 'Cardholder', pick: CARDHOLDER } },
    empty: 'No cards yet. Add a cardholder, and then issue a card.',
    above: ({ environment }) =>
      html`<p><a href="/${environment}/spending-control-drafts">Try spending controls on past authorizations</a></p>`,
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
    status: statusOf,
    picture: async (card, visit, link) => {
      const [face, wallets, limits] = await Promise.all([
        drawCard(card, visit),
        writeWallets(card, visit, link),
        writeSpending(card, visit),
      ])
      return html`<div class="card-top"><div>${face}${panel('Wallets', wallets)}</div>${panel('Spending limits', limits)}</div>`
    },
    facts: (card, link) => [
      ['Cardholder', link.to(card.cardholder_id)],
      ['Card program', link.to(card.card_program_id)],
      ['Type', words(card.type)],
      ['Expires', writeExpiry(card)],
      ...controlFacts(card.spending_controls),
      ...shippingFacts(card),
      ...(card.cancellation_reason === null
        ? []
        : [['Cancellation reason', words(card.cancellation_reason)] as const]),
      ...(card.replacement_for_id === null ? [] : [['Replaces', link.to(card.replacement_for_id)] as const]),
      ...(card.replaced_by_id === null ? [] : [['Replaced by', link.to(card.replaced_by_id)] as const]),
      ['Created', when(card.created)],
      ['ID', code(card.id)],
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
        name: 'reveal',
        operation: 'getCardDetails',
        button: 'Reveal card number',
        warning: 'The audit log records who views the number of a card, and when.',
        when: ({ type }) => type === 'virtual',
        reveal: writeDetails,
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
        title: 'Last transactions',
        write: ({ id }, visit) =>
          writeRelated(visit, CARD_TRANSACTIONS, {
            query: { card_id: id, limit: '10' },
            empty: 'No transactions yet. The first authorization of the card appears here.',
            all: 'View all transactions of this card',
            without: ['Card'],
          }),
      },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id, type }) =>
          writeSteps(`card_id=${id}`, [
            ['authorization', 'Authorization'],
            ['force-post', 'Force post'],
            ...(type === 'physical' ? [['shipping', 'Shipping'] as const] : []),
          ]),
      },
    ],
  },
})

async function writeWallets({ id, wallets }: Card, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const { data } = await visit.read<ApiPage<WalletToken>>('listWalletTokens', { query: { card_id: id } })
  const reason = wallets.apple_pay.ineligible_reason
  if (data.length === 0)
    return html`<p class="empty">The card is in no wallet. ${reason === null ? 'The cardholder can add it to Apple Pay or Google Pay.' : `It cannot be added now: ${words(reason).toLowerCase()}.`}</p>`
  return writeTable(
    'Wallets',
    [
      { title: 'Wallet', show: ({ wallet }) => words(wallet) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Added', show: ({ created }) => when(created) },
    ],
    data,
    link,
  )
}

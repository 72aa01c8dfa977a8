import type { components } from '../../../../generated/canonical/types.ts'
import { labelOf } from '../../../cards/merchant-categories/catalogue.ts'
import { html } from '../../../platform/html.ts'
import { writeRelated } from '../../engine/detail-page.ts'
import { resource, type ShownText } from '../../engine/shapes.ts'
import { code, money, orDash, state, when, words } from '../../engine/values.ts'
import { figures } from '../../html/records.ts'
import { CATEGORY } from '../pickers/lists.ts'
import { CARD } from '../pickers/pickable.ts'
import { writeDecision } from './card-decision.ts'
import { DISPUTES } from './disputes.ts'
import { writeNetworkMessages } from './network-messages.ts'
import { writeSteps } from './simulator-steps.ts'
import { writeHistory } from './transaction-history.ts'
import { writeSettlements } from './transaction-settlements.ts'

type Transaction = components['schemas']['CardTransaction']

export const CARD_TRANSACTIONS = resource<Transaction>({
  path: 'card-transactions',
  title: 'Transactions',
  intro: 'Authorizations, clearings, and refunds on your cards.',
  list: {
    operation: 'listCardTransactions',
    columns: [
      { title: 'Merchant', show: ({ merchant }) => merchant.name },
      {
        title: 'Amount',
        isAmount: true,
        show: ({ amounts, currency }) => money(amounts.requested, currency),
      },
      { title: 'Status', show: writeStatus },
      { title: 'Card', show: ({ card_id }, link) => html`<span class="number">${link.to(card_id)}</span>` },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: {
      status: 'Status',
      card_id: { label: 'Card', pick: CARD },
      category_code: { label: 'Merchant category', pick: CATEGORY },
    },
    empty: 'No transactions yet. In the sandbox, use the simulator to create an authorization.',
  },
  detail: {
    operation: 'getCardTransaction',
    parameter: 'card_transaction_id',
    name: ({ merchant }) => merchant.name,
    status: ({ status }) => status,
    picture: ({ amounts, currency }) =>
      figures(
        (['requested', 'held', 'cleared', 'refunded'] as const).map((name) => ({
          name: words(name),
          value: money(amounts[name], currency),
        })),
      ),
    facts: ({ merchant, ...transaction }, link) => [
      ['Card', link.to(transaction.card_id)],
      ['Cardholder', link.to(transaction.cardholder_id)],
      ['Type', words(transaction.type)],
      ['Entry method', orDash(transaction.entry_method && words(transaction.entry_method))],
      ...(transaction.wallet === null ? [] : [['Wallet', words(transaction.wallet)] as const]),
      ['Merchant location', orDash([merchant.city, merchant.country].filter(Boolean).join(', '))],
      ['Merchant category', `${words(labelOf(merchant.category_code))} (${merchant.category_code})`],
      ['Merchant ID of the network', orDash(merchant.network_id)],
      ...(transaction.expires_at === null ? [] : [['Hold expires', when(transaction.expires_at)] as const]),
      ['Created', when(transaction.created)],
      ['ID', code(transaction.id)],
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
    ways: [
      {
        operation: 'createDispute',
        text: 'Dispute transaction',
        to: ({ id }) => `disputes/new?card_transaction_id=${id}`,
        when: ({ status }) => status === 'cleared',
      },
    ],
    sections: [
      { title: 'History', write: writeHistory },
      {
        title: 'Simulate the next step',
        environment: 'sandbox',
        when: (transaction) => nextOf(transaction).length > 0,
        write: (transaction) => writeSteps(`card_transaction_id=${transaction.id}`, nextOf(transaction)),
      },
      { title: 'Decision', write: writeDecision },
      {
        title: 'Disputes',
        when: wasApproved,
        write: ({ id, status }, visit) =>
          writeRelated(visit, DISPUTES, {
            query: { card_transaction_id: id },
            empty:
              status === 'cleared'
                ? 'No disputes.'
                : 'No disputes. You can dispute a transaction only after it clears.',
            all: 'View all disputes of this transaction',
          }),
      },
      { title: 'Settlements', when: wasApproved, write: writeSettlements },
      { title: 'Messages of the card network', write: writeNetworkMessages },
    ],
  },
})

/** Writes the status, with the reason if the transaction was declined. */
function writeStatus({ status, decline_reason }: Transaction): ShownText {
  return html`${state(status)}${decline_reason !== null && html` <span class="quiet">${words(decline_reason.code)}</span>`}`
}

function wasApproved({ status }: Transaction): boolean {
  return status !== 'declined'
}

/** Returns the simulator helpers that apply to the transaction in its current status. */
function nextOf({ status, amounts }: Transaction): readonly (readonly [string, string])[] {
  // A zero-amount authorization only verifies the card, so it cannot be incremented.
  return (NEXT[status] ?? []).filter(([name]) => name !== 'increment' || amounts.held > 0)
}

const NEXT: Readonly<Partial<Record<Transaction['status'], readonly (readonly [string, string])[]>>> = {
  authorized: [
    ['clearing', 'Clearing'],
    ['increment', 'Increment'],
    ['reversal', 'Reversal'],
    ['expiry', 'Hold expiry'],
  ],
  cleared: [['refund', 'Refund']],
}

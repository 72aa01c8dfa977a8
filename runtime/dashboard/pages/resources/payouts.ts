import type { components } from '../../../../generated/canonical/types.ts'
import { showPayout } from '../../../operator/payouts.ts'
import { html } from '../../../platform/html.ts'
import { resource, type ShownText } from '../../engine/shapes.ts'
import { code, money, state, when, words, writeMoney } from '../../engine/values.ts'
import { panel } from '../../html/records.ts'
import { DESTINATION } from '../pickers/pickable.ts'
import { writeDay } from './money-texts.ts'
import { writeWay } from './payout-way.ts'
import { writePostings } from './postings.ts'
import { writeSteps } from './simulator-steps.ts'

type Payout = components['schemas']['Payout']

export const PAYOUTS = resource<Payout>({
  path: 'payouts',
  title: 'Payouts',
  intro: 'Transfers from your balance to your payout destinations.',
  list: {
    operation: 'listPayouts',
    columns: [
      { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
      { title: 'Destination', show: ({ destination_id }, link) => link.to(destination_id) },
      { title: 'Status', show: writeStatus },
      { title: 'Settlement', show: ({ settlement_id }, link) => link.to(settlement_id) },
      {
        title: 'Arrival date',
        show: ({ arrival_date }) => (arrival_date === null ? '–' : writeDay(arrival_date)),
      },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status' },
    empty: 'No payouts yet. Add a payout destination, and then create a payout.',
  },
  create: {
    operation: 'createPayout',
    title: 'Create payout',
    button: 'Create payout',
    fields: [
      {
        name: 'destination_id',
        label: 'Destination',
        pick: DESTINATION,
        status: 'active',
      },
      { name: 'amount', label: 'Amount', kind: 'amount' },
      {
        name: 'currency',
        label: 'Currency',
        kind: 'choice',
        options: [
          // The sandbox pays only USDC.
          ['usdc', 'USDC'],
          ['usd', 'USD'],
        ],
      },
    ],
  },
  detail: {
    operation: 'getPayout',
    parameter: 'payout_id',
    name: ({ amount, currency }) => `Payout of ${writeMoney(amount, currency)}`,
    status: ({ status }) => status,
    picture: async (payout, visit, link) => panel('Transfer', await writeWay(payout, visit, link)),
    facts: (payout, link) => [
      ['Amount', money(payout.amount, payout.currency)],
      ['Destination', link.to(payout.destination_id)],
      ['Settlement', link.to(payout.settlement_id)],
      ['Arrival date', payout.arrival_date === null ? '–' : writeDay(payout.arrival_date)],
      ...(payout.failure_code === null ? [] : [['Failure reason', words(payout.failure_code)] as const]),
      ...(payout.chain === null
        ? []
        : ([
            ['Chain', payout.chain.id],
            ['Confirmations', String(payout.chain.confirmations)],
          ] as const)),
      ['Created', when(payout.created)],
      ['ID', code(payout.id)],
    ],
    actions: [
      {
        name: 'cancel',
        operation: 'cancelPayout',
        button: 'Cancel payout',
        warning: 'The amount stays in your balance.',
        isDanger: true,
        when: ({ status }) => status === 'pending',
      },
    ],
    sections: [
      {
        title: 'Ledger postings',
        write: ({ id }, visit, link) => writePostings(visit, showPayout, id, link),
      },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id }) =>
          writeSteps(`payout_id=${id}`, [
            ['payout-failure', 'Failure'],
            ['payout-return', 'Return'],
          ]),
      },
    ],
  },
})

/** Writes the status, with the reason if the payout did not arrive. */
function writeStatus({ status, failure_code }: Payout): ShownText {
  return html`${state(status)}${failure_code !== null && html` <span class="quiet">${words(failure_code)}</span>`}`
}

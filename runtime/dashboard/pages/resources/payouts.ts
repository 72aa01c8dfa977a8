import type { components } from '../../../../generated/canonical/types.ts'
import { showPayout } from '../../../operator/payouts.ts'
import { type Html, html } from '../../../platform/html.ts'
import { resource } from '../../engine/shapes.ts'
import { code, money, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'
import { DESTINATION } from '../pickers/pickable.ts'
import { writePostings } from './postings.ts'

type Payout = components['schemas']['Payout']

export const PAYOUTS = resource<Payout>({
  path: 'payouts',
  title: 'Payouts',
  intro: 'Transfers from your balance to your payout destinations.',
  list: {
    operation: 'listPayouts',
    columns: [
      { title: 'Payout', show: ({ id }) => code(id) },
      { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Arrival date', show: ({ arrival_date }) => orDash(arrival_date) },
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
          ['usd', 'USD'],
          ['usdc', 'USDC'],
        ],
      },
    ],
  },
  detail: {
    operation: 'getPayout',
    parameter: 'payout_id',
    name: ({ id }) => id,
    facts: (payout, link) => [
      ['Status', state(payout.status)],
      ['Amount', money(payout.amount, payout.currency)],
      ['Destination', link.to(payout.destination_id)],
      ['Settlement', link.to(payout.settlement_id)],
      ['Chain', orDash(payout.chain?.id)],
      ['Transaction hash', payout.chain?.transaction_hash ? code(payout.chain.transaction_hash) : '–'],
      ['Confirmations', payout.chain === null ? '–' : String(payout.chain.confirmations)],
      ['Arrival date', orDash(payout.arrival_date)],
      ['Failure reason', payout.failure_code === null ? '–' : words(payout.failure_code)],
      ['Created', when(payout.created)],
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
      { title: 'Transfer', write: writeWay },
      {
        title: 'Ledger postings',
        write: ({ id }, visit, link) => writePostings(visit, showPayout, id, link),
      },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id }, _visit, link) =>
          html`<ul class="plain"><li>${link(`simulator/payout-failure?payout_id=${id}`, 'Simulate a failure')}</li><li>${link(`simulator/payout-return?payout_id=${id}`, 'Simulate a return')}</li></ul>`,
      },
    ],
  },
})

/** The transfer as the chain or the bank reports it. */
interface ShownTransfer {
  readonly transfer: {
    readonly state: string
    readonly recipient: string
    readonly held_up_since: string | null
    readonly updated: string
  } | null
  readonly bank: {
    readonly state: string
    readonly bank_id: string | null
    readonly paid_at: string | null
  } | null
}

async function writeWay({ id }: Payout, { operator, member }: DashboardVisit): Promise<Html> {
  const { transfer, bank } = (await showPayout(operator, member.tenantId, id)) as unknown as ShownTransfer
  if (transfer !== null)
    return facts([
      ['Status on chain', state(transfer.state)],
      ['Recipient', code(transfer.recipient)],
      ['Delayed since', when(transfer.held_up_since)],
      ['Updated', when(transfer.updated)],
    ])
  if (bank !== null)
    return facts([
      ['Status at the bank', state(bank.state)],
      ['Bank reference', orDash(bank.bank_id)],
      ['Paid', when(bank.paid_at)],
    ])
  return html`<p class="empty">The payout was not submitted to a chain or a bank.</p>`
}

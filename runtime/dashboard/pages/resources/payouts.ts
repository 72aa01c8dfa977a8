import type { components } from '../../../../generated/canonical/types.ts'
import { showPayout } from '../../../operator/payouts.ts'
import { type Html, html } from '../../../platform/html.ts'
import { resource } from '../../engine/shapes.ts'
import { code, money, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'
import { writePostings } from './postings.ts'
import { DESTINATION } from './suggestions.ts'

type Payout = components['schemas']['Payout']

export const PAYOUTS = resource<Payout>({
  path: 'payouts',
  title: 'Payouts',
  intro: 'Money on its way to you.',
  list: {
    operation: 'listPayouts',
    columns: [
      { title: 'Payout', show: ({ id }) => code(id) },
      { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Arrives', show: ({ arrival_date }) => orDash(arrival_date) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'State' },
    empty: 'No payout yet. Add a destination, then ask for the first one.',
  },
  create: {
    operation: 'createPayout',
    title: 'Pay out',
    button: 'Pay out',
    fields: [
      {
        name: 'destination_id',
        label: 'Destination',
        suggest: DESTINATION,
        hint: 'The identifier of one that is active.',
      },
      { name: 'amount', label: 'Amount', kind: 'amount', hint: 'Such as 12.50.' },
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
      ['State', state(payout.status)],
      ['Amount', money(payout.amount, payout.currency)],
      ['Destination', link.to(payout.destination_id)],
      ['Settlement', link.to(payout.settlement_id)],
      ['Chain', orDash(payout.chain?.id)],
      ['Transaction', payout.chain?.transaction_hash ? code(payout.chain.transaction_hash) : '–'],
      ['Confirmations', payout.chain === null ? '–' : String(payout.chain.confirmations)],
      ['Arrives', orDash(payout.arrival_date)],
      ['Failed because', payout.failure_code === null ? '–' : words(payout.failure_code)],
      ['Created', when(payout.created)],
    ],
    actions: [
      {
        name: 'cancel',
        operation: 'cancelPayout',
        button: 'Cancel',
        warning: 'The money stays in the balance.',
        isDanger: true,
        when: ({ status }) => status === 'pending',
      },
    ],
    sections: [
      { title: 'On its way', write: writeWay },
      {
        title: 'What the ledger was written for',
        write: ({ id }, visit, link) => writePostings(visit, showPayout, id, link),
      },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id }, _visit, link) =>
          html`<ul class="plain"><li>${link(`simulator/payout-failure?payout_id=${id}`, 'It fails')}</li><li>${link(`simulator/payout-return?payout_id=${id}`, 'It comes back')}</li></ul>`,
      },
    ],
  },
})

/** As the chain or the bank has it. */
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
      ['On chain', state(transfer.state)],
      ['To', code(transfer.recipient)],
      ['Held up since', when(transfer.held_up_since)],
      ['Seen last', when(transfer.updated)],
    ])
  if (bank !== null)
    return facts([
      ['At the bank', state(bank.state)],
      ['The bank calls it', orDash(bank.bank_id)],
      ['Paid', when(bank.paid_at)],
    ])
  return html`<p class="empty">Nothing was handed to a chain or a bank.</p>`
}

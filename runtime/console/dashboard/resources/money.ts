import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeTable } from '../shape/list-page.ts'
import { type Link, type Page, resource } from '../shape/shapes.ts'
import { code, money, orDash, state, when, words } from '../shape/values.ts'
import type { Visit } from '../shape/visit.ts'
import { DESTINATION } from './suggestions.ts'

type Settlement = components['schemas']['Settlement']
type Line = components['schemas']['SettlementLine']
type Payout = components['schemas']['Payout']
type Report = components['schemas']['TreasuryReport']

export const SETTLEMENTS = resource<Settlement>({
  path: 'settlements',
  title: 'Settlements',
  intro: 'What each day of card use comes to.',
  list: {
    operation: 'listSettlements',
    columns: [
      { title: 'Day', show: ({ period_start }) => period_start.slice(0, 10) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Net', show: ({ net_amount, currency }) => money(net_amount, currency) },
      { title: 'Lines', show: ({ lines_count }) => String(lines_count) },
      { title: 'Ends', show: ({ period_end }) => when(period_end) },
    ],
    filters: [
      { name: 'status', label: 'State', options: ['open', 'pending', 'processing', 'settled', 'failed'] },
    ],
    empty: 'No settlement yet. The first one begins with the first transaction that clears.',
  },
  detail: {
    operation: 'getSettlement',
    parameter: 'settlement_id',
    name: ({ period_start }) => `Settlement of ${period_start.slice(0, 10)}`,
    facts: (settlement, link) => [
      ['Identifier', code(settlement.id)],
      ['State', state(settlement.status)],
      ['Begins', when(settlement.period_start)],
      ['Ends', when(settlement.period_end)],
      ['Transactions', money(settlement.transaction_amount, settlement.currency)],
      ['Interchange', money(settlement.interchange_amount, settlement.currency)],
      ['Fees', money(settlement.fees_amount, settlement.currency)],
      ['Net', money(settlement.net_amount, settlement.currency)],
      [
        'Payout',
        settlement.payout_id === null
          ? '–'
          : link(`payouts/${settlement.payout_id}`, code(settlement.payout_id)),
      ],
    ],
    sections: [{ title: 'Latest lines', write: writeLines }],
  },
})

async function writeLines({ id }: Settlement, visit: Visit, link: Link): Promise<Html> {
  const { data } = await visit.read<Page<Line>>('listSettlementLines', { path: { settlement_id: id } })
  if (data.length === 0) return html`<p class="empty">No line yet: nothing has cleared in this time.</p>`
  return writeTable(
    'Lines',
    [
      { title: 'Type', show: ({ type }) => words(type) },
      { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
      { title: 'Of', show: ({ source_id }) => (source_id === null ? '–' : code(source_id)) },
      { title: 'Ledger entry', show: ({ ledger_entry_id }) => code(ledger_entry_id) },
      { title: 'When', show: ({ created }) => when(created) },
    ],
    data,
    link,
  )
}

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
    filters: [
      {
        name: 'status',
        label: 'State',
        options: ['pending', 'in_transit', 'paid', 'failed', 'canceled', 'returned'],
      },
    ],
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
      ['Destination', link(`payout-destinations/${payout.destination_id}`, code(payout.destination_id))],
      [
        'Settlement',
        payout.settlement_id === null
          ? '–'
          : link(`settlements/${payout.settlement_id}`, code(payout.settlement_id)),
      ],
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
  },
})

const TYPES = ['balance_summary', 'settlement_reconciliation', 'payout_reconciliation', 'ledger_entries']

export const REPORTS = resource<Report>({
  path: 'reports',
  title: 'Reports',
  intro: 'Files for your books, with the balance before and after.',
  list: {
    operation: 'listTreasuryReports',
    columns: [
      { title: 'Report', show: ({ type }) => words(type) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'From', show: ({ interval_start }) => when(interval_start) },
      { title: 'To', show: ({ interval_end }) => when(interval_end) },
    ],
    empty: 'No report yet. Ask for one, and its files are here as soon as they are made.',
  },
  create: {
    operation: 'createTreasuryReport',
    title: 'Ask for a report',
    button: 'Ask',
    fields: [
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: TYPES.map((type) => [type, words(type)] as const),
      },
      { name: 'interval_start', label: 'From', hint: 'In UTC, such as 2026-05-01T00:00:00.000Z.' },
      { name: 'interval_end', label: 'To', hint: 'Not included.' },
    ],
    body: (values) => ({ ...values, currency: 'usd' }),
  },
  detail: {
    operation: 'getTreasuryReport',
    parameter: 'treasury_report_id',
    name: ({ type }) => words(type),
    facts: ({ id, status, interval_start, interval_end, currency, result, failure_code }) => [
      ['Identifier', code(id)],
      ['State', state(status)],
      ['From', when(interval_start)],
      ['To', when(interval_end)],
      ['Opening', result === null ? '–' : money(result.opening, currency)],
      ['Closing', result === null ? '–' : money(result.closing, currency)],
      ['Rows', result === null ? '–' : String(result.row_count)],
      ['Failed because', failure_code === null ? '–' : words(failure_code)],
    ],
    sections: [
      {
        title: 'Files',
        write: ({ result }) =>
          result === null
            ? html`<p class="empty">Not made yet. Load this page again in a moment.</p>`
            : html`<ul class="plain">${result.files.map(
                ({ format, url, sha256 }) =>
                  html`<li><a href="${url}" rel="noreferrer">${format.toUpperCase()}</a> <span class="quiet">SHA-256 ${sha256}</span></li>`,
              )}</ul>`,
      },
    ],
  },
})

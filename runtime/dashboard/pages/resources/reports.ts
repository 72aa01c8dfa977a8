import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { readDay } from '../../engine/bodies.ts'
import { resource } from '../../engine/shapes.ts'
import { code, exactly, money, state, when, words } from '../../engine/values.ts'
import { figures } from '../../html/records.ts'

type TreasuryReport = components['schemas']['TreasuryReport']

const TYPES = [
  'statement',
  'journal',
  ...['balance_summary', 'settlement_reconciliation', 'payout_reconciliation', 'ledger_entries'],
]

export const REPORTS = resource<TreasuryReport>({
  path: 'reports',
  title: 'Reports',
  intro: 'Files for your accounting, with the opening and closing balances.',
  list: {
    operation: 'listTreasuryReports',
    columns: [
      { title: 'Report', show: ({ type }) => words(type) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'From', show: ({ interval_start }) => exactly(interval_start) },
      { title: 'To', show: ({ interval_end }) => exactly(interval_end) },
      {
        title: 'Closing balance',
        isAmount: true,
        show: ({ result, currency }) => (result === null ? '–' : money(result.closing, currency)),
      },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    empty: 'No reports yet. Create a report to download its files here.',
  },
  create: {
    operation: 'createTreasuryReport',
    title: 'Create report',
    button: 'Create report',
    fields: [
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: TYPES.map((type) => [type, words(type)] as const),
      },
      {
        name: 'interval_start',
        label: 'First day (UTC)',
        kind: 'date',
      },
      {
        name: 'interval_end',
        label: 'End (UTC)',
        kind: 'date',
        hint: 'The report ends when this day begins. A statement is from the first day of a month to the first day of the next month.',
      },
    ],
    body: ({ type, interval_start = '', interval_end = '' }) => ({
      type,
      interval_start: readDay(interval_start),
      interval_end: readDay(interval_end),
      currency: 'usd',
    }),
  },
  detail: {
    operation: 'getTreasuryReport',
    parameter: 'treasury_report_id',
    name: ({ type }) => words(type),
    status: ({ status }) => status,
    picture: ({ result, currency }) =>
      result === null
        ? html``
        : figures([
            { name: 'Opening balance', value: money(result.opening, currency) },
            { name: 'Closing balance', value: money(result.closing, currency) },
            { name: 'Rows', value: result.row_count.toLocaleString('en') },
          ]),
    facts: ({ id, interval_start, interval_end, failure_code, created }) => [
      ['From', exactly(interval_start)],
      ['To', exactly(interval_end)],
      ...(failure_code === null ? [] : [['Failure reason', words(failure_code)] as const]),
      ['Created', when(created)],
      ['ID', code(id)],
    ],
    sections: [
      {
        title: 'Files',
        write: ({ result, status }) =>
          result === null
            ? html`<p class="empty">${
                status === 'failed'
                  ? 'The report failed, so it has no files. Create it again.'
                  : 'The files are not ready yet. Reload this page in a moment.'
              }</p>`
            : html`<ul class="plain">${result.files.map(
                ({ format, url, sha256 }) =>
                  html`<li><a href="${url}" rel="noreferrer">${format.toUpperCase()}</a> <span class="quiet">SHA-256 ${sha256}</span></li>`,
              )}</ul>`,
      },
    ],
  },
})

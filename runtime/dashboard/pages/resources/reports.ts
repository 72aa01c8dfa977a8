import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { resource } from '../../engine/shapes.ts'
import { code, exactly, money, state, words } from '../../engine/values.ts'

type TreasuryReport = components['schemas']['TreasuryReport']

const TYPES = ['balance_summary', 'settlement_reconciliation', 'payout_reconciliation', 'ledger_entries']

/** A day begins at midnight UTC. */
function readInstant(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00.000Z` : text
}

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
        hint: 'The report ends when this day begins.',
      },
    ],
    body: ({ type, interval_start = '', interval_end = '' }) => ({
      type,
      interval_start: readInstant(interval_start),
      interval_end: readInstant(interval_end),
      currency: 'usd',
    }),
  },
  detail: {
    operation: 'getTreasuryReport',
    parameter: 'treasury_report_id',
    name: ({ type }) => words(type),
    facts: ({ id, status, interval_start, interval_end, currency, result, failure_code }) => [
      ['ID', code(id)],
      ['Status', state(status)],
      ['From', exactly(interval_start)],
      ['To', exactly(interval_end)],
      ['Opening balance', result === null ? '–' : money(result.opening, currency)],
      ['Closing balance', result === null ? '–' : money(result.closing, currency)],
      ['Rows', result === null ? '–' : String(result.row_count)],
      ['Failure reason', failure_code === null ? '–' : words(failure_code)],
    ],
    sections: [
      {
        title: 'Files',
        write: ({ result }) =>
          result === null
            ? html`<p class="empty">The files are not ready yet. Reload this page in a moment.</p>`
            : html`<ul class="plain">${result.files.map(
                ({ format, url, sha256 }) =>
                  html`<li><a href="${url}" rel="noreferrer">${format.toUpperCase()}</a> <span class="quiet">SHA-256 ${sha256}</span></li>`,
              )}</ul>`,
      },
    ],
  },
})

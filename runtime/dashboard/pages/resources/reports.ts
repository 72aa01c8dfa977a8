import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { resource } from '../../engine/shapes.ts'
import { code, money, state, when, words } from '../../engine/values.ts'

type TreasuryReport = components['schemas']['TreasuryReport']

const TYPES = ['balance_summary', 'settlement_reconciliation', 'payout_reconciliation', 'ledger_entries']

/** A day begins at midnight in UTC. */
function readInstant(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00.000Z` : text
}

export const REPORTS = resource<TreasuryReport>({
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
      { name: 'interval_start', label: 'From', hint: 'A day in UTC such as 2026-05-01, or an instant.' },
      { name: 'interval_end', label: 'To', hint: 'Not included.' },
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

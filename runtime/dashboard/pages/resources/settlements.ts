import type { components } from '../../../../generated/canonical/types.ts'
import { showSettlement } from '../../../operator/settlements.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type LinkTo, resource } from '../../engine/shapes.ts'
import { code, exactly, money, state } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { writePostings } from './postings.ts'
import { LINE_COLUMNS } from './settlement-lines.ts'

type Settlement = components['schemas']['Settlement']

export const SETTLEMENTS = resource<Settlement>({
  path: 'settlements',
  title: 'Settlements',
  intro: 'Daily totals of cleared card transactions, interchange, and fees.',
  list: {
    operation: 'listSettlements',
    columns: [
      { title: 'Date', show: ({ period_start }) => period_start.slice(0, 10) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Net', show: ({ net_amount, currency }) => money(net_amount, currency) },
      { title: 'Lines', show: ({ lines_count }) => String(lines_count) },
      { title: 'Period end', show: ({ period_end }) => exactly(period_end) },
    ],
    filters: { status: 'Status' },
    empty: 'No settlements yet. The first settlement opens when a transaction clears.',
  },
  detail: {
    operation: 'getSettlement',
    parameter: 'settlement_id',
    name: ({ period_start }) => `Settlement of ${period_start.slice(0, 10)}`,
    facts: (settlement, link) => [
      ['ID', code(settlement.id)],
      ['Status', state(settlement.status)],
      ['Period start', exactly(settlement.period_start)],
      ['Period end', exactly(settlement.period_end)],
      ['Transactions', money(settlement.transaction_amount, settlement.currency)],
      ['Interchange', money(settlement.interchange_amount, settlement.currency)],
      ['Fees', money(settlement.fees_amount, settlement.currency)],
      ['Net', money(settlement.net_amount, settlement.currency)],
      ['Payout', link.to(settlement.payout_id)],
    ],
    sections: [
      { title: 'Lines', write: writeFirstLines },
      {
        title: 'Ledger postings',
        write: ({ id }, visit, link) => writePostings(visit, showSettlement, id, link),
      },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id }, _visit, link) =>
          html`<ul class="plain"><li>${link(`simulator/clock?settlement_id=${id}`, 'Advance the settlement clock')}</li><li>${link(`simulator/settlement-failure?settlement_id=${id}`, 'Simulate a failure')}</li></ul>`,
      },
    ],
  },
})

const FIRST = 10

function writeFirstLines({ id, lines, lines_count }: Settlement, _visit: DashboardVisit, link: LinkTo): Html {
  if (lines_count === 0)
    return html`<p class="empty">No settlement lines yet. No transactions cleared in this period.</p>`
  return html`${writeTable('Lines', LINE_COLUMNS, lines.slice(0, FIRST), link)}
<p>${link(`settlements/${id}/lines`, `View all ${lines_count} lines`)}</p>`
}

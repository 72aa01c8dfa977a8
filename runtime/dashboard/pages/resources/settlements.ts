import type { components } from '../../../../generated/canonical/types.ts'
import { showSettlementAmounts } from '../../../operator/settlements.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeRelated } from '../../engine/detail-page.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type LinkTo, resource } from '../../engine/shapes.ts'
import { code, money, state, when, writeMoney } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { panel, waterfall } from '../../html/records.ts'
import { writeDay } from './money-texts.ts'
import { PAYOUTS } from './payouts.ts'
import { readMoney, writePostings } from './postings.ts'
import { LINE_COLUMNS } from './settlement-lines.ts'
import { writeSteps } from './simulator-steps.ts'

type Settlement = components['schemas']['Settlement']
type LineType = Settlement['lines'][number]['type']

export const SETTLEMENTS = resource<Settlement>({
  path: 'settlements',
  title: 'Settlements',
  intro: 'Daily totals of cleared card transactions, interchange, and fees.',
  list: {
    operation: 'listSettlements',
    columns: [
      {
        title: 'Period',
        show: ({ period_start }) => html`<span class="number">${writeDay(period_start)}</span>`,
      },
      { title: 'Net', isAmount: true, show: ({ net_amount, currency }) => money(net_amount, currency) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Payout', show: ({ payout_id }, link) => link.to(payout_id) },
      { title: 'Lines', isAmount: true, show: ({ lines_count }) => String(lines_count) },
      { title: 'Period end', show: ({ period_end }) => when(period_end) },
    ],
    filters: { status: 'Status' },
    empty: 'No settlements yet. The first settlement opens when a transaction clears.',
  },
  detail: {
    operation: 'getSettlement',
    parameter: 'settlement_id',
    name: ({ period_start }) => `Settlement of ${writeDay(period_start)}`,
    status: ({ status }) => status,
    picture: async (settlement, visit) =>
      panel(`Net: ${writeMoney(settlement.net_amount, settlement.currency)}`, await draw(settlement, visit)),
    facts: ({ id, period_start, payout_id, lines_count }, link) => [
      ['Period', `${writeDay(period_start)}, from 00:00 to 24:00 UTC`],
      ['Payout', link.to(payout_id)],
      ['Lines', String(lines_count)],
      ['ID', code(id)],
    ],
    sections: [
      {
        title: 'Payout',
        write: ({ id, status }, visit) =>
          writeRelated(visit, PAYOUTS, {
            query: { settlement_id: id },
            empty:
              status === 'settled'
                ? 'No payout. Only a positive net amount is paid, and only to an active default destination.'
                : 'No payout yet. A positive net amount is paid when the settlement is settled.',
            all: 'View all payouts of this settlement',
            without: ['Settlement'],
          }),
      },
      { title: 'Lines', write: writeFirstLines },
      {
        title: 'Ledger postings',
        write: ({ id }, visit, link) => writePostings(visit, showSettlementAmounts, id, link),
      },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id }) =>
          writeSteps(`settlement_id=${id}`, [
            ['clock', 'Advance the settlement clock'],
            ['settlement-failure', 'Failure'],
          ]),
      },
    ],
  },
})

/** Steps of the waterfall in order. The program has paid for clearings already, so it gets their amount back. */
const STEPS: readonly (readonly [type: LineType, name: string])[] = [
  ['card_transaction', 'Cleared'],
  ['card_refund', 'Refunds'],
  ['program_funding', 'Program funding'],
  ['interchange', 'Interchange'],
  ['network_fee', 'Network fees'],
  ['dispute', 'Disputes'],
  ['dispute_reversal', 'Dispute reversals'],
  ['adjustment', 'Adjustments'],
]

interface ShownAmounts {
  readonly amounts: Readonly<Record<LineType, number>>
}

async function draw({ id, currency, net_amount }: Settlement, visit: DashboardVisit): Promise<Html> {
  const { amounts } = await readMoney<ShownAmounts>(visit, showSettlementAmounts, id)
  const steps = STEPS.flatMap(([type, name]) => {
    const amount = amounts[type]
    return amount === 0 ? [] : [{ name, amount, text: money(amount, currency) }]
  })
  return waterfall(steps, { name: 'Net', amount: net_amount, text: money(net_amount, currency) })
}

const FIRST = 10

function writeFirstLines({ id, lines, lines_count }: Settlement, _visit: DashboardVisit, link: LinkTo): Html {
  if (lines_count === 0)
    return html`<p class="empty">No settlement lines yet. No transactions cleared in this period.</p>`
  const columns = LINE_COLUMNS.filter(({ title }) => title !== 'Ledger entry')
  return html`${writeTable('Lines', columns, lines.slice(0, FIRST), link)}
<p class="more">${link(`settlements/${id}/lines`, `View all ${lines_count} lines`)}</p>`
}

/** The settlements of a card transaction and of its disputes. */
import type { components } from '../../../../generated/canonical/types.ts'
import { readSettlementsOf } from '../../../money/settlement-lines/of-sources.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { ApiPage, Identified, LinkTo } from '../../engine/shapes.ts'
import { money, state } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { writeDay } from './money-texts.ts'

type Transaction = components['schemas']['CardTransaction']

export async function writeSettlements(
  transaction: Transaction,
  visit: DashboardVisit,
  link: LinkTo,
): Promise<Html> {
  const { id, currency } = transaction
  const [{ db, space }, disputes] = await Promise.all([
    visit.place(),
    visit.read<ApiPage<Identified>>('listDisputes', { query: { card_transaction_id: id } }),
  ])
  const sources = [id, ...disputes.data.map((dispute) => dispute.id)]
  const settlements = await readSettlementsOf(db, space, sources)
  if (settlements.length === 0)
    return html`<p class="empty">In no settlement yet. A clearing is part of the settlement of its day.</p>`
  return writeTable(
    'Settlements',
    [
      {
        title: 'Settlement',
        show: (each) =>
          link(`settlements/${each.id}`, html`<span class="number">${writeDay(each.period_start)}</span>`),
      },
      { title: 'Status', show: ({ status }) => state(status) },
      ...(['transactions', 'interchange', 'fees', 'disputes'] as const).map((name) => ({
        title: TITLES[name],
        isAmount: true,
        show: (each: (typeof settlements)[number]) => money(each[name], currency),
      })),
    ],
    settlements,
    link,
  )
}

const TITLES = {
  transactions: 'Transaction',
  interchange: 'Interchange',
  fees: 'Fees',
  disputes: 'Disputes',
} as const

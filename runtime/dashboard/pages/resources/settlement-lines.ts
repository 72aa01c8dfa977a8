/** Lines of a settlement, each with what it comes from and the entry of the ledger behind it. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { showList } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { type ListColumn, resource } from '../../engine/shapes.ts'
import { money, when, words } from '../../engine/values.ts'
import { roleFor } from '../../engine/visit.ts'

type Line = components['schemas']['SettlementLine']

export const LINE_COLUMNS: readonly ListColumn<Line>[] = [
  { title: 'Type', show: ({ type }) => words(type) },
  { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
  { title: 'Of', show: ({ source_id }, link) => link.to(source_id) },
  {
    title: 'Ledger entry',
    show: ({ ledger_entry_id }, link) => link.to(ledger_entry_id),
  },
  { title: 'When', show: ({ created }) => when(created) },
]

const linesOf = (id: string) =>
  resource<Line>({
    path: `settlements/${encodeURIComponent(id)}/lines`,
    menu: 'settlements',
    title: 'Lines of a settlement',
    intro: 'What is yours is positive, what you owe negative.',
    list: {
      operation: 'listSettlementLines',
      of: { settlement_id: id },
      columns: LINE_COLUMNS,
      filters: { type: 'Type', source_id: 'Of' },
      empty: 'No line yet: nothing has cleared in this time.',
    },
  })

export function settlementLineRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/settlements/:id/lines`,
    environment,
    needs: roleFor('listSettlementLines'),
    handle: (visit, id) => showList(visit, linesOf(id), send),
  }))
}

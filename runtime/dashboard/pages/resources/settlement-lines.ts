/** The list of settlement lines, each with its source and its ledger entry. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Exports, exportRoutesOf } from '../../engine/export.ts'
import { filtersOf, queryOf, readFilters } from '../../engine/filters.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { showList } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { type ListColumn, resource } from '../../engine/shapes.ts'
import { money, when, words } from '../../engine/values.ts'
import { type DashboardVisit, roleFor } from '../../engine/visit.ts'

type Line = components['schemas']['SettlementLine']

export const LINE_COLUMNS: readonly ListColumn<Line>[] = [
  { title: 'Type', show: ({ type }) => words(type) },
  { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
  { title: 'Source', show: ({ source_id }, link) => link.to(source_id) },
  {
    title: 'Ledger entry',
    show: ({ ledger_entry_id }, link) => link.to(ledger_entry_id),
  },
  { title: 'Created', show: ({ created }) => when(created) },
]

const linesOf = (id: string) =>
  resource<Line>({
    path: `settlements/${encodeURIComponent(id)}/lines`,
    menu: 'settlements',
    title: 'Settlement lines',
    intro: 'Amounts owed to you are positive. Amounts that you owe are negative.',
    list: {
      operation: 'listSettlementLines',
      of: { settlement_id: id },
      columns: LINE_COLUMNS,
      filters: { type: 'Type', source_id: 'Source ID' },
      empty: 'No settlement lines yet. No transactions cleared in this period.',
    },
  })

export function settlementLineRoutes(send: SendFramed, exports: Exports): DashboardRoute[] {
  const shown = ENVIRONMENTS.map((environment) => ({
    method: 'GET' as const,
    path: `/${environment}/settlements/:id/lines`,
    environment,
    needs: roleFor('listSettlementLines'),
    handle: (visit: DashboardVisit, id: string) => showList(visit, linesOf(id), send),
  }))
  const { operation } = linesOf('').list
  const exported = exportRoutesOf('settlements/:id/lines', operation, exports, (visit, id) => {
    const { list } = linesOf(id)
    const query = queryOf(visit, readFilters(visit, filtersOf(list)))
    return { name: 'settlement-lines', operation, of: list.of, query }
  })
  return [...shown, ...exported]
}

/** Lines of a settlement, each with what it comes from and the entry of the ledger behind it. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { showList } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { type LinkTo, type ListColumn, resource, type ShownText } from '../../engine/shapes.ts'
import { code, money, when, words } from '../../engine/values.ts'
import { roleFor } from '../../engine/visit.ts'

type Line = components['schemas']['SettlementLine']

const TYPES = [
  'card_transaction',
  'card_refund',
  'interchange',
  'network_fee',
  'dispute',
  'dispute_reversal',
  'program_funding',
  'adjustment',
] as const satisfies readonly Line['type'][]

const SOURCES: Readonly<Record<string, string>> = {
  ctx: 'card-transactions',
  dsp: 'disputes',
  po: 'payouts',
  stl: 'settlements',
}

/** The page of what an identifier names, where it has one. */
export function linkTo(id: string, link: LinkTo): ShownText {
  const path = SOURCES[id.split('_')[0]!]
  return path === undefined ? code(id) : link(`${path}/${id}`, code(id))
}

export const LINE_COLUMNS: readonly ListColumn<Line>[] = [
  { title: 'Type', show: ({ type }) => words(type) },
  { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
  { title: 'Of', show: ({ source_id }, link) => (source_id === null ? '–' : linkTo(source_id, link)) },
  {
    title: 'Ledger entry',
    show: ({ ledger_entry_id }, link) => link(`ledger-entries/${ledger_entry_id}`, code(ledger_entry_id)),
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
      filters: [
        { name: 'type', label: 'Type', options: TYPES },
        { name: 'source_id', label: 'Of' },
      ],
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

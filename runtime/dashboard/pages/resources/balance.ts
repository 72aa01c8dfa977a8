/** The balance page: available, held, and payable amounts, and the latest entries, card transactions, settlements and payouts. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeRelated } from '../../engine/detail-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { DashboardResource, Identified } from '../../engine/shapes.ts'
import { money } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { figures, panel } from '../../html/records.ts'
import { ALERT_PATH } from './balance-alert.ts'
import { BALANCE_ENTRIES } from './balance-entries.ts'
import { CARD_TRANSACTIONS } from './card-transactions.ts'
import { PAYOUTS } from './payouts.ts'
import { SETTLEMENTS } from './settlements.ts'

type Balance = components['schemas']['Balance']

export const BALANCE_PATH = 'balance'

export function balanceRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/${BALANCE_PATH}`,
    environment,
    needs: roleFor('getBalance'),
    handle: (visit) => show(visit, send),
  }))
}

async function show(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const [{ available, held, payable, currency }, ...latest] = await Promise.all([
    visit.read<Balance>('getBalance'),
    ...[BALANCE_ENTRIES, CARD_TRANSACTIONS, SETTLEMENTS, PAYOUTS].map((each) => writeLatest(visit, each)),
  ])
  const link = linkIn(visit)
  const content = html`${figures([
    { name: 'Available for card spending', value: money(available, currency), more: setAlert(visit) },
    {
      name: 'Held for open authorizations',
      value: money(held, currency),
      more: link('card-transactions?status=authorized', 'View open authorizations'),
    },
    { name: 'Available for payout', value: money(payable, currency), more: payOut(visit, payable) },
  ])}
${latest}`
  send(visit, 200, { title: 'Balance', path: BALANCE_PATH, content })
}

function payOut(visit: DashboardVisit, payable: number): Html | undefined {
  const isPossible = payable > 0 && mayAct(visit.member.role, roleFor('createPayout'))
  return isPossible ? linkIn(visit)(`${PAYOUTS.path}/new`, 'Create payout') : undefined
}

function setAlert(visit: DashboardVisit): Html | undefined {
  const isPossible = mayAct(visit.member.role, roleFor('putBalanceAlert'))
  return isPossible ? linkIn(visit)(ALERT_PATH, 'Set low balance alert') : undefined
}

async function writeLatest(visit: DashboardVisit, latest: DashboardResource<Identified>): Promise<Html> {
  const title = latest.title.toLowerCase()
  const { empty } = latest.list
  const table = await writeRelated(visit, latest, { query: { limit: '5' }, empty, all: `View all ${title}` })
  return panel(`Latest ${title}`, table)
}

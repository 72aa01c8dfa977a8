/** The balance page: available, held, and payable amounts. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { money } from '../../engine/values.ts'
import { type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'

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
  const { available, held, payable, currency } = await visit.read<Balance>('getBalance')
  const link = linkIn(visit)
  const content = html`${facts([
    ['Available for card spending', money(available, currency)],
    ['Held for open authorizations', money(held, currency)],
    ['Available for payout', money(payable, currency)],
  ])}
<ul class="plain"><li>${link('card-transactions', 'Transactions')}</li><li>${link('settlements', 'Settlements')}</li><li>${link('payouts', 'Payouts')}</li></ul>`
  send(visit, 200, { title: 'Balance', path: BALANCE_PATH, content })
}

/** Ledger postings of a settlement or a payout, and the page of one ledger entry. */

import { showLedgerEntry } from '../../../operator/ledger.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { Operator } from '../../../tenants/admin/change.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { LinkTo } from '../../engine/shapes.ts'
import { code, money, when, words } from '../../engine/values.ts'
import { ApiRefused, type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'

const CURRENCY = 'usd'

export interface ShownPosting {
  readonly cause: string
  readonly created: string
}

type Show = (operator: Operator, tenantId: string, id: string) => Promise<object>

const records = new WeakMap<DashboardVisit, Promise<object>>()

/** Reads the settlement or payout of a page as an operator sees it, once for all parts of the page. */
export async function readMoney<Shown>(visit: DashboardVisit, show: Show, id: string): Promise<Shown> {
  const read = records.get(visit) ?? show(visit.operator, visit.member.tenantId, id)
  records.set(visit, read)
  return (await read) as Shown
}

/** @param show reads the settlement or payout. */
export async function writePostings(
  visit: DashboardVisit,
  show: Show,
  id: string,
  link: LinkTo,
): Promise<Html> {
  const { postings } = await readMoney<{ postings: readonly ShownPosting[] }>(visit, show, id)
  if (postings.length === 0)
    return html`<p class="empty">No ledger postings yet. The ledger is updated when money moves.</p>`
  return html`<details><summary>Show postings (${String(postings.length)})</summary>
${writeTable(
  'Ledger postings',
  [
    { title: 'Cause', show: ({ cause }: ShownPosting) => code(cause) },
    { title: 'Created', show: ({ created }: ShownPosting) => when(created) },
  ],
  postings,
  link,
)}</details>`
}

export function ledgerEntryRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/ledger-entries/:id`,
    environment,
    needs: roleFor('listSettlementLines'),
    handle: (visit, id) => showEntry(visit, id, send),
  }))
}

async function showEntry(visit: DashboardVisit, id: string, send: SendFramed): Promise<void> {
  const { operator, member, environment } = visit
  const transaction = await showLedgerEntry(operator, member.tenantId, environment, id)
  if (!transaction) throw new ApiRefused(404, 'Ledger entry not found. Check the ID and the environment.')
  const link = linkIn(visit)
  const { cause, created, entries } = transaction
  const content = html`${facts([
    ['ID', code(id)],
    ['Source', link.to(cause.split('/')[0]!)],
    ['Cause', code(cause)],
    ['Created', when(created)],
  ])}
<section><h2>Account entries</h2>
${writeTable(
  'Account entries',
  [
    { title: 'Account', show: ({ account }) => words(account) },
    { title: 'Amount', isAmount: true, show: ({ amount }) => money(amount, CURRENCY) },
    { title: 'Before', isAmount: true, show: ({ previous }) => money(previous, CURRENCY) },
    { title: 'After', isAmount: true, show: ({ current }) => money(current, CURRENCY) },
    { title: 'Account version', show: ({ version }) => String(version) },
    { title: 'Entry ID', show: (entry) => code(entry.id) },
  ],
  entries,
  link,
)}
<p class="quiet">The amounts of the two entries add up to zero: a debit on one account is a credit on the other.</p></section>`
  send(visit, 200, { title: 'Ledger entry', path: 'settlements', content })
}

import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { linkNaming } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type ApiPage, type LinkTo, type ListColumn, resource } from '../../engine/shapes.ts'
import { code, exactly, money, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { figures } from '../../html/records.ts'

type Schemas = components['schemas']
type Backtest = Schemas['SpendingControlBacktest']
type Flip = Schemas['SpendingControlFlip']

const CURRENCY = 'usd'

const countOf = (counted: Schemas['SpendingControlCount'] | undefined): string =>
  counted ? counted.count.toLocaleString('en') : '–'

const COLUMNS: readonly ListColumn<Backtest>[] = [
  { title: 'From', show: ({ interval_start }) => exactly(interval_start) },
  { title: 'To', show: ({ interval_end }) => exactly(interval_end) },
  { title: 'Status', show: ({ status }) => state(status) },
  { title: 'Evaluated', isAmount: true, show: ({ result }) => countOf(result?.evaluated) },
  {
    title: 'Newly declined',
    isAmount: true,
    show: ({ result }) => countOf(result?.approved_to_declined),
  },
  {
    title: 'Newly approved',
    isAmount: true,
    show: ({ result }) => countOf(result?.declined_to_approved),
  },
  { title: 'Changed amount', isAmount: true, show: ({ result }) => countOf(result?.amount_changed) },
]

export const SPENDING_CONTROL_BACKTESTS = resource<Backtest>({
  path: 'spending-control-backtests',
  menu: 'cards',
  title: 'Backtests',
  intro:
    'What drafts of spending controls would have decided otherwise. Start a backtest on the page of a draft.',
  list: {
    operation: 'listSpendingControlBacktests',
    columns: [
      { title: 'Draft', show: ({ spending_control_draft_id: id }, link) => link.to(id) },
      ...COLUMNS,
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { spending_control_draft_id: 'Draft ID' },
    empty: 'No backtests yet. Create a control draft, and start a backtest on its page.',
  },
  detail: {
    operation: 'getSpendingControlBacktest',
    parameter: 'spending_control_backtest_id',
    name: ({ version }) => `Backtest of version ${version}`,
    status: ({ status }) => status,
    picture: ({ result }) => (result === null ? html`` : writeResult(result)),
    facts: (
      { id, spending_control_draft_id, interval_start, interval_end, progress, result, created },
      link,
    ) => [
      ['Draft', link.to(spending_control_draft_id)],
      ['From', exactly(interval_start)],
      ['To', exactly(interval_end)],
      ['Progress', `${progress} %`],
      ...(result?.fixed ?? []).map(
        ({ cause, count }) => [`Held fixed: ${words(cause)}`, count.toLocaleString('en')] as const,
      ),
      ['Created', when(created)],
      ['ID', code(id)],
    ],
    sections: [{ title: 'Changed decisions', write: writeFlips }],
  },
})

/** Writes what a draft would have decided, in figures. */
export const writeResult = (result: Schemas['SpendingControlBacktestResult']): Html =>
  figures([
    { name: 'Evaluated', value: countOf(result.evaluated) },
    { name: 'Newly declined', value: countOf(result.approved_to_declined) },
    { name: 'Amount newly declined', value: money(result.approved_to_declined.amount, CURRENCY) },
    { name: 'Newly approved', value: countOf(result.declined_to_approved) },
    { name: 'Amount newly approved', value: money(result.declined_to_approved.amount, CURRENCY) },
    { name: 'Changed amount', value: countOf(result.amount_changed) },
  ])

/** Flips of earlier versions of the service have no approved amounts. */
const moneyOrDash = (amount: number | undefined) => (amount === undefined ? '–' : money(amount, CURRENCY))

const FLIP_COLUMNS: readonly ListColumn<Flip>[] = [
  { title: 'Transaction', show: ({ card_transaction_id }, link) => link.to(card_transaction_id) },
  { title: 'Card', show: ({ card_id }, link) => link.to(card_id) },
  { title: 'Change', show: ({ change }) => words(change) },
  { title: 'Reason', show: ({ rule, code }) => words(rule ?? code) },
  { title: 'Requested', isAmount: true, show: ({ amount }) => money(amount, CURRENCY) },
  { title: 'Approved', isAmount: true, show: ({ recorded_amount }) => moneyOrDash(recorded_amount) },
  { title: 'By the draft', isAmount: true, show: ({ draft_amount }) => moneyOrDash(draft_amount) },
  { title: 'Time', show: ({ created }) => when(created) },
]

/** Number of flips on the page of a backtest. */
const SHOWN = '25'

async function writeFlips({ id, status }: Backtest, visit: DashboardVisit): Promise<Html> {
  const { data } = await visit.read<ApiPage<Flip>>('listSpendingControlFlips', {
    path: { spending_control_backtest_id: id },
    query: { limit: SHOWN },
  })
  return status === 'pending'
    ? html`<p class="empty">The backtest is not complete yet. Reload this page in a moment.</p>`
    : writeFlipTable(data, visit)
}

async function writeFlipTable(flips: readonly Flip[], visit: DashboardVisit): Promise<Html> {
  if (flips.length > 0)
    return writeTable('Changed decisions', FLIP_COLUMNS, flips, await linkNaming(visit, flips))
  return html`<p class="empty">The draft would have decided nothing otherwise.</p>`
}

const REASON_COLUMNS: readonly ListColumn<Schemas['SpendingControlReason']>[] = [
  { title: 'Change', show: ({ change }) => words(change) },
  { title: 'Reason', show: ({ code }) => words(code) },
  { title: 'Decisions', isAmount: true, show: countOf },
  { title: 'Amount', isAmount: true, show: ({ amount }) => money(amount, CURRENCY) },
]

/** Writes what the newest shadow of a draft has found, with its newest flips. */
export async function writeShadow(draftId: string, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const path = { spending_control_draft_id: draftId }
  const [{ version, started, ended, result }, { data }] = await Promise.all([
    visit.read<Schemas['SpendingControlShadow']>('getSpendingControlShadow', { path }),
    visit.read<ApiPage<Flip>>('listSpendingControlShadowFlips', { path, query: { limit: SHOWN } }),
  ])
  return html`<p>Version ${String(version)}, from ${exactly(started)} ${
    ended === null ? 'until now' : html`to ${exactly(ended)}`
  }.</p>
${writeResult(result)}
${result.reasons.length > 0 && writeTable('Reasons', REASON_COLUMNS, result.reasons, link)}
${await writeFlipTable(data, visit)}`
}

/** Writes the newest backtests of a draft. */
export async function writeBacktests(draftId: string, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const { data } = await visit.read<ApiPage<Backtest>>('listSpendingControlBacktests', {
    query: { spending_control_draft_id: draftId, limit: SHOWN },
  })
  if (data.length === 0) return html`<p class="empty">No backtests yet.</p>`
  const opened: ListColumn<Backtest> = {
    title: 'Backtest',
    show: ({ id, version }, to) => to(`spending-control-backtests/${id}`, `Version ${version}`),
  }
  return writeTable('Backtests', [opened, ...COLUMNS], data, link)
}

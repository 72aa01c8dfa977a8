/** The figures and charts of the home page, from totals that are kept. */

import {
  type LabelTotal,
  readDayTotals,
  readLabelTotals,
  readTotalsState,
  type TotalKind,
  type TotalsState,
} from '../../../account/totals/reading.ts'
import { labelOf, OTHER_CATEGORIES } from '../../../cards/merchant-categories/catalogue.ts'
import type { Database } from '../../../database/database.ts'
import { type Funds, readAccount } from '../../../money/ledger/accounts.ts'
import { readBalanceBefore } from '../../../money/ledger/positions.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeQuery } from '../../engine/filters.ts'
import type { LinkTo } from '../../engine/shapes.ts'
import { when, words, writeMoney } from '../../engine/values.ts'
import { drawChart } from '../../html/chart.ts'
import type { Figure } from '../../html/records.ts'
import { joined, percent } from './health.ts'
import { type Period, type PeriodTotals, totalsOf } from './period.ts'

/** What the home page shows of a period. */
export interface Overview {
  readonly period: Period
  readonly totals: PeriodTotals
  readonly labels: readonly LabelTotal[]
  readonly state: TotalsState
  /** Cents: the balance before the first day. */
  readonly opening: number
  readonly funds: Funds
}

export async function readOverview(db: Database, space: string, period: Period): Promise<Overview> {
  const days = { first: period.first, last: period.last }
  const [totals, labels, state, opening, funds] = await Promise.all([
    readDayTotals(db, space, { first: period.comparedFirst, last: period.last }),
    readLabelTotals(db, space, days),
    readTotalsState(db, space),
    readBalanceBefore(db, space, 'program_funds', Date.parse(period.first)),
    readAccount(db, space, 'program_funds'),
  ])
  return { period, totals: totalsOf(period, totals, state.since), labels, state, opening, funds }
}

const usd = (cents: number) => writeMoney(cents, 'usd')
const number = (count: number) => count.toLocaleString('en')

/** Returns the address of a list with the records of the period. */
const listOf = ({ first }: Period, path: string, filter: Readonly<Record<string, string>> = {}): string =>
  `${path}${writeQuery({ ...filter, from: first })}`

export function writeFigures({ period, totals, funds }: Overview, link: LinkTo): readonly Figure[] {
  const { sum } = totals
  const approved = sum('card.transaction.authorized', 'count')
  const declined = sum('card.transaction.declined', 'count')
  const compared = (kind: TotalKind, of: 'count' | 'amount') => writeChange(totals.change(kind, of), period)
  const refunds = sum('card_refunds', 'amount')
  return [
    {
      name: 'Balance now',
      value: link('balance', usd(funds.balance)),
      more: funds.held > 0 ? `${usd(funds.held)} held` : 'nothing held',
    },
    {
      name: 'Card spend',
      value: link(
        listOf(period, 'card-transactions', { status: 'cleared' }),
        usd(sum('card_spending', 'amount')),
      ),
      more: joined([refunds > 0 && `${usd(refunds)} refunded`, compared('card_spending', 'amount')]),
    },
    {
      name: 'Approval rate',
      value:
        approved + declined === 0
          ? '–'
          : link(
              listOf(period, 'card-transactions', { status: 'declined' }),
              percent(approved, approved + declined),
            ),
      more: `${number(approved)} approved, ${number(declined)} declined`,
    },
    {
      name: 'Passes issued',
      value: link(listOf(period, 'passes'), number(sum('pass.created', 'count'))),
      more: compared('pass.created', 'count'),
    },
    {
      name: 'Pass installs',
      value: link(
        listOf(period, 'events', { type: 'pass.installed' }),
        number(sum('pass.installed', 'count')),
      ),
      more: compared('pass.installed', 'count'),
    },
    {
      name: 'Pass removals',
      value: link(
        listOf(period, 'events', { type: 'pass.uninstalled' }),
        number(sum('pass.uninstalled', 'count')),
      ),
      more: compared('pass.uninstalled', 'count'),
    },
  ]
}

function writeChange(change: number | undefined, { days }: Period): Html | undefined {
  if (change === undefined) return undefined
  const shown = Math.round(change * 100)
  const sign = shown > 0 ? '+' : shown < 0 ? '−' : '±'
  return html`<span title="Complete days only, without today">${sign}${number(Math.abs(shown))}% vs. previous ${String(days - 1)} days</span>`
}

/** Writes the charts of what the tenant uses. */
export async function writeCharts(overview: Overview, link: LinkTo): Promise<Html> {
  const { period, totals, opening, funds } = overview
  const labels = period.parts.map(({ label }) => label)
  const axis = { labels, table: period.unit }
  const per = period.unit === 'Day' ? 'by day' : 'by week'
  const dollars = (cents: readonly number[]) => cents.map((each) => each / 100)
  const balances = totals.balances(opening, funds.balance)
  const spending = totals.parts('card_spending', 'amount')
  const counts = (kind: TotalKind) => totals.parts(kind, 'count')
  const isUsed = (...each: readonly (readonly number[])[]) => each.flat().some((value) => value !== 0)
  const [approved, declined] = [counts('card.transaction.authorized'), counts('card.transaction.declined')]
  const [issued, installed, removed] = [
    counts('pass.created'),
    counts('pass.installed'),
    counts('pass.uninstalled'),
  ]
  const money = { unit: ' USD', digits: 2 }
  const charts = [
    isUsed(balances) &&
      (await drawChart({
        ...axis,
        ...money,
        title: 'Balance',
        lines: [{ name: 'Balance', kind: 'plain', values: dollars(balances) }],
      })),
    isUsed(issued, installed, removed) &&
      (await drawChart({
        ...axis,
        title: `Passes ${per}`,
        lines: [
          { name: 'Issued', kind: 'plain', values: issued },
          { name: 'Installed', kind: 'good', values: installed },
          { name: 'Removed', kind: 'warn', values: removed },
        ],
      })),
    isUsed(spending) &&
      html`${await drawChart({
        ...axis,
        ...money,
        title: `Card spend ${per}`,
        bars: [{ name: 'Card spend', kind: 'plain', values: dollars(spending) }],
      })}${writeCategories(overview, link)}`,
    isUsed(approved, declined) &&
      html`${await drawChart({
        ...axis,
        title: `Authorizations ${per}`,
        bars: [
          { name: 'Approved', kind: 'good', values: approved },
          { name: 'Declined', kind: 'bad', values: declined },
        ],
      })}${writeReasons(overview, link)}`,
  ]
  return html`<div class="charts">${charts.map((chart) => chart && html`<section class="panel">${chart}</section>\n`)}</div>`
}

/** Categories and reasons that are shown with a bar; the rest is one sum. */
const TOP = 5

interface Share {
  readonly name: Html | string
  readonly value: number
}

function writeShares(
  title: string,
  shares: readonly Share[],
  write: (value: number) => string,
): Html | undefined {
  const whole = shares.reduce((sum, { value }) => sum + value, 0)
  if (whole === 0) return undefined
  const sorted = shares.toSorted((a, b) => b.value - a.value)
  const rest = sorted.slice(TOP).reduce((sum, { value }) => sum + value, 0)
  const shown = [...sorted.slice(0, TOP), ...(rest > 0 ? [{ name: 'Other', value: rest }] : [])]
  return html`<h3>${title}</h3><div class="shares">${shown.map(
    ({ name, value }) =>
      html`<div class="meter"><p><span>${name}</span><span class="number">${write(value)} (${percent(value, whole)})</span></p>
<svg aria-hidden="true"><rect width="${percent(value, whole)}" height="100%"/></svg></div>\n`,
  )}</div>`
}

function writeCategories({ labels, period }: Overview, link: LinkTo): Html | undefined {
  const shares = labels
    .filter(({ kind }) => kind === 'card_spending')
    .map(({ label, amount }) => ({
      name: link(
        listOf(period, 'card-transactions', { category_code: label }),
        label === OTHER_CATEGORIES ? 'Other categories' : `${words(labelOf(label))} (${label})`,
      ),
      value: amount,
    }))
  return writeShares('Top categories', shares, usd)
}

function writeReasons({ labels, period }: Overview, link: LinkTo): Html | undefined {
  const shares = labels
    .filter(({ kind }) => kind === 'card.transaction.declined')
    .map(({ label, count }) => ({
      name: link(listOf(period, 'card-transactions', { status: 'declined' }), words(label)),
      value: count,
    }))
  return writeShares('Top decline reasons', shares, number)
}

/** Says how current the totals are, and by which days. */
export function writeState({ state: { updated, behind } }: Overview, now: number): Html {
  const at = behind === 0 ? now : updated
  return html`<p class="quiet">${
    at === null ? 'Not counted yet' : html`Updated ${when(new Date(at).toISOString())}`
  }${behind > 0 && `. ${number(behind)} newer event${behind === 1 ? ' is' : 's are'} not counted yet`}. Days are in UTC.</p>`
}

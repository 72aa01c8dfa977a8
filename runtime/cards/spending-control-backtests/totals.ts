/**
 * What cards have spent, in memory, for the limits of proposed controls. The totals have the meaning of `card_spending`:
 * amounts count in the periods in which their transaction began.
 */
import type { SpendingControls } from '../programs/spending-controls.ts'
import { type Periods, periodsOf } from '../transactions/periods.ts'
import type { ControlFacts } from '../transactions/rules.ts'
import type { MerchantOfUse } from '../transactions/use-rules.ts'
import { UseTotals } from './use-totals.ts'

const DAY_MS = 86_400_000

/** Numbers of days and months kept for a card before those that no limit reads any more are forgotten. */
const KEPT = { days: 14, months: 24 }

/** Cents by category. */
type Amounts = Map<string, number>

interface CardTotals {
  /** By first day of the period: `2026-06-01`. */
  readonly days: Map<string, Amounts>
  readonly months: Map<string, Amounts>
  readonly all: Amounts
  authorizations: number
}

type Limits = SpendingControls['spending_limits']
type Interval = Limits[number]['interval']

const DAILY: readonly Interval[] = ['daily', 'weekly']
const MONTHLY: readonly Interval[] = ['monthly', 'yearly']

/** What the totals need of a transaction. */
export interface SpendingTransaction {
  readonly card: string
  readonly category: string
  readonly merchant: MerchantOfUse
  /** When the transaction began, in milliseconds since the epoch. */
  readonly began: number
}

/** What a message adds; each can be negative. */
export interface SpendingChange {
  /** Cents. */
  readonly amount: number
  readonly authorizations: number
  readonly uses: number
}

/** Running totals of all cards for one set of spending controls. */
export class SpendingTotals {
  readonly #cards = new Map<string, CardTotals>()
  readonly #periods = new Map<number, Periods>()
  readonly #limits: Limits
  readonly #controls: SpendingControls
  readonly #uses: UseTotals

  constructor(controls: SpendingControls) {
    this.#controls = controls
    this.#limits = controls.spending_limits
    this.#uses = new UseTotals(controls)
  }

  /** Adds to the totals of a card. */
  add({ card, category, merchant, began }: SpendingTransaction, change: SpendingChange): void {
    const { amount, authorizations, uses } = change
    if (amount === 0 && authorizations === 0 && uses === 0) return
    this.#uses.add(card, merchant, this.#periodsAt(began), { spent: amount, uses })
    const totals = this.#cards.get(card) ?? {
      days: new Map<string, Amounts>(),
      months: new Map<string, Amounts>(),
      all: new Map<string, number>(),
      authorizations: 0,
    }
    this.#cards.set(card, totals)
    totals.authorizations += authorizations
    const { day, week, month, year } = this.#periodsAt(began)
    if (this.#reads(DAILY)) addTo(totals.days, day, category, amount, KEPT.days, week)
    if (this.#reads(MONTHLY)) addTo(totals.months, month, category, amount, KEPT.months, year)
    if (this.#reads(['all_time'])) totals.all.set(category, (totals.all.get(category) ?? 0) + amount)
  }

  /** Returns the facts for a decision about a card. @param at the time of the decision. */
  factsAt(card: string, merchant: MerchantOfUse, at: number): ControlFacts {
    const totals = this.#cards.get(card)
    const periods = this.#periodsAt(at)
    return {
      card: { spending_controls: this.#controls },
      authorizations: totals?.authorizations ?? 0,
      uses: this.#uses.usesAt(card, merchant, periods),
      spent: this.#limits.map(({ interval, categories }) =>
        totals ? spentIn(totals, interval, categories, periods) : 0,
      ),
    }
  }

  #reads(intervals: readonly Interval[]): boolean {
    return this.#limits.some(({ interval }) => intervals.includes(interval))
  }

  /** Many instants lie on the same day. */
  #periodsAt(at: number): Periods {
    const day = Math.floor(at / DAY_MS)
    const known = this.#periods.get(day)
    if (known) return known
    const periods = periodsOf(at)
    this.#periods.set(day, periods)
    return periods
  }
}

function addTo(
  periods: Map<string, Amounts>,
  period: string,
  category: string,
  amount: number,
  kept: number,
  first: string,
): void {
  let amounts = periods.get(period)
  if (!amounts) {
    if (periods.size >= kept) for (const old of periods.keys()) if (old < first) periods.delete(old)
    amounts = new Map()
    periods.set(period, amounts)
  }
  amounts.set(category, (amounts.get(category) ?? 0) + amount)
}

function spentIn(
  { days, months, all }: CardTotals,
  interval: Interval,
  categories: readonly string[] | null,
  { day, week, month, year }: Periods,
): number {
  switch (interval) {
    case 'daily':
      return sumOf(days, day, day, categories)
    case 'weekly':
      return sumOf(days, week, day, categories)
    case 'monthly':
      return sumOf(months, month, month, categories)
    case 'yearly':
      return sumOf(months, year, month, categories)
    case 'all_time':
      return sumAmounts(all, categories)
    default:
      return 0
  }
}

function sumOf(
  periods: ReadonlyMap<string, Amounts>,
  first: string,
  last: string,
  categories: readonly string[] | null,
): number {
  if (first === last) return sumAmounts(periods.get(first), categories)
  let sum = 0
  for (const [period, amounts] of periods) {
    if (period >= first && period <= last) sum += sumAmounts(amounts, categories)
  }
  return sum
}

function sumAmounts(
  amounts: ReadonlyMap<string, number> | undefined,
  categories: readonly string[] | null,
): number {
  let sum = 0
  for (const [category, amount] of amounts ?? []) {
    if (categories === null || categories.includes(category)) sum += amount
  }
  return sum
}

/**
 * Returns the instant from which transactions must be read so that the totals at `at` are complete. Holds last at most 31
 * days, and an increment needs its authorization.
 */
export function warmUpFrom(controls: SpendingControls, at: number): number {
  const { spending_limits, merchant_limits = [], merchant_count_limits = [] } = controls
  const limits = [...spending_limits, ...merchant_limits, ...merchant_count_limits]
  const intervals = new Set(limits.map(({ interval }) => interval))
  if (intervals.has('all_time') || controls.max_authorization_count !== null || controls.first_use_abroad)
    return 0
  const { year } = periodsOf(at)
  const held = at - 32 * DAY_MS
  return intervals.has('yearly') ? Math.min(Date.parse(year), held) : held
}

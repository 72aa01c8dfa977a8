/**
 * Earlier uses of cards, in memory, for the controls that depend on them. They have the meaning of `readUses`: a use counts in
 * the periods in which its transaction began.
 */
import type { components } from '../../../generated/canonical/types.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'
import type { Periods } from '../transactions/periods.ts'
import {
  type EarlierUses,
  type MerchantOfUse,
  merchantKey,
  NO_USES,
  needUses,
} from '../transactions/use-rules.ts'

type Interval = components['schemas']['RuleInterval']

/** What a transaction adds; both can be negative. */
export interface AddedUse {
  /** Cents. */
  readonly spent: number
  readonly uses: number
}

interface MerchantTotal {
  spent: number
  uses: number
}

/** The uses of a card in the latest period of an interval. */
interface PeriodUses {
  /** First day; constant for `all_time`. */
  period: string
  merchants: Map<string, MerchantTotal>
}

interface CardUses {
  readonly intervals: Map<Interval, PeriodUses>
  /** Number of uses by country. */
  readonly countries: Map<string, number>
}

const firstDay = (interval: Interval, { day, week, month, year }: Periods): string =>
  ({ daily: day, weekly: week, monthly: month, yearly: year, all_time: '' })[interval]

/** Earlier uses of all cards for one set of spending controls. */
export class UseTotals {
  readonly #cards = new Map<string, CardUses>()
  readonly #controls: SpendingControls
  readonly #intervals: readonly Interval[]
  readonly #isNeeded: boolean

  constructor(controls: SpendingControls) {
    const { merchant_limits = [], merchant_count_limits = [] } = controls
    this.#controls = controls
    this.#isNeeded = needUses(controls)
    this.#intervals = [
      ...new Set([...merchant_limits, ...merchant_count_limits].map(({ interval }) => interval)),
    ]
  }

  /** @param began periods in which the transaction began. */
  add(card: string, merchant: MerchantOfUse, began: Periods, { spent, uses }: AddedUse): void {
    if (!this.#isNeeded || (spent === 0 && uses === 0)) return
    let known = this.#cards.get(card)
    if (!known) {
      known = { intervals: new Map(), countries: new Map() }
      this.#cards.set(card, known)
    }
    const { country } = merchant
    if (country !== null) known.countries.set(country, (known.countries.get(country) ?? 0) + uses)
    const key = merchantKey(merchant)
    for (const interval of this.#intervals) {
      const period = firstDay(interval, began)
      let of = known.intervals.get(interval)
      if (!of || of.period < period) {
        of = { period, merchants: new Map() }
        known.intervals.set(interval, of)
      }
      if (of.period > period) continue // no decision reads an earlier period any more
      const total = of.merchants.get(key)
      if (total) {
        total.spent += spent
        total.uses += uses
      } else of.merchants.set(key, { spent, uses })
    }
  }

  /** @param at periods of the decision. */
  usesAt(card: string, merchant: MerchantOfUse, at: Periods): EarlierUses {
    if (!this.#isNeeded) return NO_USES
    const { merchant_limits = [], merchant_count_limits = [] } = this.#controls
    const known = this.#cards.get(card)
    const key = merchantKey(merchant)
    const merchantsIn = (interval: Interval) => {
      const of = known?.intervals.get(interval)
      return of?.period === firstDay(interval, at) ? of.merchants : undefined
    }
    return {
      spent: merchant_limits.map(({ interval }) => merchantsIn(interval)?.get(key)?.spent ?? 0),
      merchants: merchant_count_limits.map(({ interval }) => {
        const merchants = merchantsIn(interval)
        return { count: usedIn(merchants), isKnown: (merchants?.get(key)?.uses ?? 0) > 0 }
      }),
      isCountryKnown: merchant.country !== null && (known?.countries.get(merchant.country) ?? 0) > 0,
    }
  }
}

function usedIn(merchants: ReadonlyMap<string, MerchantTotal> = new Map()): number {
  let count = 0
  for (const { uses } of merchants.values()) if (uses > 0) count += 1
  return count
}

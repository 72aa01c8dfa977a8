/** The days that the home page shows, and sums of their totals. Days are in UTC. */
import type { DayTotal, TotalKind } from '../../../account/totals/reading.ts'
import { dayOf } from '../../engine/values.ts'

export const PERIODS = [7, 30, 90] as const
export type PeriodDays = (typeof PERIODS)[number]

/** Bars and points of a chart: days, or weeks in a long period. */
interface PeriodPart {
  readonly label: string
  readonly days: readonly string[]
}

export interface Period {
  readonly days: PeriodDays
  /** First day, and last day: today by service time. */
  readonly first: string
  readonly last: string
  /** First day of the comparison: the complete days of the period follow as many earlier days. */
  readonly comparedFirst: string
  readonly parts: readonly PeriodPart[]
  /** What a part is, as the title of a table column. */
  readonly unit: 'Day' | 'Week from'
}

const DAY_MS = 86_400_000

/** Periods with more days are shown in weeks. */
const MAX_SHOWN_DAYS = 31

/** @param now service time, milliseconds since the epoch. */
export function periodOf(days: PeriodDays, now: number): Period {
  const dayBefore = (count: number) => new Date(now - count * DAY_MS).toISOString().slice(0, 10)
  const each = Array.from({ length: days }, (_, at) => dayBefore(days - 1 - at))
  const isLong = days > MAX_SHOWN_DAYS
  // The last week ends today. The first one can be shorter.
  const groups = isLong
    ? Object.values(Object.groupBy(each, (_, at) => Math.floor((days - 1 - at) / 7))).reverse()
    : each.map((day) => [day])
  return {
    days,
    first: each[0]!,
    last: each.at(-1)!,
    comparedFirst: dayBefore(2 * days - 2),
    parts: groups.map((group = []) => ({ label: dayOf(Date.parse(group[0]!)), days: group })),
    unit: isLong ? 'Week from' : 'Day',
  }
}

/** Sums of the totals of a period. Amounts are cents. */
export interface PeriodTotals {
  sum(kind: TotalKind, of: 'count' | 'amount'): number
  /** Returns the sum of each part of the period. */
  parts(kind: TotalKind, of: 'count' | 'amount'): readonly number[]
  /** Returns the balance at the end of each part. @param opening before the first day. @param now at the end of the last. */
  balances(opening: number, now: number): readonly number[]
  /**
   * Returns the change of the complete days, as a fraction of as many days before them. Undefined if the totals do not cover
   * those days, or if there is nothing to compare with.
   */
  change(kind: TotalKind, of: 'count' | 'amount'): number | undefined
}

/**
 * @param totals of the days from `comparedFirst` on.
 * @param since the first day with totals; null if there are none.
 */
export function totalsOf(period: Period, totals: readonly DayTotal[], since: string | null): PeriodTotals {
  const byKind = Map.groupBy(totals, ({ kind }) => kind)
  const sumOf = (kind: TotalKind, of: 'count' | 'amount', isIn: (day: string) => boolean) =>
    (byKind.get(kind) ?? []).reduce((sum, total) => (isIn(total.day) ? sum + total[of] : sum), 0)
  return {
    sum: (kind, of) => sumOf(kind, of, (day) => day >= period.first),
    parts: (kind, of) => period.parts.map(({ days }) => sumOf(kind, of, (day) => days.includes(day))),
    balances(opening, now) {
      const ends = new Map((byKind.get('balance') ?? []).map(({ day, amount }) => [day, amount]))
      let last = opening
      const shown = period.parts.map(({ days }) => {
        for (const day of days) last = ends.get(day) ?? last
        return last
      })
      return [...shown.slice(0, -1), now]
    },
    change(kind, of) {
      if (since === null || since > period.comparedFirst) return undefined
      const before = sumOf(kind, of, (day) => day < period.first)
      const complete = sumOf(kind, of, (day) => day >= period.first && day < period.last)
      return before === 0 ? undefined : complete / before - 1
    },
  }
}

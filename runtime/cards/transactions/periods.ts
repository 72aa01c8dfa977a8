/** The periods over which spending is added up: UTC days, ISO 8601 weeks (starting on Monday), months and years. */

import type { components } from '../../../generated/canonical/types.ts'

const DAY_MS = 86_400_000

/** First days of the periods that contain an instant, for example `2026-06-01`. */
export interface Periods {
  readonly day: string
  readonly week: string
  readonly month: string
  readonly year: string
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/**
 * Returns the periods that contain an instant.
 * @param at milliseconds since the epoch.
 */
export function periodsOf(at: number): Periods {
  const day = dateOf(at)
  const sinceMonday = (new Date(at).getUTCDay() + 6) % 7
  return {
    day,
    week: dateOf(at - sinceMonday * DAY_MS),
    month: `${day.slice(0, 8)}01`,
    year: `${day.slice(0, 5)}01-01`,
  }
}

type Interval = components['schemas']['SpendingLimit']['interval']

/**
 * Returns the instant at which a limit starts again from 0, or undefined if it never does.
 * @param at milliseconds since the epoch, like the result.
 */
export function nextPeriod(interval: Interval, at: number): number | undefined {
  const { day, week, month, year } = periodsOf(at)
  const [startYear, startMonth] = [Number(year.slice(0, 4)), Number(month.slice(5, 7))]
  const next: Readonly<Partial<Record<Interval, number>>> = {
    daily: Date.parse(day) + DAY_MS,
    weekly: Date.parse(week) + 7 * DAY_MS,
    monthly: Date.UTC(startYear, startMonth),
    yearly: Date.UTC(startYear + 1, 0),
  }
  return next[interval]
}

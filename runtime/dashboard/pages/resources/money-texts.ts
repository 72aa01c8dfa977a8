/** Texts for amounts and days. */
import { writeMoney } from '../../engine/values.ts'

const DAY = new Intl.DateTimeFormat('en', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
})

/** Names a UTC day, such as `Nov 26, 2026`. @param at ISO 8601, or milliseconds since the epoch. */
export const writeDay = (at: string | number): string => DAY.format(new Date(at))

/** Formats two amounts in cents, such as `50.00 of 200.00 USD`. */
export const writePart = (part: number, whole: number, currency: string): string =>
  `${writeMoney(part, '').trim()} of ${writeMoney(whole, currency)}`

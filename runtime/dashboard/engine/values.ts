/** Formats API values for pages. */
import type { components } from '../../../generated/canonical/types.ts'
import { type Html, html } from '../../platform/html.ts'
import { writeInstant } from './time-zone.ts'

/** Shows a time. The script `console.js` replaces the text with a relative time, such as "3 minutes ago". */
export function when(instant: string | null): Html | string {
  return instant === null ? '–' : writeTime(instant, html` data-relative`)
}

/** Shows a time that must stay exact, such as the end of a period. */
export function exactly(instant: string): Html {
  return writeTime(instant, html``)
}

function writeTime(instant: string, attribute: Html): Html {
  const time = new Date(instant).toISOString()
  const text = writeInstant(new Date(instant))
  return html`<time datetime="${time}" title="${text}"${attribute}>${text}</time>`
}

const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** Returns a day in UTC without its year, such as `Nov 26`. @param at milliseconds since the epoch. */
export const dayOf = (at: number): string => dayFormat.format(at)

/** Converts `retry_exhausted` to "Retry exhausted". */
export function words(name: string): string {
  const text = name.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Formats an error message without capital letter and period as a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

const MOODS: Readonly<Record<string, 'good' | 'bad' | 'warn'>> = {
  ...of(
    'good',
    'enabled',
    'succeeded',
    'active',
    'installed',
    'redeemed',
    'paid',
    'settled',
    'cleared',
    'won',
    'approved',
    'accepted',
    'done',
  ),
  ...of(
    'bad',
    'failed',
    'disabled',
    'revoked',
    'declined',
    'canceled',
    'cancelled',
    'lost',
    'returned',
    'expired',
  ),
  ...of('warn', 'pending', 'frozen', 'inactive', 'processing', 'needs_response'),
}

function of<Mood>(mood: Mood, ...names: string[]): Record<string, Mood> {
  return Object.fromEntries(names.map((name) => [name, mood]))
}

/** Writes a status. The color only repeats the meaning of the word. */
export function state(name: string): Html {
  return html`<span class="state ${MOODS[name]}">${words(name)}</span>`
}

/** Formats cents as `12.50 USD`. */
export function writeMoney(cents: number, currency: string): string {
  const text = new Intl.NumberFormat('en', { minimumFractionDigits: 2 }).format(cents / 100)
  return `${text.replace('-', '−')} ${currency.toUpperCase()}`
}

export function money(cents: number, currency: string): Html {
  return html`<span class="number">${writeMoney(cents, currency)}</span>`
}

/** Formats a postal address on one line. */
export function writeAddress(address: components['schemas']['Address']): string {
  const { line1, line2, postal_code, city, state: region, country } = address
  return [line1, line2, `${postal_code} ${city}`, region, country].filter(Boolean).join(', ')
}

export function code(text: string): Html {
  return html`<code>${text}</code>`
}

/** Shows the prefix, the beginning, and the end of an ID. The title is the whole ID, which the Copy button copies. */
export function shortId(id: string): Html {
  const [, start = id, rest = '', end = ''] = /^([a-z]+_.{4})(.*)(.{4})$/.exec(id) ?? []
  return html`<code title="${id}">${start}${rest && '…'}${end}</code>`
}

/** Returns the text, or a dash if it is missing or empty. */
export function orDash(text: string | null | undefined): string {
  return text === null || text === undefined || text === '' ? '–' : text
}

/** How values of the API stand on pages. */
import type { components } from '../../../generated/canonical/types.ts'
import { type Html, html } from '../../platform/html.ts'

/** An instant as it is, in UTC, for people and for programs. */
export function when(instant: string | null): Html | string {
  if (instant === null) return '–'
  const time = new Date(instant).toISOString()
  return html`<time datetime="${time}">${time.slice(0, 10)} ${time.slice(11, 19)} UTC</time>`
}

/** `retry_exhausted` is "Retry exhausted". */
export function words(name: string): string {
  const text = name.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
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

/** A state: its word says it, its colour only repeats it. */
export function state(name: string): Html {
  return html`<span class="state ${MOODS[name]}">${words(name)}</span>`
}

/** An amount in cents as people write it: `12.50 USD`. */
export function writeMoney(cents: number, currency: string): string {
  const text = new Intl.NumberFormat('en', { minimumFractionDigits: 2 }).format(cents / 100)
  return `${text.replace('-', '−')} ${currency.toUpperCase()}`
}

export function money(cents: number, currency: string): Html {
  return html`<span class="number">${writeMoney(cents, currency)}</span>`
}

/** A postal address in one line. */
export function writeAddress(address: components['schemas']['Address']): string {
  const { line1, line2, postal_code, city, state: region, country } = address
  return [line1, line2, `${postal_code} ${city}`, region, country].filter(Boolean).join(', ')
}

export function code(text: string): Html {
  return html`<code>${text}</code>`
}

/** What is there, or a dash. */
export function orDash(text: string | null | undefined): string {
  return text === null || text === undefined || text === '' ? '–' : text
}

export function json(value: unknown): Html {
  return html`<pre tabindex="0">${JSON.stringify(value, null, 2)}</pre>`
}

import { type Html, html } from '../../../../platform/html.ts'
import type { Voice } from './voice.ts'

/** The wallet of the holder's device; its button comes first. */
export type Device = 'apple' | 'google' | 'other'

/** Detects the wallet from the User-Agent header. An iPad identifies itself as a Macintosh. */
export function deviceOf(userAgent: string | undefined): Device {
  if (userAgent === undefined) return 'other'
  if (/Android/i.test(userAgent)) return 'google'
  return /iPhone|iPad|iPod|Macintosh/i.test(userAgent) ? 'apple' : 'other'
}

const APPLE_MARK = html`<svg viewBox="0 0 40 32" width="40" height="32" aria-hidden="true" focusable="false">
<rect x="1" y="1" width="38" height="30" rx="5" fill="#fff"/><rect x="2.5" y="2.5" width="35" height="27" rx="3.6" fill="#1c1c1e"/>
<path d="M4 9.2V6.6A2.6 2.6 0 0 1 6.6 4h26.8A2.6 2.6 0 0 1 36 6.600v2.600z" fill="#4aa8d8"/>
<path d="M4 12.600V9.200h32v3.400z" fill="#f7b52c"/><path d="M4 16V12.600h32V16z" fill="#5db75a"/>
<path d="M4 19.400V16h32v3.400z" fill="#e8574c"/>
<path d="M4 17.600h9.200c1.6 0 2.2 1 2.8 2 .8 1.4 2 2.4 4 2.400s3.2-1 4-2.400c.6-1 1.2-2 2.8-2H36v7.800a2.6 2.6 0 0 1-2.6 2.600H6.600A2.6 2.6 0 0 1 4 25.400z" fill="#e9e6df"/>
</svg>`

const GOOGLE_MARK = html`<svg viewBox="0 0 36 32" width="36" height="32" aria-hidden="true" focusable="false">
<path d="M3 12V8.500A5.5 5.5 0 0 1 8.5 3h19A5.5 5.5 0 0 1 33 8.500V12z" fill="#34a853"/>
<path d="M3 16.500v-4A4.5 4.5 0 0 1 7.5 8h21A4.5 4.5 0 0 1 33 12.500v4z" fill="#fbbc04"/>
<path d="M3 20.500v-3.500A4.5 4.5 0 0 1 7.5 12.500h21A4.5 4.5 0 0 1 33 17v3.500z" fill="#ea4335"/>
<path d="M3 16.200c5.2.2 9.6 1.8 14 4.4 5 3 10.2 4.2 16 2.400v.5a5.5 5.5 0 0 1-5.5 5.500h-19A5.5 5.5 0 0 1 3 23.500z" fill="#4285f4"/>
</svg>`

/**
 * Renders both buttons, because the holder may want the pass on a different device. The device's own wallet comes
 * first.
 */
export function showButtons(
  device: Device,
  urls: { readonly apple: string; readonly google: string },
  voice: Voice,
): Html {
  // The name of the wallet is larger than the words before and after it.
  const caption = (wallet: string): Html => {
    const [before = '', after = ''] = voice.say('addTo', { wallet: '\n' }).split('\n')
    const small = (words: string) => words !== '' && html`<small>${words}</small>`
    return html`<span>${small(before.trim())} ${wallet}${small(after)}</span>`
  }
  const apple = html`<a class="add apple" href="${urls.apple}">${APPLE_MARK}${caption('Apple Wallet')}</a>`
  const google = html`<a class="add google" href="${urls.google}" rel="noopener noreferrer">${GOOGLE_MARK}${caption('Google Wallet')}</a>`
  return html`<nav class="buttons" aria-label="${voice.say('addToWallet')}">${device === 'google' ? [google, apple] : [apple, google]}</nav>`
}

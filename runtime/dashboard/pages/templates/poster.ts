/** Draws the front of a pass in the poster layout of Apple Wallet. */
import { type PosterStyle, posterOf } from '../../../passes/wallets/render/apple/poster.ts'
import { arrangePoster } from '../../../passes/wallets/render/layout.ts'
import type { DrawnBarcode } from '../../../passes/wallets/render/page/barcode.ts'
import { showFields } from '../../../passes/wallets/render/page/fields.ts'
import { png } from '../../../passes/wallets/render/page/front.ts'
import { isVoid, type PassField, type PassState } from '../../../passes/wallets/render/pass-state.ts'
import { type Html, html, trusted } from '../../../platform/html.ts'

/** The fields of a poster: those of the pass, or the semantic tags of an event ticket. */
type PosterFields = Readonly<Record<'header' | 'primary' | 'footer', readonly PassField[]>>

const TAGS = {
  header: [['eventStartDate', 'Starts']],
  primary: [
    ['eventName', 'Event'],
    ['venueName', 'Venue'],
    ['venueRegionName', 'Region'],
  ],
  footer: [
    ['venueRoom', 'Room'],
    ['admissionLevel', 'Admission'],
  ],
} as const

function fieldsOf({ fields, options }: PassState, style: PosterStyle): PosterFields {
  if (style === 'posterGeneric') return arrangePoster(fields)
  const shown = (tags: readonly (readonly [name: string, label: string])[]) =>
    tags.flatMap(([key, label]): PassField[] => {
      const value = options?.semantics?.[key]
      return value ? [{ key, label, value }] : []
    })
  return { header: shown(TAGS.header), primary: shown(TAGS.primary), footer: shown(TAGS.footer) }
}

/**
 * Returns undefined if the template has no poster.
 *
 * @param barcode undefined if the poster shows no barcode, as on event tickets, which are read by NFC.
 */
export function showPoster(state: PassState, barcode: DrawnBarcode | undefined): Html | undefined {
  const style = posterOf(state)
  const poster = state.options?.apple_poster
  if (!style || !poster?.artwork) return undefined
  const { header, primary, footer } = fieldsOf(state, style)
  const { logo } = state.brand
  return html`<section class="poster${isVoid(state) && ' void'}" aria-label="Poster in Apple Wallet"><img class="artwork" src="${png(poster.artwork)}" alt="">
<header>${logo !== undefined && html`<img class="logo" src="${png(logo)}" alt="">`}${showFields('header', header)}</header>
<footer>${showFields('primary', primary)}${style === 'posterGeneric' && barcode && showBarcode(barcode)}${showFields('footer', footer)}${
    style === 'posterEventTicket' &&
    poster.secondary_logo &&
    html`<img class="second" src="${png(poster.secondary_logo)}" alt="">`
  }</footer></section>`
}

function showBarcode({ svg, width, height }: DrawnBarcode): Html {
  return html`<div class="code ${width > 2 * height ? 'wide' : 'square'}" role="img" aria-label="Barcode">${trusted(
    svg.replace('<svg ', '<svg aria-hidden="true" focusable="false" '),
  )}</div>`
}

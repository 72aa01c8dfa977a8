/** The barcode on the pass, and alone on the screen: scanners want bars as wide as they can be. */

import { type Html, html, trusted } from '../../../../platform/html.ts'
import { isVoid, type PassState } from '../pass-state.ts'
import type { DrawnBarcode } from './barcode.ts'

const NAMES = { qr: 'QR code', pdf417: 'PDF417 barcode', aztec: 'Aztec code', code128: 'Barcode' }

/** A longer message is not to be typed by anybody. */
const MAX_CAPTION = 40

export function showCode({ barcode }: PassState, drawn: DrawnBarcode | undefined): Html {
  const { format, message } = barcode
  if (!drawn) return html`<p class="code"><span class="caption" dir="auto">${message}</span></p>`
  return html`<figure class="code ${shapeOf(drawn)} ${format}">${showDrawing(barcode, drawn)}${
    message.length <= MAX_CAPTION &&
    html`<figcaption class="caption" dir="auto" translate="no">${message}</figcaption>`
  }</figure>`
}

/** @returns nothing where there is nothing to scan. */
export function showLargeCode(state: PassState, drawn: DrawnBarcode | undefined): Html | undefined {
  if (!drawn || isVoid(state)) return undefined
  return html`<details class="large"><summary><span class="open">Show the code larger</span><span class="close">Close</span></summary>
<div class="screen ${shapeOf(drawn)} ${state.barcode.format}">${showDrawing(state.barcode, drawn)}</div></details>`
}

const shapeOf = ({ width, height }: DrawnBarcode) => (width > 2 * height ? 'wide' : 'square')

function showDrawing({ format }: PassState['barcode'], { svg }: DrawnBarcode): Html {
  // Bars of one dimension may be of any height.
  const stretch = format === 'code128' ? ' preserveAspectRatio="none"' : ''
  const attributes = `aria-hidden="true" focusable="false" shape-rendering="crispEdges"${stretch}`
  // The drawing is ours and holds no text of anybody.
  const drawing = trusted(svg.replace('<svg ', `<svg ${attributes} `))
  return html`<div class="drawing" role="img" aria-label="${NAMES[format]}">${drawing}</div>`
}

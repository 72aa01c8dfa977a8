/** Renders the barcode on the pass and in full screen, where the bars are as wide as possible for scanners. */

import { type Html, html, trusted } from '../../../../platform/html.ts'
import { isVoid, type PassState } from '../pass-state.ts'
import type { DrawnBarcode } from './barcode.ts'
import type { Voice } from './voice.ts'

/** Longer messages get no caption, because they are too long to type in by hand. */
const MAX_CAPTION = 40

export function showCode(
  { barcode, rotation }: PassState,
  drawn: DrawnBarcode | undefined,
  voice: Voice,
): Html {
  const { format, message } = barcode
  if (!drawn) return html`<p class="code"><span class="caption" dir="auto">${message}</span></p>`
  return html`<figure class="code ${shapeOf(drawn)} ${format}">${showDrawing(barcode, drawn, voice)}${
    rotation
      ? html`<figcaption class="caption" dir="auto">${voice.say('rotates')}</figcaption>`
      : message.length <= MAX_CAPTION &&
        html`<figcaption class="caption" dir="auto" translate="no">${message}</figcaption>`
  }</figure>`
}

/** Renders the full-screen barcode. Returns undefined if the pass has no code to scan. */
export function showLargeCode(
  state: PassState,
  drawn: DrawnBarcode | undefined,
  voice: Voice,
): Html | undefined {
  if (!drawn || isVoid(state)) return undefined
  return html`<details class="large"><summary><span class="open">${voice.say('enlarge')}</span><span class="close">${voice.say('close')}</span></summary>
<div class="screen ${shapeOf(drawn)} ${state.barcode.format}">${showDrawing(state.barcode, drawn, voice)}</div></details>`
}

const shapeOf = ({ width, height }: DrawnBarcode) => (width > 2 * height ? 'wide' : 'square')

function showDrawing({ format }: PassState['barcode'], { svg }: DrawnBarcode, voice: Voice): Html {
  // The bars of a one-dimensional code can have any height.
  const stretch = format === 'code128' ? ' preserveAspectRatio="none"' : ''
  const attributes = `aria-hidden="true" focusable="false" shape-rendering="crispEdges"${stretch}`
  // The SVG can be trusted: it comes from the barcode library and contains no caller-supplied text.
  const drawing = trusted(svg.replace('<svg ', `<svg ${attributes} `))
  return html`<div class="drawing" role="img" aria-label="${voice.say(format)}">${drawing}</div>`
}

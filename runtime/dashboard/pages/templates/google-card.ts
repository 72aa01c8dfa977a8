/** Draws the front of a pass in the layout of Google Wallet (Google Wallet, "Card templates"). */

import { frontRows } from '../../../passes/wallets/render/google/class.ts'
import type { DrawnBarcode } from '../../../passes/wallets/render/page/barcode.ts'
import { png } from '../../../passes/wallets/render/page/front.ts'
import { ENGLISH } from '../../../passes/wallets/render/page/voice.ts'
import { stateWords } from '../../../passes/wallets/render/page/words.ts'
import { isVoid, type PassField, type PassState } from '../../../passes/wallets/render/pass-state.ts'
import { type Html, html, trusted } from '../../../platform/html.ts'

/** @param barcode undefined if the format cannot encode the message. */
export function showGoogleCard(state: PassState, barcode: DrawnBarcode | undefined): Html {
  const { brand, organization, name, kind, fields, holder } = state
  const rows = frontRows(fields)
  return html`<section class="card${isVoid(state) && ' void'}" aria-label="Card in Google Wallet">
<header>${brand.logo === undefined ? html`<span class="logo" aria-hidden="true"></span>` : html`<img class="logo" src="${png(brand.logo)}" alt="">`}<p dir="auto">${organization}</p></header>
${kind === 'generic' && holder.name !== null && html`<p class="subheader" dir="auto">${holder.name}</p>`}<p class="title" dir="auto">${name}</p>
${rows.map(showRow)}
${
  isVoid(state)
    ? html`<p class="stamp">${stateWords(state, ENGLISH)?.title}</p>`
    : barcode &&
      html`<div class="code ${barcode.width > 2 * barcode.height ? 'wide' : 'square'}" role="img" aria-label="Barcode">${trusted(
        barcode.svg.replace('<svg ', '<svg aria-hidden="true" focusable="false" '),
      )}</div>`
}
${brand.strip !== undefined && html`<img class="hero" src="${png(brand.strip)}" alt="">`}
</section>`
}

function showRow(row: readonly PassField[]): Html {
  return html`<dl>${row.map(
    ({ label, value }) => html`<div><dt dir="auto">${label}</dt><dd dir="auto">${value}</dd></div>`,
  )}</dl>`
}

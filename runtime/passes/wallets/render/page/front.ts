import { type Html, html } from '../../../../platform/html.ts'
import { arrangeFields } from '../layout.ts'
import { isVoid, type PassKind, type PassState } from '../pass-state.ts'
import type { DrawnBarcode } from './barcode.ts'
import { showCode } from './code.ts'
import { showFields } from './fields.ts'
import { ENGLISH, type Voice } from './voice.ts'
import { stateWords } from './words.ts'

/** Kinds that show a strip image behind the main field (Apple, "Pass.Brand images": strip). */
const WITH_STRIP: ReadonlySet<PassKind> = new Set(['loyalty', 'gift_card', 'coupon', 'event_ticket'])

/** A row with more fields uses a smaller type size. */
const MANY = 3

const ARROW = html`<svg class="arrow" viewBox="0 0 44 16" aria-hidden="true" focusable="false"><path d="M2 8h39M34 2l7 6-7 6"/></svg>`

/**
 * Renders the front in the layout of Apple Wallet.
 *
 * @param barcode undefined if the format cannot hold the message, `no_code` if the wallet shows none.
 * @param spoken attributes for the language of the pass.
 */
export function showFront(
  state: PassState,
  barcode: DrawnBarcode | 'no_code' | undefined,
  voice: Voice = ENGLISH,
  spoken: Html = html``,
): Html {
  const { kind, fields } = state
  const { header, primary, secondary, auxiliary } = arrangeFields(kind, fields)
  const isJourney = primary.length > 1
  return html`<section class="front pass ${kind}${isVoid(state) ? ' void' : ''}" aria-label="${voice.say('frontOfPass')}" ${spoken}>
${showTop(state, header)}
${showMain(state, showFields(isJourney ? 'primary pair' : 'primary', primary), isJourney)}
${rowsOf(kind, secondary, auxiliary).map((row) => showFields(row.length > MANY ? 'row many' : 'row', row))}
${isVoid(state) ? showStamp(state, voice) : barcode !== 'no_code' && showCode(state, barcode, voice)}
</section>`
}

type FrontFields = PassState['fields']

/**
 * Returns the rows in the order of Apple's styles ("Pass Design and Creation"): one row for cards, and the auxiliary
 * row first for boarding passes.
 */
function rowsOf(kind: PassKind, secondary: FrontFields, auxiliary: FrontFields): readonly FrontFields[] {
  if (kind === 'boarding_pass') return [auxiliary, secondary]
  if (kind === 'event_ticket' || kind === 'generic') return [secondary, auxiliary]
  return [[...secondary, ...auxiliary]]
}

function showTop({ brand, organization }: PassState, header: FrontFields): Html {
  const { logo, logo_text: text } = brand
  // Without logo text, the alternative text names the organization. With logo text, it would only repeat it.
  const alt = text === undefined ? organization : ''
  return html`<header class="top">${logo !== undefined && html`<img class="logo" src="${png(logo)}" alt="${alt}">`}${
    (text !== undefined || logo === undefined) &&
    html`<p class="logo-text" dir="auto">${text ?? organization}</p>`
  }${showFields('header', header)}</header>`
}

function showMain(
  { kind, brand }: PassState,
  primary: Html | undefined,
  isJourney: boolean,
): Html | undefined {
  if (brand.strip === undefined || !WITH_STRIP.has(kind))
    return primary && html`<div class="main">${primary}${isJourney && ARROW}</div>`
  return html`<div class="main strip"><img src="${png(brand.strip)}" alt="">${primary}</div>`
}

function showStamp(state: PassState, voice: Voice): Html {
  return html`<p class="stamp" lang="${voice.language}">${stateWords(state, voice)?.title}</p>`
}

export function png(base64: string): string {
  return `data:image/png;base64,${base64}`
}

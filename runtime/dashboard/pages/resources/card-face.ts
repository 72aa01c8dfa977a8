/** Draws a card as an image. */
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { code, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'

type Schemas = components['schemas']
type Card = Schemas['Card']

type Design = Pick<NonNullable<Schemas['CardProgram']['design']>, 'background_color' | 'foreground_color'>

/** The look of cards whose program has no design. */
const PLAIN: Design = { background_color: '#2b3140', foreground_color: '#ffffff' }

/** Most letters of the face's font that fit on a line. */
const LINE = 34

const shorten = (text: string) => (text.length > LINE ? `${text.slice(0, LINE - 1)}…` : text)

/** Returns `active`, `frozen`, or another status of a card. */
export const statusOf = ({ status, frozen }: Pick<Card, 'status' | 'frozen'>): string =>
  frozen && status === 'active' ? 'frozen' : status

/** Formats an expiry as it stands on cards, such as `06/30`. */
export const writeExpiry = ({ exp_month, exp_year }: Pick<Card, 'exp_month' | 'exp_year'>): string =>
  `${String(exp_month).padStart(2, '0')}/${String(exp_year % 100).padStart(2, '0')}`

/** Draws the card with the design of its program. Shows only the last four digits. */
export async function drawCard(card: Card, visit: DashboardVisit): Promise<Html> {
  const { cardholder_id, card_program_id, type, last4 } = card
  const [{ name }, program] = await Promise.all([
    visit.read<Schemas['Cardholder']>('getCardholder', { path: { cardholder_id } }),
    card_program_id === null
      ? undefined
      : visit.read<Schemas['CardProgram']>('getCardProgram', { path: { card_program_id } }),
  ])
  const status = statusOf(card)
  const isUsable = status === 'active'
  const label = `${words(type)} card of ${name}, ending in ${last4}, expires ${writeExpiry(card)}, ${status}`
  return drawFace(program?.design ?? PLAIN, label, [
    ...head(program),
    html`<text x="320" y="40" class="small end">${words(type)}</text>`,
    html`<text x="24" y="138" class="digits">•••• •••• •••• ${last4}</text>`,
    html`<text x="24" y="184">${shorten(name)}</text>`,
    html`<text x="320" y="184" class="end">${writeExpiry(card)}</text>`,
    html`${
      !isUsable &&
      html`<rect class="veil" width="344" height="216"/><rect class="seal" x="122" y="70" width="100" height="30" rx="15"/><text class="sealed" x="172" y="90">${words(status)}</text>`
    }`,
  ])
}

/** Draws a card of the program, without a number. */
export function drawProgram(program: Schemas['CardProgram']): Html {
  const label = `Design of the cards of ${program.name}`
  return drawFace(program.design ?? PLAIN, label, [
    ...head(program),
    html`<text x="24" y="138" class="digits">•••• •••• •••• ••••</text>`,
  ])
}

const head = (program: Pick<Schemas['CardProgram'], 'name' | 'design'> | undefined): readonly Html[] => [
  html`<text x="24" y="40" class="strong">${shorten(program?.name ?? 'Card')}</text>`,
  html`<text x="24" y="60" class="small">${shorten(program?.design?.text ?? '')}</text>`,
]

function drawFace(
  { background_color, foreground_color }: Design,
  label: string,
  content: readonly Html[],
): Html {
  return html`<svg class="card-face" viewBox="0 0 344 216" role="img" aria-label="${label}">
<rect width="344" height="216" fill="${background_color}"/>
<g fill="${foreground_color}">${content}</g></svg>`
}

/** Draws the card with its full number and security code. */
export function writeDetails(answer: unknown, card: Card): Html {
  const { number, cvc } = answer as Schemas['CardDetails']
  const label = `Card ending in ${card.last4}, with its number and security code`
  const groups = number.replaceAll(/\d{4}(?=\d)/g, '$& ')
  return html`<div class="card-top">${drawFace(PLAIN, label, [
    html`<text x="24" y="112" class="digits">${groups}</text>`,
    html`<text x="24" y="160" class="small">Expires</text><text x="24" y="184">${writeExpiry(card)}</text>`,
    html`<text x="140" y="160" class="small">CVC</text><text x="140" y="184">${cvc}</text>`,
  ])}
<div class="panel secret">${facts([
    ['Number', code(number)],
    ['Expires', code(writeExpiry(card))],
    ['Security code (CVC)', code(cvc)],
  ])}</div></div>`
}

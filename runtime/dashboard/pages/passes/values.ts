/** The values of a pass on its page, with steps for values that contain a number. */
import { type Html, html } from '../../../platform/html.ts'
import { keyField } from '../../engine/form-page.ts'
import { orDash } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { isUsable, PASSES_PATH, type PassObject, templateOf } from './pass.ts'
import { isCounted } from './steps.ts'

/** Label of a template's field. Fields without a label are known by their key. */
export function labelOf({ key, label }: { readonly key: string; readonly label: string }): string {
  return label === '' ? key : label
}

export async function writeValues(pass: PassObject, visit: DashboardVisit): Promise<Html> {
  const { fields } = await templateOf(visit, pass)
  const canChange = isUsable(pass) && mayAct(visit.member.role, roleFor('updatePass'))
  const list = html`<dl class="values">${fields.map((field) => {
    const value = pass.fields[field.key] ?? ''
    return html`<div><dt>${labelOf(field)}</dt><dd><span>${orDash(value)}</span>${
      canChange && isCounted(value) && writeSteps(visit, pass, field.key, labelOf(field), value)
    }</dd></div>`
  })}</dl>`
  return html`${fields.length === 0 ? html`<p class="empty">The template has no fields.</p>` : list}
${await writeScanButtons(pass, visit)}`
}

/** The form carries the shown value, so that a form that is submitted twice takes one step. */
function writeSteps(
  visit: DashboardVisit,
  { id }: PassObject,
  key: string,
  label: string,
  value: string,
): Html {
  const address = `/${visit.environment}/${PASSES_PATH}/${id}/step`
  return html`<form class="steps" method="post" action="${address}">${visit.guard(address)}<input type="hidden" name="key" value="${key}"><input type="hidden" name="from" value="${value}">
<button class="second" type="submit" name="do" value="subtract" aria-label="Subtract from ${label}">−</button><input name="by" value="1" inputmode="decimal" autocomplete="off" aria-label="Step of ${label}" required pattern="[0-9]+([.][0-9]{1,2})?"><button class="second" type="submit" name="do" value="add" aria-label="Add to ${label}">+</button></form>`
}

/** Kinds of passes that a scan can redeem. */
const REDEEMABLE: readonly string[] = ['coupon', 'event_ticket']

/** Writes the buttons that scan the pass without a scanner. */
async function writeScanButtons(pass: PassObject, visit: DashboardVisit): Promise<Html | undefined> {
  if (!isUsable(pass) || !mayAct(visit.member.role, roleFor('createScan'))) return undefined
  const { kind } = await templateOf(visit, pass)
  const address = `/${visit.environment}/${PASSES_PATH}/${pass.id}/scan`
  const redeem = html`<details><summary>Redeem pass</summary><p class="quiet">A pass can be redeemed once. You cannot undo this.</p>
<button type="submit" name="mode" value="redeem">Redeem now</button></details>`
  return html`<form method="post" action="${address}">${visit.guard(address)}${keyField()}
<p class="quiet">Record a visit of the holder without a scanner.</p>
<button class="second" type="submit" name="mode" value="verify">Check in</button>${REDEEMABLE.includes(kind) && redeem}</form>`
}

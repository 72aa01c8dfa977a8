/** Buttons that lead from a record to the simulator forms about it. */
import { type Html, html } from '../../../platform/html.ts'

/** @param query fills in the forms, such as `card_id=card_…`. */
export function writeSteps(query: string, steps: readonly (readonly [form: string, text: string])[]): Html {
  return html`<div class="actions">${steps.map(
    ([form, text]) => html`<a class="button second" href="/sandbox/simulator/${form}?${query}">${text}</a>`,
  )}</div>`
}

/** The selection of rows in a list, for bulk actions. */
import { type Html, html } from '../../platform/html.ts'
import { type AskedFilters, writeQuery } from './filters.ts'
import type { DashboardResource, DetailPage, Identified, ItemAction, ListColumn } from './shapes.ts'
import { type DashboardVisit, isServed, mayAct, roleFor } from './visit.ts'

/** Maximum number of records of a bulk action. */
export const MAX_SELECTED = 100

/** Returns the bulk actions that the member may perform. */
export function bulkActionsOf(
  { member, environment }: DashboardVisit,
  { detail }: DashboardResource<Identified>,
) {
  return (detail?.actions ?? []).filter(
    ({ isBulk, operation }) =>
      isBulk && isServed(operation, environment) && mayAct(member.role, roleFor(operation)),
  )
}

/** Returns the column with the checkboxes, which belong to the form of `writeBulkForm`. */
export function selectionOf({ name }: DetailPage<Identified>): ListColumn<Identified> {
  return {
    title: 'Select',
    isSelection: true,
    show: (item) =>
      html`<input type="checkbox" form="bulk" name="id" value="${item.id}" aria-label="Select ${name(item)}">`,
  }
}

/** Writes the form that leads from selected rows to the preview. It is visible while a row is selected. */
export function writeBulkForm(
  { environment }: DashboardVisit,
  path: string,
  actions: readonly ItemAction<Identified>[],
  asked: AskedFilters,
): Html {
  const kept = [...new URLSearchParams(writeQuery(asked))]
  return html`<form id="bulk" class="bulk" method="get" action="/${environment}/${path}/bulk/${actions[0]?.name ?? ''}" aria-label="Selected rows">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<span class="count">Selected rows</span>
${actions.map(
  ({ name, button }) =>
    html`<button type="submit" class="second small" formaction="/${environment}/${path}/bulk/${name}">${button}</button>`,
)}
<label><input type="checkbox" name="all" value="yes">All that match the filters, at most ${String(MAX_SELECTED)}</label></form>`
}

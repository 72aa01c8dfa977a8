/** List pages, with filters and the cursor pagination of the API. */
import { type Html, html } from '../../platform/html.ts'
import { FORM_SCRIPT } from '../html/picker.ts'
import { writeExports } from './export-links.ts'
import {
  type AskedFilters,
  filtersOf,
  isNarrowed,
  queryOf,
  readPicked,
  writeFilters,
  writeQuery,
} from './filters.ts'
import type { SendFramed } from './frame.ts'
import { linkNaming } from './links.ts'
import { type LiveSource, liveSourceOf } from './live-types.ts'
import { writeViews } from './saved-views.ts'
import { bulkActionsOf, selectionOf, writeBulkForm } from './selection.ts'
import type { ApiPage, DashboardResource, Identified, LinkTo, ListColumn, ShownText } from './shapes.ts'
import { type DashboardVisit, mayAct, queryText, roleFor } from './visit.ts'

const LIMIT = '25'

/** Writes a table. On narrow screens, each row is a block and each cell shows its column title. */
export function writeTable<Item>(
  label: string,
  columns: readonly ListColumn<Item>[],
  items: readonly Item[],
  link: LinkTo,
): Html {
  return html`<table role="table" aria-label="${label}">
<thead><tr role="row">${columns.map(
    (column) =>
      html`<th role="columnheader" scope="col"${classOf(column)}>${column.isSelection ? html`<span class="visually-hidden">${column.title}</span>` : column.title}</th>`,
  )}</tr></thead>
<tbody>
${items.map((item) => writeRow(columns, item, link))}</tbody>
</table>`
}

export function writeRow<Item>(columns: readonly ListColumn<Item>[], item: Item, link: LinkTo): Html {
  return html`<tr role="row"${keysOf(item)}>${columns.map(
    (column) =>
      html`<td role="cell" data-title="${column.title}"${classOf(column)}><div>${column.show(item, link)}</div></td>`,
  )}</tr>\n`
}

/** Writes the attributes by which `tail.js` finds and orders the rows of records. */
function keysOf(item: unknown): Html {
  if (typeof item !== 'object' || item === null || !('id' in item) || typeof item.id !== 'string')
    return html``
  const created = 'created' in item && typeof item.created === 'string' ? item.created : undefined
  return html` data-id="${item.id}"${created !== undefined && html` data-created="${created}"`}`
}

function classOf({
  isAmount,
  isSelection,
}: Pick<ListColumn<never>, 'isAmount' | 'isSelection'>): Html | false {
  if (isSelection) return html` class="select"`
  return isAmount === true && html` class="amount"`
}

/** Writes the element through which `tail.js` adds new rows to the table. */
export function writeTail(address: string): Html {
  return html`<p class="tail" data-rows="${address}" role="status"><noscript>Reload this page to see new rows.</noscript></p>`
}

/** The script that reads the element of `writeTail`. */
export const TAIL_SCRIPT = 'tail.js'

/** The script that opens a row when it is clicked. */
export const ROWS_SCRIPT = 'rows.js'

export async function showList(
  visit: DashboardVisit,
  resource: DashboardResource<Identified>,
  send: SendFramed,
): Promise<void> {
  const { list, title, intro, path, menu = path, create } = resource
  const filters = filtersOf(list)
  const { asked, picks } = await readPicked(visit, filters)
  const after = queryText(visit, 'starting_after')
  const source = list.of || after !== '' || asked.to !== '' ? undefined : liveSourceOf(list.operation)
  // Read before the list, so that no change in between is missed.
  const head = source && (await readHead(visit, source))
  const { data, has_more, next_cursor } = await visit.read<ApiPage<Identified>>(list.operation, {
    ...(list.of && { path: list.of }),
    query: { ...queryOf(visit, asked), limit: LIMIT, starting_after: after },
  })
  const link = await linkNaming(visit, data)
  const columns = columnsOf(visit, resource)
  const bulk = bulkActionsOf(visit, resource)
  const canCreate = create && mayAct(visit.member.role, roleFor(create.operation))
  const actions =
    canCreate &&
    html`<div class="actions"><a class="button" href="/${visit.environment}/${path}/new">${create.title}</a></div>`
  const tail =
    head !== undefined &&
    writeTail(`/${visit.environment}/${path}/live${writeQuery({ ...asked, after: head })}`)
  const content = html`<p class="quiet">${intro}</p>
${list.above?.(visit)}
${!list.of && (await writeViews(visit, path, asked))}
${await writeFilters(visit, filters, asked, html`${tail}${writeExports(visit, path, asked)}`, picks)}
${
  data.length > 0
    ? writeTable(title, columns, data, link)
    : html`<p class="empty">${after !== '' || isNarrowed(asked) ? 'No results match these filters. Change or clear the filters.' : list.empty}</p>`
}
${writePaging(after !== '', has_more ? next_cursor : null, asked)}
${bulk.length > 0 && data.length > 0 && writeBulkForm(visit, path, bulk, asked)}`
  const scripts = [ROWS_SCRIPT, ...(source ? [TAIL_SCRIPT] : []), ...(picks.size > 0 ? [FORM_SCRIPT] : [])]
  send(visit, 200, { title, path: menu, ...(actions && { actions }), scripts, content })
}

/** Returns the ID of the newest event or audit entry. */
async function readHead(visit: DashboardVisit, source: LiveSource): Promise<string> {
  const { db, space } = await visit.place()
  return (await source.readHead(db, space)).id
}

/** Returns the columns of the list page, with checkboxes if the member may act on several rows at once. */
export function columnsOf(
  visit: DashboardVisit,
  resource: DashboardResource<Identified>,
): readonly ListColumn<Identified>[] {
  const { detail } = resource
  const columns = linkedColumns(resource)
  if (!detail || bulkActionsOf(visit, resource).length === 0) return columns
  return [selectionOf(detail), ...columns]
}

/** Returns the columns of a resource. The first links to the detail page, and long texts are truncated. */
export function linkedColumns({
  path,
  list,
  detail,
}: DashboardResource<Identified>): readonly ListColumn<Identified>[] {
  return list.columns.map((column, index) => {
    const show = (item: Identified, link: LinkTo) => truncate(column.show(item, link))
    if (index > 0 || !detail) return { ...column, show }
    return { ...column, show: (item, link) => link(`${path}/${item.id}`, show(item, link)) }
  })
}

/** Texts of at most this length, in characters, fit on one line. */
const MAX_TEXT = 36

/** A longer text ends with an ellipsis on wide screens, and shows in full on hover. */
function truncate(shown: ShownText): ShownText {
  return typeof shown !== 'string' || shown.length <= MAX_TEXT
    ? shown
    : html`<span class="long" title="${shown}">${shown}</span>`
}

export function writePaging(isLater: boolean, next: string | null, asked: AskedFilters): Html {
  const address = (cursor?: string) => writeQuery({ ...asked, ...(cursor && { starting_after: cursor }) })
  if (!isLater && next === null) return html``
  return html`<nav class="paging" aria-label="Pagination">${
    isLater && html`<a href="${address()}">First page</a>`
  }${next !== null && html`<a rel="next" href="${address(next)}">Next page</a>`}</nav>`
}

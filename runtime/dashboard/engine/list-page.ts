/** List pages, with filters and the cursor pagination of the API. */
import { filters as documented } from '../../../generated/canonical/records.ts'
import { type Html, html } from '../../platform/html.ts'
import { choice, field } from '../html/components.ts'
import type { SendFramed } from './frame.ts'
import { linkNaming } from './links.ts'
import type { ApiPage, DashboardResource, Identified, LinkTo, ListColumn, ListFilter } from './shapes.ts'
import { words } from './values.ts'
import { type DashboardVisit, mayAct, roleFor } from './visit.ts'

const LIMIT = '25'

/** Returns the filters of a list, with the values that the OpenAPI document defines. */
function filtersOf({ operation, filters: labels = {} }: DashboardResource<Identified>['list']): ListFilter[] {
  const listed: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> = documented
  return Object.entries(labels).map(([name, label]) => {
    const options = listed[operation]?.[name]
    return { name, label, ...(options && { options }) }
  })
}

/** Writes a table. On narrow screens, each row is a block and each cell shows its column title. */
export function writeTable<Item>(
  label: string,
  columns: readonly ListColumn<Item>[],
  items: readonly Item[],
  link: LinkTo,
): Html {
  return html`<table role="table" aria-label="${label}">
<thead><tr role="row">${columns.map(
    ({ title, isAmount }) =>
      html`<th role="columnheader" scope="col"${isAmount && html` class="amount"`}>${title}</th>`,
  )}</tr></thead>
<tbody>
${items.map((item) => writeRow(columns, item, link))}</tbody>
</table>`
}

export function writeRow<Item>(columns: readonly ListColumn<Item>[], item: Item, link: LinkTo): Html {
  return html`<tr role="row">${columns.map(
    ({ title, show, isAmount }) =>
      html`<td role="cell" data-title="${title}"${isAmount && html` class="amount"`}><div>${show(item, link)}</div></td>`,
  )}</tr>\n`
}

/** Writes the element through which `tail.js` adds new rows to the table. */
export function writeTail(address: string): Html {
  return html`<p class="tail" data-rows="${address}" role="status"><noscript>Reload this page to see new rows.</noscript></p>`
}

/** The script that reads the element of `writeTail`. */
export const TAIL_SCRIPT = 'tail.js'

export async function showList(
  visit: DashboardVisit,
  resource: DashboardResource<Identified>,
  send: SendFramed,
): Promise<void> {
  const { list, title, intro, path, menu = path, create } = resource
  const filters = filtersOf(list)
  const asked = readFilters(visit, filters)
  const after = queryText(visit, 'starting_after')
  const { data, has_more, next_cursor } = await visit.read<ApiPage<Identified>>(list.operation, {
    ...(list.of && { path: list.of }),
    query: { ...asked, limit: LIMIT, starting_after: after },
  })
  const link = await linkNaming(visit, data)
  const columns = columnsOf(resource)
  const isNarrowed = after !== '' || Object.values(asked).some((value) => value !== '')
  const isLive = list.isLive === true && after === ''
  const canCreate = create && mayAct(visit.member.role, roleFor(create.operation))
  const actions =
    canCreate &&
    html`<div class="actions"><a class="button" href="/${visit.environment}/${path}/new">${create.title}</a></div>`
  const content = html`<p class="quiet">${intro}</p>
${list.above?.(visit)}
${filters.length > 0 && writeFilters(filters, asked)}
${isLive && writeTail(`/${visit.environment}/${path}/live${writeQuery({ ...asked, after: data[0]?.id ?? '' })}`)}
${
  data.length > 0
    ? writeTable(title, columns, data, link)
    : html`<p class="empty">${isNarrowed ? 'No results match these filters. Change or clear the filters.' : list.empty}</p>`
}
${writePaging(after !== '', has_more ? next_cursor : null, asked)}`
  const scripts = isLive ? [TAIL_SCRIPT] : []
  send(visit, 200, { title, path: menu, ...(actions && { actions }), scripts, content })
}

/** Returns the columns of the list page. The first links to the detail page. */
export function columnsOf({
  path,
  list,
  detail,
}: DashboardResource<Identified>): readonly ListColumn<Identified>[] {
  return list.columns.map((column, index) =>
    index > 0 || !detail
      ? column
      : { ...column, show: (item, link) => link(`${path}/${item.id}`, column.show(item, link)) },
  )
}

export function queryText({ request }: DashboardVisit, name: string): string {
  const value = request.query[name]
  return typeof value === 'string' ? value : ''
}

function readFilters(visit: DashboardVisit, filters: readonly ListFilter[]): Record<string, string> {
  return Object.fromEntries(filters.map(({ name }) => [name, queryText(visit, name).trim()]))
}

export function writeFilters(filters: readonly ListFilter[], asked: Readonly<Record<string, string>>): Html {
  return html`<form class="filters" method="get">
${filters.map(({ name, label, options }) =>
  options
    ? choice({
        name,
        label,
        value: asked[name],
        options: [['', 'Any'], ...options.map((option) => [option, words(option)] as const)],
      })
    : field({ name, label, value: asked[name], optional: true }),
)}
<button class="second" type="submit">Apply filters</button>
</form>`
}

/** Returns a query string without empty values. */
export function writeQuery(values: Readonly<Record<string, string>>): string {
  return `?${new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''))}`
}

export function writePaging(
  isLater: boolean,
  next: string | null,
  asked: Readonly<Record<string, string>>,
): Html {
  const address = (cursor?: string) => writeQuery({ ...asked, ...(cursor && { starting_after: cursor }) })
  if (!isLater && next === null) return html``
  return html`<nav class="paging" aria-label="Pagination">${
    isLater && html`<a href="${address()}">First page</a>`
  }${next !== null && html`<a rel="next" href="${address(next)}">Next page</a>`}</nav>`
}

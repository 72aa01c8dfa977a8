/** The detail page of one item: facts, sections, and actions. */
import { type Html, html } from '../../platform/html.ts'
import { facts, notice } from '../html/components.ts'
import { panel } from '../html/records.ts'
import { writeQuery } from './filters.ts'
import { keyField } from './form-page.ts'
import type { SendFramed } from './frame.ts'
import { linkNaming } from './links.ts'
import { linkedColumns, writeTable } from './list-page.ts'
import type { ApiPage, DashboardResource, DetailPage, Identified, ItemAction, ItemLink } from './shapes.ts'
import { state } from './values.ts'
import { type DashboardVisit, isServed, mayAct, roleFor } from './visit.ts'

export async function showDetail(
  visit: DashboardVisit,
  resource: DashboardResource<Identified>,
  detail: DetailPage<Identified>,
  id: string,
  send: SendFramed,
  fault?: string,
): Promise<void> {
  const item = await readItem(visit, detail, id)
  const link = await linkNaming(visit, item)
  const [picture, ...sections] = await Promise.all([
    detail.picture?.(item, visit, link),
    ...sectionsIn(visit, detail, item).map(async ({ title, write }) =>
      panel(title, await write(item, visit, link)),
    ),
  ])
  const status = detail.status?.(item)
  const content = html`${fault !== undefined && notice('bad', fault)}
<div class="record"><div>${picture}
${sections}</div>
<aside class="panel" aria-label="Details">${facts(detail.facts(item, link))}</aside></div>`
  send(visit, fault === undefined ? 200 : 409, {
    title: detail.name(item),
    path: resource.menu ?? resource.path,
    trail: detail.trail?.(item, link) ?? link(resource.path, resource.title),
    badge: status === undefined ? undefined : state(status),
    actions: writeActions(visit, resource, detail, item),
    content,
  })
}

export interface RelatedRecords {
  readonly query: Readonly<Record<string, string>>
  /** Shown if there are no records. */
  readonly empty: string
  /** Text of the link to the list of all records. */
  readonly all: string
  /** Titles of columns that repeat the page that shows the records. */
  readonly without?: readonly string[]
}

/** Writes records of another resource as a table, with a link to their list if there are more. */
export async function writeRelated(
  visit: DashboardVisit,
  related: DashboardResource<Identified>,
  { query, empty, all, without = [] }: RelatedRecords,
): Promise<Html> {
  const { path, title, list } = related
  const { data, has_more } = await visit.read<ApiPage<Identified>>(list.operation, { query })
  if (data.length === 0) return html`<p class="empty">${empty}</p>`
  const link = await linkNaming(visit, data)
  const columns = linkedColumns(related).filter((column) => !without.includes(column.title))
  const { limit: _, ...asked } = query
  return html`${writeTable(title, columns, data, link)}
${has_more && html`<p class="more">${link(`${path}${writeQuery(asked)}`, all)}</p>`}`
}

function sectionsIn(
  { environment }: DashboardVisit,
  { sections = [] }: DetailPage<Identified>,
  item: Identified,
) {
  return sections.filter(
    ({ environment: only = environment, when }) => only === environment && when?.(item) !== false,
  )
}

export function readItem(
  visit: DashboardVisit,
  { operation, parameter }: DetailPage<Identified>,
  id: string,
) {
  return visit.read<Identified>(operation, { path: { [parameter]: id } })
}

/** Whether an action has its own page, because it has a warning or fields. */
export function hasPage(action: ItemAction<Identified>): boolean {
  return action.warning !== undefined || (action.fields ?? []).length > 0
}

function writeActions(
  visit: DashboardVisit,
  { path }: DashboardResource<Identified>,
  { ways = [], actions = [] }: DetailPage<Identified>,
  item: Identified,
): Html | undefined {
  const { member, environment } = visit
  const isPossible = (each: Omit<ItemLink<Identified>, 'text' | 'to'>) =>
    mayAct(member.role, roleFor(each.operation)) &&
    (each.environment ? each.environment === environment : isServed(each.operation, environment)) &&
    (each.when?.(item) ?? true)
  const leading = ways
    .filter(isPossible)
    .map(({ text, to }) => html`<a class="button second" href="/${environment}/${to(item)}">${text}</a>`)
  const acting = actions.filter(isPossible).map((each) => {
    const address = `/${environment}/${path}/${encodeURIComponent(item.id)}/${each.name}`
    if (hasPage(each))
      return html`<a class="button ${each.isDanger ? 'danger' : 'second'}" href="${address}">${each.button}</a>`
    return html`<form method="post" action="${address}">${visit.guard(address)}${keyField()}<button class="second" type="submit">${each.button}</button></form>`
  })
  const all = [...leading, ...acting]
  return all.length === 0 ? undefined : html`<div class="actions">${all}</div>`
}

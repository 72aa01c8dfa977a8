import { type Html, html } from '../../platform/html.ts'
import { field } from '../html/components.ts'
import { icon } from '../html/icons.ts'
import { type AskedFilters, isNarrowed, writeQuery } from './filters.ts'
import { listViews, type SavedView, type ViewedList } from './view-queries.ts'
import type { DashboardVisit } from './visit.ts'

export const VIEWS_PATH = 'views'
export const VIEW_ACTIONS = ['save', 'rename', 'delete'] as const
export type ViewAction = (typeof VIEW_ACTIONS)[number]

/** Writes the tabs of a list, and the form that saves, renames, or deletes a view. */
export async function writeViews(visit: DashboardVisit, list: string, asked: AskedFilters): Promise<Html> {
  const views = await listViews(visit.operator.control, viewedIn(visit, list))
  const query = writeQuery(asked).slice(1)
  const shown = views.find((view) => view.query === query)
  if (views.length === 0 && !isNarrowed(asked)) return html``
  const tabs = [{ name: 'All', query: '' }, ...views].map(
    (view) =>
      html`<li><a href="?${view.query}"${view.query === query && html` aria-current="page"`}>${view.name}</a></li>`,
  )
  return html`<div class="views"><ul aria-label="Views">${tabs}</ul>
${
  isNarrowed(asked) &&
  html`<details class="pops"><summary>${icon(shown ? 'pencil' : 'bookmark')}${shown ? 'Edit view' : 'Save view'}</summary>
<div>${writeViewForm(visit, shown ? 'rename' : 'save', { list, query, was: shown?.name ?? '', name: shown?.name ?? '' })}${
    shown && writeViewForm(visit, 'delete', { list, query, was: shown.name, name: shown.name })
  }</div></details>`
}</div>`
}

export interface TypedView extends SavedView {
  readonly list: string
  /** Name of the stored view. Empty for a new view. */
  readonly was: string
}

export const VIEW_BUTTONS = { save: 'Save view', rename: 'Rename view', delete: 'Delete view' } as const

export function writeViewForm(
  visit: DashboardVisit,
  action: ViewAction,
  typed: TypedView,
  fault?: string,
): Html {
  const address = `/${visit.environment}/${VIEWS_PATH}/${action}`
  const { list, query, was, name } = typed
  return html`<form method="post" action="${address}">${visit.guard(address)}
${Object.entries({ list, query, was }).map(
  ([each, value]) => html`<input type="hidden" name="${each}" value="${value}">`,
)}
${action !== 'delete' && field({ name: 'name', label: 'Name of the view', value: name, fault })}
<button type="submit" class="${action === 'delete' ? 'danger' : ''}">${VIEW_BUTTONS[action]}</button></form>`
}

export function viewedIn({ member, environment }: DashboardVisit, list: string): ViewedList {
  return { tenantId: member.tenantId, memberId: member.memberId, environment, list }
}

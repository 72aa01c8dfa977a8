/** Saved views: a member's own filters of a list, as tabs above it. */
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { field, notice } from '../html/components.ts'
import { formField } from '../html/forms.ts'
import { icon } from '../html/icons.ts'
import { type AskedFilters, isNarrowed, writeQuery } from './filters.ts'
import type { SendFramed } from './frame.ts'
import type { DashboardRoute } from './routes.ts'
import {
  deleteView,
  insertView,
  listViews,
  MAX_VIEWS,
  renameView,
  type SavedView,
  type ViewedList,
} from './view-queries.ts'
import { ApiRefused, type DashboardVisit } from './visit.ts'

const PATH = 'views'
const ACTIONS = ['save', 'rename', 'delete'] as const
type ViewAction = (typeof ACTIONS)[number]

/** Maximum lengths, in characters. */
const MAX_NAME = 40
const MAX_QUERY = 2000

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
<div>${writeForm(visit, shown ? 'rename' : 'save', { list, query, was: shown?.name ?? '', name: shown?.name ?? '' })}${
    shown && writeForm(visit, 'delete', { list, query, was: shown.name, name: shown.name })
  }</div></details>`
}</div>`
}

interface TypedView extends SavedView {
  readonly list: string
  /** Name of the stored view. Empty for a new view. */
  readonly was: string
}

const BUTTONS = { save: 'Save view', rename: 'Rename view', delete: 'Delete view' } as const

function writeForm(visit: DashboardVisit, action: ViewAction, typed: TypedView, fault?: string): Html {
  const address = `/${visit.environment}/${PATH}/${action}`
  const { list, query, was, name } = typed
  return html`<form method="post" action="${address}">${visit.guard(address)}
${Object.entries({ list, query, was }).map(
  ([each, value]) => html`<input type="hidden" name="${each}" value="${value}">`,
)}
${action !== 'delete' && field({ name: 'name', label: 'Name of the view', value: name, fault })}
<button type="submit" class="${action === 'delete' ? 'danger' : ''}">${BUTTONS[action]}</button></form>`
}

export function viewRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment) =>
    ACTIONS.map((action) => ({
      method: 'POST' as const,
      path: `/${environment}/${PATH}/${action}`,
      environment,
      needs: 'viewer' as const,
      handle: (visit: DashboardVisit) => change(visit, action, send),
    })),
  )
}

async function change(visit: DashboardVisit, action: ViewAction, send: SendFramed): Promise<void> {
  const { request, response, environment, operator } = visit
  const [list, query, was, name] = (['list', 'query', 'was', 'name'] as const).map((each) =>
    formField(request, each).trim(),
  ) as [string, string, string, string]
  if (!/^[a-z-]{1,40}$/.test(list)) throw new ApiRefused(404, 'This list does not exist.')
  const of = viewedIn(visit, list)
  const back = (asked: string) =>
    response.redirect(303, `/${environment}/${list}?${new URLSearchParams(asked)}`)
  if (action === 'delete') {
    await deleteView(operator.control, of, was)
    return back('')
  }
  const fault = faultOf(name, query) ?? (await store(visit, of, action, { name, query, was }))
  if (fault === undefined) return back(query)
  const content = html`${notice('bad', 'Check the highlighted fields.')}
${writeForm(visit, action, { list, query, was, name }, fault)}`
  send(visit, 422, { title: BUTTONS[action], path: list, content })
}

function faultOf(name: string, query: string): string | undefined {
  if (name === '' || name.length > MAX_NAME) return `Enter a name of 1 to ${MAX_NAME} characters.`
  if (query === '' || query.length > MAX_QUERY)
    return 'Apply at most 2,000 characters of filters, and then save the view.'
  return undefined
}

/** Returns the reason why the view is not stored, if any. A form that is submitted twice stores one view. */
async function store(
  { operator: { control } }: DashboardVisit,
  of: ViewedList,
  action: 'save' | 'rename',
  { name, query, was }: Omit<TypedView, 'list'>,
): Promise<string | undefined> {
  const taken = 'You have another view with this name. Enter a different name.'
  if (action === 'rename') return (await renameView(control, of, was, name)) ? undefined : taken
  // If another view is saved at the same time, the place may be taken: at most one attempt for each place.
  for (let attempt = 0; attempt < MAX_VIEWS; attempt += 1) {
    if (await insertView(control, of, { name, query })) return undefined
    const views = await listViews(control, of)
    const same = views.find((view) => view.name === name)
    if (same) return same.query === query ? undefined : taken
    if (views.length >= MAX_VIEWS)
      return `A list has at most ${MAX_VIEWS} views. Delete a view, and then save this one.`
  }
  throw new ApiRefused(503, 'The view was not saved. Submit the form again.')
}

function viewedIn({ member, environment }: DashboardVisit, list: string): ViewedList {
  return { tenantId: member.tenantId, memberId: member.memberId, environment, list }
}

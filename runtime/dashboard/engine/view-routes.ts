/** Routes that save, rename, and delete views. */
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { html } from '../../platform/html.ts'
import { notice } from '../html/components.ts'
import { formField } from '../html/forms.ts'
import type { SendFramed } from './frame.ts'
import type { DashboardRoute } from './routes.ts'
import {
  type TypedView,
  VIEW_ACTIONS,
  VIEW_BUTTONS,
  VIEWS_PATH,
  type ViewAction,
  viewedIn,
  writeViewForm,
} from './saved-views.ts'
import { deleteView, insertView, listViews, MAX_VIEWS, renameView, type ViewedList } from './view-queries.ts'
import { ApiRefused, type DashboardVisit } from './visit.ts'

/** Maximum lengths, in characters. */
const MAX_NAME = 40
const MAX_QUERY = 2000

export function viewRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment) =>
    VIEW_ACTIONS.map((action) => ({
      method: 'POST' as const,
      path: `/${environment}/${VIEWS_PATH}/${action}`,
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
${writeViewForm(visit, action, { list, query, was, name }, fault)}`
  send(visit, 422, { title: VIEW_BUTTONS[action], path: list, content })
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

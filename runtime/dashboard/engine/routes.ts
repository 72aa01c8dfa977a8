/** Creates the routes of a resource from its description. */

import type { OperationId } from '../../api/operate.ts'
import type { Environment } from '../../platform/environment.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { doneOf } from '../html/toasts.ts'
import { hasPage, readItem, showDetail } from './detail-page.ts'
import { describe, type FormPlace, hasFiles, perform, showForm, showSecret, submitForm } from './form-page.ts'
import type { SendFramed } from './frame.ts'
import { showList } from './list-page.ts'
import { showRevealed } from './reveal-page.ts'
import type {
  DashboardResource,
  DetailPage,
  FormField,
  Identified,
  ItemAction,
  OperationForm,
} from './shapes.ts'
import { type DashboardVisit, isServed, roleFor, type VisitRole } from './visit.ts'

/** Maximum size of a form with files. In base64, 6 MiB become 8 MiB, the largest body limit of an operation. */
const MAX_FILES_BYTES = 6 * 1024 * 1024

export interface DashboardRoute {
  readonly method: 'GET' | 'POST'
  /** Express path. Only dashboard forms submit a POST. */
  readonly path: string
  readonly environment: Environment
  /** The least privileged role that may use the route. */
  readonly needs: VisitRole
  /** Maximum size of a form that can contain files. */
  readonly maxBytes?: number
  /** The operation that the form performs. A required code is checked after the operation has validated its input. */
  readonly operation?: OperationId
  /**
   * Rejects an invalid form before its code is used.
   *
   * @returns whether a response was sent.
   */
  answerBefore?(visit: DashboardVisit, id: string): Promise<boolean> | boolean
  handle(visit: DashboardVisit, id: string): Promise<void> | void
}

/** Returns the routes of a resource in each environment that has it. */
export function routesOf(resource: DashboardResource<Identified>, send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.filter(
    (environment) => resource.environment === undefined || resource.environment === environment,
  ).flatMap((environment) => [
    {
      method: 'GET' as const,
      path: `/${environment}/${resource.path}`,
      environment,
      needs: roleFor(resource.list.operation),
      handle: (visit: DashboardVisit) => showList(visit, resource, send),
    },
    ...(resource.create && 'fields' in resource.create
      ? createRoutes(environment, resource, resource.create, send)
      : []),
    ...(resource.detail ? detailRoutes(environment, resource, resource.detail, send) : []),
  ])
}

function createRoutes(
  environment: Environment,
  { path }: DashboardResource<Identified>,
  described: OperationForm,
  send: SendFramed,
): DashboardRoute[] {
  const form = { ...described, fields: fieldsIn(environment, described.fields) }
  if (!isServed(form.operation, environment)) return []
  const list = `/${environment}/${path}`
  const address = `${list}/new`
  const place = { title: form.title, path, address, back: list }
  const { operation } = form
  const common = { path: address, environment, needs: roleFor(operation), operation }
  return [
    { ...common, method: 'GET', handle: (visit) => showForm(visit, form, place, send) },
    {
      ...common,
      ...(hasFiles(form) && { maxBytes: MAX_FILES_BYTES }),
      method: 'POST',
      handle: async (visit) => {
        const answer = await submitForm(visit, form, () => place, send)
        if (!answer) return
        const next = `${list}/${(answer.body as Identified).id}`
        succeed(visit, form, place, answer.body, next, send)
      },
    },
  ]
}

function fieldsIn(environment: Environment, fields: readonly FormField[] = []): readonly FormField[] {
  return fields.filter(({ environment: only = environment }) => only === environment)
}

/** Shows the secret in the result, if any, or else redirects to the next page. */
function succeed(
  visit: DashboardVisit,
  { secret: find, button, done = doneOf(button) }: Pick<OperationForm, 'secret' | 'button' | 'done'>,
  { title, path }: Pick<FormPlace, 'title' | 'path'>,
  body: unknown,
  next: string,
  send: SendFramed,
): void {
  const secret = find?.(body)
  if (secret === undefined) visit.finish(next, done)
  else showSecret(visit, title, path, secret, next, send)
}

function detailRoutes(
  environment: Environment,
  resource: DashboardResource<Identified>,
  detail: DetailPage<Identified>,
  send: SendFramed,
): DashboardRoute[] {
  const path = `/${environment}/${resource.path}/:id`
  const actions = (detail.actions ?? []).filter(({ operation }) => isServed(operation, environment))
  return [
    {
      method: 'GET',
      path,
      environment,
      needs: roleFor(detail.operation),
      handle: (visit, id) => showDetail(visit, resource, detail, id, send),
    },
    ...actions.flatMap((action) =>
      actionRoutes(`${path}/${action.name}`, environment, resource, detail, action, send),
    ),
  ]
}

function actionRoutes(
  path: string,
  environment: Environment,
  resource: DashboardResource<Identified>,
  detail: DetailPage<Identified>,
  action: ItemAction<Identified>,
  send: SendFramed,
): DashboardRoute[] {
  const button = action.values && action.operation.startsWith('update') ? 'Save changes' : action.button
  const form = { ...action, button, fields: fieldsIn(environment, action.fields) }
  const list = `/${environment}/${resource.path}`
  const placeOf = (id: string, name: string): FormPlace => {
    const back = `${list}/${encodeURIComponent(id)}`
    const { warning, isDanger } = action
    return {
      title: `${action.button}: ${name}`,
      path: resource.path,
      address: `${back}/${action.name}`,
      back,
      parameters: { [detail.parameter]: id },
      warning,
      isDanger,
    }
  }
  const { operation } = action
  const common = { path, environment, needs: roleFor(operation), operation }
  const show: DashboardRoute = {
    ...common,
    method: 'GET',
    handle: async (visit, id) => {
      const item = await readItem(visit, detail, id)
      const values = action.values?.(item)
      await showForm(visit, form, placeOf(id, detail.name(item)), send, { ...(values && { values }) })
    },
  }
  const act: DashboardRoute = {
    ...common,
    ...(hasFiles(form) && { maxBytes: MAX_FILES_BYTES }),
    method: 'POST',
    handle: async (visit, id) => {
      const path = { [detail.parameter]: id }
      const name = async () => placeOf(id, detail.name(await readItem(visit, detail, id)))
      const answer = hasPage(action)
        ? await submitForm(visit, form, name, send, path)
        : await perform(visit, form, path)
      if (!answer) return
      if ('error' in answer) return showDetail(visit, resource, detail, id, send, describe(answer.error))
      if (action.reveal) {
        const item = await readItem(visit, detail, id)
        const { back: next } = placeOf(id, '')
        const secrets = action.reveal(answer.body, item)
        return showRevealed(visit, { title: detail.name(item), path: resource.path, next, secrets }, send)
      }
      const place = { ...placeOf(id, ''), title: action.button }
      succeed(visit, form, place, answer.body, action.removes ? list : place.back, send)
    },
  }
  return hasPage(action) ? [show, act] : [act]
}

/** Bulk actions: records are selected in a list, shown in a preview, and then changed one by one through the API. */
import { createHash } from 'node:crypto'
import type { Request } from 'express'
import { findOperation } from '../../api/operate.ts'
import type { Environment } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { codeField, notice } from '../html/components.ts'
import { formField } from '../html/forms.ts'
import { filtersOf, queryOf, readFilters } from './filters.ts'
import { KEY, keyField } from './form-page.ts'
import type { SendFramed } from './frame.ts'
import { linkNaming } from './links.ts'
import { writeTable } from './list-page.ts'
import { operatePatiently } from './patience.ts'
import type { DashboardRoute } from './routes.ts'
import { MAX_SELECTED } from './selection.ts'
import type { ApiPage, DashboardResource, DetailPage, Identified, ItemAction } from './shapes.ts'
import { state } from './values.ts'
import { type DashboardVisit, isServed, roleFor } from './visit.ts'

type BulkResource = DashboardResource<Identified> & { readonly detail: DetailPage<Identified> }

export function bulkRoutes(
  environment: Environment,
  resource: DashboardResource<Identified>,
  send: SendFramed,
): DashboardRoute[] {
  const { detail } = resource
  if (!detail) return []
  const found = { ...resource, detail }
  const actions = (detail.actions ?? []).filter(
    ({ isBulk, operation }) => isBulk && isServed(operation, environment),
  )
  return actions.flatMap((action): DashboardRoute[] => {
    const { operation } = action
    const path = `/${environment}/${resource.path}/bulk/${action.name}`
    const common = { path, environment, needs: roleFor(operation), operation }
    return [
      { ...common, method: 'GET', handle: (visit) => showPreview(visit, found, action, send) },
      { ...common, method: 'POST', handle: (visit) => performAll(visit, found, action, send) },
    ]
  })
}

/** Returns the submitted values of a repeated field. */
function readAll(source: Request['query'] | Request['body'], name: string): string[] {
  const values: unknown = Object.hasOwn(source ?? {}, name) ? source[name] : []
  return [...new Set([values].flat().filter((value) => typeof value === 'string'))]
}

interface Selection {
  readonly items: readonly Identified[]
  /** Whether more records match the filters. */
  readonly isCut: boolean
}

/** Reads the selected records, or all that match the filters if `all` is set. */
async function readSelected(visit: DashboardVisit, { list, detail }: BulkResource): Promise<Selection> {
  const { query } = visit.request
  if (query.all !== undefined) {
    const { data, has_more } = await visit.read<ApiPage<Identified>>(list.operation, {
      query: { ...queryOf(visit, readFilters(visit, filtersOf(list))), limit: String(MAX_SELECTED) },
    })
    return { items: data, isCut: has_more }
  }
  const ids = readAll(query, 'id')
  const items: Identified[] = []
  for (const id of ids.slice(0, MAX_SELECTED)) {
    const answer = await operatePatiently(visit, detail.operation, { path: { [detail.parameter]: id } })
    // A record that was deleted in the meantime is left out.
    if (answer.ok) items.push(answer.body as Identified)
  }
  return { items, isCut: ids.length > MAX_SELECTED }
}

async function showPreview(
  visit: DashboardVisit,
  resource: BulkResource,
  action: ItemAction<Identified>,
  send: SendFramed,
): Promise<void> {
  const { path, title, detail } = resource
  const { items, isCut } = await readSelected(visit, resource)
  const possible = items.filter((item) => action.when?.(item) ?? true)
  const others = items.filter((item) => !possible.includes(item))
  const back = `/${visit.environment}/${path}`
  const address = `${back}/bulk/${action.name}`
  const link = await linkNaming(visit, items)
  const columns = [
    {
      title: title,
      show: (item: Identified) => link(`${path}/${item.id}`, detail.name(item)),
    },
    { title: 'Status', show: (item: Identified) => statusOf(detail, item) },
  ]
  const content = html`${
    isCut &&
    notice(
      'warn',
      `A bulk action changes at most ${MAX_SELECTED} records. Repeat it for the records that are left.`,
    )
  }${possible.length > 0 && action.warning !== undefined && notice('warn', action.warning)}${
    possible.length > 0
      ? html`<h2>Selected records: ${String(possible.length)}</h2>
${writeTable(action.button, columns, possible, link)}`
      : html`<p class="empty">${items.length === 0 ? 'Select at least one record in the list.' : 'The action is not possible for any of the selected records.'}</p>`
  }${
    others.length > 0 &&
    html`<h2>Not possible: ${String(others.length)}</h2>
<p class="quiet">The status of these records does not allow the action. They do not change.</p>
${writeTable('Not possible', columns, others, link)}`
  }
<form method="post" action="${address}">${
    possible.length > 0 &&
    html`${visit.guard(address)}${keyField()}
${possible.map(({ id }) => html`<input type="hidden" name="id" value="${id}">`)}
${visit.takesCode && codeField('bulk')}`
  }
<div class="actions">${
    possible.length > 0 &&
    html`<button type="submit"${action.isDanger && html` class="danger"`}>${action.button}: ${String(possible.length)}</button> `
  }<a class="button second" href="${back}">Back</a></div></form>`
  send(visit, 200, { title: action.button, path, trail: link(path, title), content })
}

function statusOf({ status }: DetailPage<Identified>, item: Identified): Html | string {
  const shown =
    status?.(item) ?? ('status' in item && typeof item.status === 'string' ? item.status : undefined)
  return shown === undefined ? '–' : state(shown)
}

interface BulkResult {
  readonly id: string
  /** Error message of the API. Absent if the action succeeded. */
  readonly fault?: string
}

/**
 * Performs the action on each record, with its own idempotency key, which depends on the form and the record. A form that is submitted
 * again therefore acts once on each record, also if the first response was lost. A failure does not stop the others.
 */
async function performAll(
  visit: DashboardVisit,
  { path, title, detail }: BulkResource,
  action: ItemAction<Identified>,
  send: SendFramed,
): Promise<void> {
  const { request } = visit
  const form = formField(request, KEY)
  const { method } = findOperation(action.operation)
  const body = action.body?.({}, () => undefined)
  const results: BulkResult[] = []
  for (const id of readAll(request.body, 'id').slice(0, MAX_SELECTED)) {
    const answer = await operatePatiently(visit, action.operation, {
      path: { [detail.parameter]: id },
      ...(body !== undefined && { body }),
      ...(method === 'POST' && { idempotencyKey: keyOf(form, id) }),
    })
    results.push({ id, ...(!answer.ok && { fault: answer.error.message }) })
  }
  const failed = results.filter(({ fault }) => fault !== undefined).length
  const link = await linkNaming(visit, results)
  const columns = [
    { title: title, show: ({ id }: BulkResult) => link.to(id) },
    {
      title: 'Result',
      show: ({ fault }: BulkResult) =>
        fault === undefined ? state('succeeded') : html`${state('failed')} ${fault}`,
    },
  ]
  const done = results.length - failed
  const content = html`${notice(failed > 0 ? 'warn' : 'good', `Succeeded: ${done}. Failed: ${failed}.`)}
${results.length > 0 && writeTable('Results', columns, results, link)}
<div class="actions">${link(path, `Back to ${title.toLowerCase()}`)}</div>`
  send(visit, 200, { title: action.button, path, trail: link(path, title), content })
}

/** Returns a UUID (version 8, RFC 9562) from the key of the form and the ID of the record. */
function keyOf(form: string, id: string): string {
  const bytes = createHash('sha256').update(`${form} ${id}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The request log: API requests made with the tenant's keys, and their responses. */
import { MAX_PER_FLUSH } from '../../../api/request-log.ts'
import {
  type LoggedRequest,
  listRequests,
  MAX_LOOKED,
  type RequestFilter,
  readRequest,
  statusesOf,
} from '../../../api/request-log-queries.ts'
import type { Boundary } from '../../../database/page.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { parseInstant } from '../../../platform/instants.ts'
import { traceUrlOf } from '../../../platform/tracing-settings.ts'
import { type ExportedList, type Exports, exportRoutesOf } from '../../engine/export.ts'
import { writeExports } from '../../engine/export-links.ts'
import {
  type AskedFilters,
  createdOf,
  isNarrowed,
  queryOf,
  readFilters,
  writeFilters,
  writeQuery,
} from '../../engine/filters.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { writeBody } from '../../engine/json.ts'
import { linkNaming } from '../../engine/links.ts'
import {
  ROWS_SCRIPT,
  TAIL_SCRIPT,
  writePaging,
  writeRow,
  writeTable,
  writeTail,
} from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { writeViews } from '../../engine/saved-views.ts'
import type { ListColumn, ListFilter } from '../../engine/shapes.ts'
import { code, orDash, when } from '../../engine/values.ts'
import { ApiRefused, type DashboardVisit, queryText, type TenantPlace } from '../../engine/visit.ts'
import { facts, notice } from '../../html/components.ts'
import { panel } from '../../html/records.ts'
import { openTail, seenBy, type Tails, writeMessage } from './tails.ts'
import { findPlace, type Watching } from './watching.ts'

export const REQUESTS_PATH = 'requests'

/** The same role that may view API keys. */
export const REQUESTS_NEED = 'developer'

const LIMIT = 25

const CLASSES = ['2xx', '4xx', '5xx']

const FILTERS: readonly ListFilter[] = [
  { name: 'id', label: 'Request ID' },
  { name: 'path', label: 'Path' },
  { name: 'status', label: 'Status' },
  { name: 'key', label: 'API key' },
]

const COLUMNS: readonly ListColumn<LoggedRequest>[] = [
  {
    title: 'Request',
    show: ({ id, method, target }, link) => link(`${REQUESTS_PATH}/${id}`, html`${method} ${target}`),
  },
  { title: 'Status', show: ({ status, code: name }) => showStatus(status, name) },
  { title: 'Duration', isAmount: true, show: ({ ms }) => html`<span class="number">${String(ms)} ms</span>` },
  { title: 'API key', show: ({ key_id }, link) => link.to(key_id) },
  { title: 'Created', show: ({ created }) => instant(created) },
]

const instant = (ms: number) => when(new Date(ms).toISOString())

function showStatus(status: string, name: string | null): Html {
  const mood = status < '400' ? 'good' : status < '500' ? 'warn' : 'bad'
  return html`<span class="state ${mood}">${status}</span>${name !== null && html` ${name}`}`
}

export function requestRoutes(
  send: SendFramed,
  watching: Watching,
  tails: Tails,
  exports: Exports,
): DashboardRoute[] {
  const exported = exportRoutesOf(REQUESTS_PATH, 'listRequestLogs', exports, exportedRequests)
  const shown = ENVIRONMENTS.flatMap((environment) => {
    const path = `/${environment}/${REQUESTS_PATH}`
    const common = { method: 'GET', environment, needs: REQUESTS_NEED } as const
    return [
      { ...common, path, handle: (visit) => showRequests(watching, visit, send) },
      {
        ...common,
        path: `${path}/live`,
        handle: (visit) => openTail(tails, visit, async () => follow(watching, visit)),
      },
      { ...common, path: `${path}/:id`, handle: (visit, id) => showRequest(watching, visit, id, send) },
    ] satisfies DashboardRoute[]
  })
  return [...exported, ...shown]
}

function exportedRequests(visit: DashboardVisit): ExportedList {
  const { id = '', key = '', ...asked } = readFilters(visit, FILTERS)
  const query = queryOf(visit, { ...asked, request_id: id, key_id: key })
  return { name: REQUESTS_PATH, operation: 'listRequestLogs', query }
}

async function showRequests(watching: Watching, visit: DashboardVisit, send: SendFramed): Promise<void> {
  const asked = readFilters(visit, FILTERS)
  const { response, environment } = visit
  if (asked.id)
    return response.redirect(303, `/${environment}/${REQUESTS_PATH}/${encodeURIComponent(asked.id)}`)
  const after = queryText(visit, 'starting_after')
  const fault = faultOf(asked)
  const place = await findPlace(watching, visit)
  const boundary = await boundaryOf(place, after)
  const { rows, hasMore, last } =
    fault === undefined
      ? await listRequests(place.db, place.space, filterOf(visit, asked), {
          limit: LIMIT,
          order: 'desc',
          backward: false,
          ...(boundary && { boundary }),
        })
      : { rows: [], hasMore: false, last: undefined }
  const isLive = fault === undefined && after === '' && asked.to === ''
  const address = `/${environment}/${REQUESTS_PATH}/live${writeQuery({ ...asked, after: rows[0]?.id ?? '' })}`
  const content = html`<p class="quiet">API requests made with your keys in the last 7 days, newest first. New requests appear after a few seconds. Secrets are removed from bodies, and long bodies are truncated. At more than ${String(MAX_PER_FLUSH)} requests per second, some requests are not logged.</p>
${fault !== undefined && notice('bad', fault)}
${await writeViews(visit, REQUESTS_PATH, asked)}
${await writeFilters(visit, FILTERS, asked, html`${isLive && writeTail(address)}${writeExports(visit, REQUESTS_PATH, asked)}`)}
${
  rows.length > 0
    ? writeTable('Request log', COLUMNS, rows, await linkNaming(visit, rows))
    : !hasMore &&
      html`<p class="empty">${isNarrowed(asked) ? 'No requests match these filters. Change or clear the filters.' : 'No requests yet. Send a request with an API key to see it here.'}</p>`
}
${hasMore && rows.length < LIMIT && html`<p class="quiet">This page searched ${MAX_LOOKED.toLocaleString('en')} requests, back to ${instant(last!.created)}. Go to the next page to search older requests.</p>`}
${writePaging(after !== '', hasMore ? last!.id : null, asked)}`
  send(visit, fault === undefined ? 200 : 422, {
    title: 'Request log',
    path: REQUESTS_PATH,
    scripts: [ROWS_SCRIPT, ...(isLive ? [TAIL_SCRIPT] : [])],
    content,
  })
}

function faultOf({ status, from, to }: AskedFilters): string | undefined {
  if (status && statusesOf(status).length === 0)
    return `Invalid status. Enter a status code, for example, 404, or one of ${CLASSES.join(', ')}.`
  if ([from, to].some((time) => time && parseInstant(time) === undefined))
    return 'Invalid date. Enter a date such as 2026-05-19.'
  return undefined
}

function filterOf(visit: DashboardVisit, asked: AskedFilters): RequestFilter {
  const { path, status, key } = asked
  const { from, before } = createdOf(visit, asked)
  const gte = parseInstant(from)
  const lt = parseInstant(before)
  return {
    created: { ...(gte !== undefined && { gte }), ...(lt !== undefined && { lt }) },
    paths: path ? [path] : undefined,
    keyIds: key ? [key] : undefined,
    statuses: status ? statusesOf(status) : undefined,
  }
}

async function boundaryOf({ db, space }: TenantPlace, id: string): Promise<Boundary | undefined> {
  if (id === '') return undefined
  const last = await readRequest(db, space, id)
  if (!last) throw new ApiRefused(404, 'This page of the list no longer exists. Go back to the first page.')
  return { created: last.created, id, side: 'after' }
}

const POLL_MS = 1000

/** The newest 100 rows are read each time, because other nodes flush their requests late and out of order. */
const LOOKED_AT = 100

/** Yields new requests every second as table rows, oldest first. */
async function* follow(watching: Watching, visit: DashboardVisit): AsyncGenerator<string> {
  const filter = filterOf(visit, readFilters(visit, FILTERS))
  let seen: ReadonlySet<string> | undefined
  while (await visit.isSignedIn()) {
    const { db, space } = await findPlace(watching, visit)
    const page = { limit: LOOKED_AT, order: 'desc', backward: false } as const
    const { rows } = await listRequests(db, space, filter, page, LOOKED_AT)
    const known = seen ?? new Set(rows.slice(indexOf(rows, seenBy(visit))).map(({ id }) => id))
    const fresh = rows.filter(({ id }) => !known.has(id)).toReversed()
    const link = await linkNaming(visit, fresh)
    yield fresh.map((row) => writeMessage(row.id, writeRow(COLUMNS, row, link).text)).join('') || ':\n\n'
    seen = new Set(rows.map(({ id }) => id))
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Returns the index of the newest row that the page already shows. Rows before that index are new. */
function indexOf(rows: readonly LoggedRequest[], id: string): number {
  const index = rows.findIndex((row) => row.id === id)
  return index < 0 && id === '' ? rows.length : Math.max(index, 0)
}

async function showRequest(
  watching: Watching,
  visit: DashboardVisit,
  id: string,
  send: SendFramed,
): Promise<void> {
  const { db, space } = await findPlace(watching, visit)
  const request = await readRequest(db, space, id)
  if (!request) throw new ApiRefused(404, 'Request not found. The log keeps requests for 7 days.')
  const link = await linkNaming(visit, request)
  const content = html`<section class="panel">${facts([
    ['ID', code(request.id)],
    ['Operation', orDash(request.operation)],
    ['Version', request.version],
    ['API key', link.to(request.key_id)],
    ['IP address', request.address],
    ['Created', instant(request.created)],
    ['Duration', `${request.ms} ms`],
    ...(request.trace_id === null ? [] : [['Trace', showTrace(watching, request.trace_id)] as const]),
  ])}</section>
<div class="beside">
${panel('Request body', showBody(request.request_body, visit))}
${panel('Response body', showBody(request.response_body, visit))}
</div>`
  send(visit, 200, {
    title: `${request.method} ${request.target}`,
    path: REQUESTS_PATH,
    trail: link(REQUESTS_PATH, 'Request log'),
    badge: showStatus(request.status, request.code),
    actions:
      request.code === null
        ? undefined
        : html`<a class="button second" href="/docs/errors?request=${id}#${request.code}">Read about this error</a>`,
    content,
  })
}

function showTrace({ traceUrl }: Watching, traceId: string): Html {
  if (traceUrl === undefined) return code(traceId)
  return html`<a href="${traceUrlOf(traceUrl, traceId)}" rel="noreferrer">${code(traceId)}</a>`
}

const showBody = (body: string | null, visit: DashboardVisit): Html =>
  body === null ? html`<p class="empty">The body is empty or was not stored.</p>` : writeBody(body, visit)

/** The part of the documentation page about errors that shows the requests of the signed-in reader. */
import {
  type LoggedRequest,
  listRequests,
  readRequest,
  statusesOf,
  type WholeRequest,
} from '../../../api/request-log-queries.ts'
import { ENVIRONMENTS, type Environment } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { isId } from '../../../platform/ids.ts'
import { isMembers, type Members } from '../../engine/json.ts'
import { code, when, words } from '../../engine/values.ts'
import { type DashboardVisit, queryText } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'
import { REQUESTS_PATH } from '../watch/requests.ts'
import { findPlace, type Watching } from '../watch/watching.ts'
import { sendPart } from './send-part.ts'

/** Number of requests with an error code that are listed for each environment. */
const LISTED = 5

/** Shows the request of the query, or else the last requests with the error code of the query. */
export async function showErrors(watching: Watching, visit: DashboardVisit): Promise<void> {
  const id = queryText(visit, 'request')
  const asked = queryText(visit, 'code')
  if (id === '') return sendPart(visit, 200, await writeLatest(watching, visit, asked))
  for (const environment of ENVIRONMENTS) {
    const { db, space } = await findPlace(watching, { ...visit, environment })
    const request = isId('req', id) ? await readRequest(db, space, id) : undefined
    if (request) return sendPart(visit, 200, writeRequest(request, environment))
  }
  const text = html`<p>Your account has no logged request ${code(id)}. The log keeps requests for 7 days, and shows new requests after a few seconds.</p>`
  sendPart(visit, 404, html`<section class="own asked" data-after="${asked}">${text}${FIND}</section>`)
}

const FIND = html`<form><label>Request ID <input name="request" placeholder="req_…" autocomplete="off" spellcheck="false" required></label><button type="submit">Show request</button></form>`

async function writeLatest(watching: Watching, visit: DashboardVisit, asked: string): Promise<Html> {
  const lists = await Promise.all(
    ENVIRONMENTS.map(async (environment) => {
      const { db, space } = await findPlace(watching, { ...visit, environment })
      const filter = { created: {}, statuses: [...statusesOf('4xx'), ...statusesOf('5xx')], codes: [asked] }
      const page = { limit: LISTED, order: 'desc', backward: false } as const
      return { environment, rows: asked === '' ? [] : (await listRequests(db, space, filter, page)).rows }
    }),
  )
  const found = lists.filter(({ rows }) => rows.length > 0)
  return html`<section class="own" data-after="${found.length > 0 && asked}"><h3>${found.length > 0 ? 'Your last requests with this error' : 'Find your request'}</h3>
${found.map(
  ({ environment, rows }) => html`<h4>${words(environment)}</h4>
<ul>${rows.map(writeRow)}</ul>`,
)}${FIND}</section>`
}

function writeRow({ id, method, target, status, created }: LoggedRequest): Html {
  return html`<li><a href="/docs/errors?request=${id}">${method} ${target}</a> ${status}, ${instant(created)}</li>`
}

const instant = (ms: number) => when(new Date(ms).toISOString())

function writeRequest(request: WholeRequest, environment: Environment): Html {
  const { id, method, target, status, code: name, version, created } = request
  const { message, details } = errorOf(request)
  return html`<section class="own asked" data-after="${name ?? ''}"><h3>Your request</h3>
${facts([
  ['Request', code(`${method} ${target}`)],
  ['Status', name === null ? status : `${status} ${name}`],
  ...(typeof message === 'string' ? [['Message', message] as const] : []),
  ['Version', version],
  ['Environment', environment],
  ['Created', instant(created)],
  ['ID', code(id)],
])}
${Array.isArray(details) && html`<h4>Details</h4><ul>${details.filter(isMembers).map(writeDetail)}</ul>`}
${request.request_body !== null && html`<h4>Request body</h4>${writeBody(request.request_body)}`}
<p><a href="/${environment}/${REQUESTS_PATH}/${id}">View in the dashboard</a></p>${FIND}</section>`
}

const writeDetail = ({ field, issue }: Members): Html =>
  html`<li>${code(String(field))}: ${String(issue)}</li>`

/** Returns the error object of the response, or an empty object if the log does not have the whole response. */
function errorOf({ response_body: body }: WholeRequest): Members {
  const whole = parse(body ?? '')
  return isMembers(whole) && isMembers(whole.error) ? whole.error : {}
}

function writeBody(text: string): Html {
  const value = parse(text)
  return html`<pre tabindex="0">${value === undefined ? text : JSON.stringify(value, null, 2)}</pre>`
}

/** Long bodies are truncated in the log, so they are not valid JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

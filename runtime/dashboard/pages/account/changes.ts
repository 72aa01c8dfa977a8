/** Shows which changes between two versions affect a tenant, based on its own requests and events. */
import type { ChangeEntry } from 'dateline/runtime'
import { changes } from '../../../../generated/changelog.ts'
import { readRequest } from '../../../api/request-log-queries.ts'
import { readLastEvents } from '../../../events/emit/queries.ts'
import { changesOf } from '../../../events/emit/render-again.ts'
import { type Html, html } from '../../../platform/html.ts'
import { firstTouchedDay, readTouches, TOUCHED_DAYS, type Touches } from '../../../tenants/usage/touches.ts'
import { linkIn } from '../../engine/links.ts'
import { code, when } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, type TenantPlace } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'
import { REQUESTS_PATH } from '../watch/requests.ts'

/** Maximum number of recent events that a page examines. */
const EVENTS = 100

/** How a change affects the tenant's own traffic. */
interface Met {
  readonly change: ChangeEntry
  readonly requests: Touches | undefined
  /** Whether the request log still contains the last affected request. */
  readonly isLogged: boolean
  /** Number of affected events among the recent events in the version. */
  readonly events: number
}

export interface VersionUpgrade {
  readonly from: string
  readonly to: string
}

/** Writes the page section about the changes of an upgrade. */
export async function writeChanges(visit: DashboardVisit, { from, to }: VersionUpgrade): Promise<Html> {
  const place = await visit.place()
  const since = firstTouchedDay(visit.operator.clock.service(visit.environment))
  const [touches, last] = await Promise.all([
    readTouches(place.db, place.space, from, since),
    countEvents(place, from),
  ])
  const onWay = changes.filter(({ version }) => version > from && version <= to)
  const all = await Promise.all(
    onWay.map(async (change): Promise<Met> => {
      const requests = touches.find((each) => each.change === change.name)
      const logged = requests && (await readRequest(place.db, place.space, requests.last_request))
      return { change, requests, isLogged: logged !== undefined, events: last.of(change) }
    }),
  )
  const met = all.filter(({ requests, events }) => requests !== undefined || events > 0)
  const rest = all.filter((each) => !met.includes(each))
  return html`<h2 id="changes">Changes in ${to} that affect you</h2>
<p class="quiet">Of the ${counted(all.length, 'change')} between ${from} and ${to}, this list shows the changes that affect your requests to ${from} in the last ${String(TOUCHED_DAYS)} days${last.count > 0 && `, or your last ${counted(last.count, 'event')} in this version`}. Requests are counted within 10 seconds. If a server process stops unexpectedly, its requests of the last seconds may be missing.</p>
${
  met.length > 0
    ? met.map((each) => writeMet(each, visit))
    : html`<p class="empty">No changes in ${to} affect your requests or events in ${from}.</p>`
}
${
  rest.length > 0 &&
  html`<h3>Changes that do not affect your requests in the last ${String(TOUCHED_DAYS)} days</h3>
${rest.map(({ change }) => writeRest(change))}`
}`
}

async function countEvents({ db, space }: TenantPlace, version: string) {
  const events = (await readLastEvents(db, space, EVENTS)).filter((each) => each.version === version)
  const told = events.map((event) => ({ names: changesOf(event), delivered: event.delivered }))
  return {
    count: events.length,
    /** A renamed header affects only events that were delivered. */
    of: ({ name, renamedHeader }: ChangeEntry) =>
      told.filter(({ names, delivered }) => names.has(name) || (renamedHeader !== undefined && delivered))
        .length,
  }
}

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`

function writeMet({ change, requests, isLogged, events }: Met, visit: DashboardVisit): Html {
  return html`<section class="change"><h3>${change.title}</h3>
<p>${prose(change.why)}</p>
${facts([
  ...(requests ? requestFacts(requests, isLogged && mayAct(visit.member.role, 'developer'), visit) : []),
  ...(events > 0 ? [['Events', `${counted(events, 'recent event')} affected`] as const] : []),
  ['Introduced in', change.version],
])}
${writeExamples(change)}</section>`
}

function requestFacts(
  { requests, named, last_at, last_request, last_operation }: Touches,
  isLinked: boolean,
  visit: DashboardVisit,
): (readonly [string, Html | string])[] {
  const link = linkIn(visit)
  const id = code(last_request)
  return [
    ['Requests', html`${String(requests)}${named > 0 && html`; ${namedWords(named, requests)}`}`],
    [
      'Last request',
      html`${last_operation}, ${when(new Date(last_at).toISOString())}, ${isLinked ? link(`${REQUESTS_PATH}/${last_request}`, id) : id}`,
    ],
  ]
}

const namedWords = (named: number, all: number) =>
  `${named === all ? 'all' : named} with a Service-Version header (not affected by the pinned version)`

function writeRest(change: ChangeEntry): Html {
  return html`<details class="change"><summary>${change.title} <span class="quiet">${change.version}</span></summary>
<p>${prose(change.why)}</p>
${writeExamples(change)}</details>`
}

function writeExamples({ examples, version }: ChangeEntry): Html | false {
  const [example] = examples
  if (!example) return false
  return html`<p class="quiet">${example.of}</p>
<div class="beside">
<section><h4>Before ${version}</h4><pre tabindex="0">${example.before}</pre></section>
<section><h4>Since ${version}</h4><pre tabindex="0">${example.after}</pre></section>
</div>`
}

/** Shows text between backticks as code. */
function prose(markdown: string): Html {
  return html`${markdown.split('`').map((part, index) => (index % 2 === 1 ? code(part) : part))}`
}

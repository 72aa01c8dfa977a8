/** The home page: how the account does, what waits for the team, and a guided start for a new account. */

import { events as views } from '../../../../generated/events.ts'
import { COUNTED_EVENTS } from '../../../account/totals/adding.ts'
import { readTotalsPosition } from '../../../account/totals/reading.ts'
import { readEventHead, readEventsAfter } from '../../../events/emit/queries.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { readPin } from '../../../tenants/admin/pins.ts'
import { writeQuery } from '../../engine/filters.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn, linkNaming } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { LinkTo } from '../../engine/shapes.ts'
import { type DashboardVisit, mayAct, queryText, type TenantPlace } from '../../engine/visit.ts'
import { figures, panel } from '../../html/records.ts'
import { EVENT_COLUMNS, type EventObject } from '../resources/events.ts'
import type { Tails } from '../watch/tails.ts'
import { readGuide, writeGuide } from './guide.ts'
import { readHealth, writeHealth } from './health.ts'
import { liveHomeRoute } from './live.ts'
import { readOverview, writeCharts, writeFigures, writeState } from './overview.ts'
import { PERIODS, type PeriodDays, periodOf } from './period.ts'
import { readTasks, writeTasks } from './tasks.ts'

interface Me {
  readonly tenant: { readonly name: string }
}

const RECENT = 5

const EMPTY_LIVE = panel(
  'Nothing in live yet',
  html`<p>Build and test in the sandbox. Then promote your templates, card programs, and endpoints to live.</p><p><a class="button" href="/sandbox">Open the sandbox</a></p>`,
)

export function homeRoutes(send: SendFramed, tails: Tails): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment) => [
    {
      method: 'GET',
      path: `/${environment}`,
      environment,
      needs: 'viewer',
      handle: (visit) => showHome(visit, send),
    },
    liveHomeRoute(environment, tails, writeParts),
  ])
}

function readDays(visit: DashboardVisit): PeriodDays {
  return PERIODS.find((days) => String(days) === queryText(visit, 'days')) ?? 30
}

async function showHome(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { environment } = visit
  const days = readDays(visit)
  const place = await visit.place()
  const position = await readTotalsPosition(place.db, place.space)
  const [me, parts] = await Promise.all([visit.read<Me>('getMe'), writeParts(visit, place)])
  const live = `/${environment}/home/live${writeQuery({ days: String(days), after: position })}`
  const actions = html`<nav class="periods" aria-label="Period">${PERIODS.map(
    (each) =>
      html`<a href="/${environment}?days=${String(each)}"${each === days && html` aria-current="true"`}>${String(each)} days</a>`,
  )}</nav>`
  const content = html`<div class="overview" data-live="${live}">
${parts.map((part, at) => html`<div data-part="${String(at)}">${part}</div>\n`)}</div>`
  send(visit, 200, { title: me.tenant.name, path: '', actions, scripts: ['home.js'], content })
}

/** Writes the parts of the page that change. Each is replaced on its own if it has changed. */
async function writeParts(visit: DashboardVisit, { db, space }: TenantPlace): Promise<readonly Html[]> {
  const { environment, operator, member } = visit
  const now = operator.clock.service(environment)
  const link = linkIn(visit)
  const period = periodOf(readDays(visit), now)
  const [overview, health, tasks, guide, recent, pin] = await Promise.all([
    readOverview(db, space, period),
    readHealth(db, space, now),
    readTasks(db, space, now),
    environment === 'sandbox' ? readGuide(operator.control, db, member.tenantId, space) : undefined,
    readRecent({ db, space }),
    readPin(operator.control, member.tenantId, environment),
  ])
  const mayWatch = mayAct(member.role, 'developer')
  return [
    html`${guide ? writeGuide(visit, guide) : overview.state.since === null && EMPTY_LIVE}${writeTasks(tasks, pin, now, link)}`,
    html`${writeState(overview, operator.clock.machine())}${writeMissing(pin, link)}${figures([...writeFigures(overview, link), ...writeHealth(health, link, mayWatch)])}`,
    await writeCharts(overview, link),
    panel(
      'Recent events',
      recent.length > 0
        ? html`${writeTable('Recent events', EVENT_COLUMNS, recent, await linkNaming(visit, recent))}<p>${link('events', 'View all events')}</p>`
        : html`<p class="empty">No events yet. Actions by you and your customers appear here.</p>`,
    ),
  ]
}

async function readRecent({ db, space }: TenantPlace): Promise<readonly EventObject[]> {
  const { sequence } = await readEventHead(db, space)
  const events = await readEventsAfter(db, space, sequence - RECENT, RECENT)
  return events.map(({ body }) => JSON.parse(body) as EventObject).toReversed()
}

/** Says which totals are missing because the pinned version has no events of their type. */
function writeMissing(pin: string | null, link: LinkTo): Html | undefined {
  if (pin === null) return undefined
  const view = views[pin] ?? {}
  if (COUNTED_EVENTS.every((type) => type in view)) return undefined
  return html`<p class="quiet">Authorizations are counted from events, and your API version ${pin} has no events of card transactions. ${link('version', 'Upgrade the API version')} to count them.</p>`
}

/** The usage page: requests by day and kind, and hourly errors, latency, and deliveries for the last 24 hours. */

import { countRequestsByHour } from '../../../api/request-log-queries.ts'
import { countAttemptsByHour } from '../../../events/delivery-attempts/queries.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { Operator } from '../../../tenants/admin/change.ts'
import { showUsage } from '../../../tenants/admin/usage.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { words } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { drawChart } from '../../html/chart.ts'
import { RESET_PATH } from './reset.ts'

const DAYS = 30
const DAY_MS = 86_400_000

const HOURS = 24
const HOUR_MS = 3_600_000

/** Maximum number of requests, and of attempts, that a page reads. */
const MAX_READ = 10_000

export function usageRoutes(send: SendFramed, operator: Operator): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/usage`,
    environment,
    needs: 'viewer',
    handle: async (visit) => {
      const content = html`${await writeDays(operator, visit)}${await writeHours(visit)}${writeReset(visit)}`
      send(visit, 200, { title: 'Usage', path: 'usage', content })
    },
  }))
}

function writeReset({ environment, member }: DashboardVisit): Html | undefined {
  if (environment !== 'sandbox' || !mayAct(member.role, roleFor('wipeSandbox'))) return undefined
  return html`<h2>Sandbox data</h2>
<p>Start again with an empty sandbox. API keys, members, and all live data are kept.</p>
<div class="actions"><a class="button danger" href="/sandbox/${RESET_PATH}">Reset sandbox</a></div>`
}

async function writeDays(operator: Operator, visit: DashboardVisit): Promise<Html> {
  const { environment, member } = visit
  const { usage } = await showUsage(operator, { tenantId: member.tenantId, environment, days: DAYS })
  if (usage.length === 0)
    return html`<p class="empty">No requests yet. Send a request with an API key to see your usage.</p>`
  const today = operator.clock.service(environment)
  const days = Array.from({ length: DAYS }, (_, ago) =>
    new Date(today - (DAYS - 1 - ago) * DAY_MS).toISOString().slice(0, 10),
  )
  const sumOf = (day: string) =>
    usage.reduce((sum, line) => (line.day === day ? sum + line.requests : sum), 0)
  const chart = await drawChart({
    title: `Requests in the last ${DAYS} days`,
    labels: days.map((day) => day.slice(5)),
    bars: [{ name: 'requests', kind: 'plain', values: days.map(sumOf) }],
  })
  const columns = [
    { title: 'Day', show: ({ day }: (typeof usage)[number]) => day },
    { title: 'Kind', show: ({ bucket }: (typeof usage)[number]) => words(bucket) },
    { title: 'Requests', show: ({ requests }: (typeof usage)[number]) => String(requests) },
  ]
  return html`<p class="quiet">Requests from the dashboard are included.</p>
${chart}
${writeTable('Requests by day', columns, usage.toReversed(), linkIn(visit))}`
}

/** The totals of one hour. */
interface Hour {
  readonly hour: string
  readonly answered: number
  readonly refused: number
  readonly failed: number
  readonly p95: number
  readonly delivered: number
  readonly undelivered: number
}

async function readHours(visit: DashboardVisit): Promise<readonly Hour[]> {
  const { db, space } = await visit.place()
  const now = visit.operator.clock.service(visit.environment)
  const first = Math.floor(now / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS
  const requests = await countRequestsByHour(db, space, first, MAX_READ)
  const attempts = await countAttemptsByHour(db, space, first, MAX_READ)
  return Array.from({ length: HOURS }, (_, index) => {
    const start = first + index * HOUR_MS
    const asked = requests.find(({ hour }) => hour === start)
    const tried = attempts.find(({ hour }) => hour === start)
    const { requests: all = 0, refused = 0, failed = 0, p95 = 0 } = asked ?? {}
    return {
      hour: `${new Date(start).toISOString().slice(11, 16)}`,
      answered: all - refused - failed,
      refused,
      failed,
      p95: Math.round(p95),
      delivered: tried?.succeeded ?? 0,
      undelivered: tried?.failed ?? 0,
    }
  })
}

async function writeHours(visit: DashboardVisit): Promise<Html> {
  const hours = await readHours(visit)
  const of = (name: Exclude<keyof Hour, 'hour'>) => hours.map((each) => each[name])
  const labels = hours.map(({ hour }) => hour)
  const charts = [
    await drawChart({
      title: 'Requests',
      labels,
      bars: [
        { name: 'succeeded', kind: 'plain', values: of('answered') },
        { name: 'client errors (4xx)', kind: 'warn', values: of('refused') },
        { name: 'server errors (5xx)', kind: 'bad', values: of('failed') },
      ],
    }),
    await drawChart({
      title: 'Latency (p95)',
      labels,
      bars: [{ name: 'p95', kind: 'plain', values: of('p95') }],
      unit: ' ms',
    }),
    await drawChart({
      title: 'Webhook deliveries',
      labels,
      bars: [
        { name: 'succeeded', kind: 'good', values: of('delivered') },
        { name: 'failed', kind: 'bad', values: of('undelivered') },
      ],
    }),
  ]
  const column = (title: string, name: keyof Hour) => ({ title, show: (each: Hour) => String(each[name]) })
  const columns = [
    column('Hour (UTC)', 'hour'),
    column('Succeeded', 'answered'),
    column('Client errors (4xx)', 'refused'),
    column('Server errors (5xx)', 'failed'),
    column('Latency p95 (ms)', 'p95'),
    column('Delivered', 'delivered'),
    column('Failed deliveries', 'undelivered'),
  ]
  const busy = hours.filter(({ hour: _, ...numbers }) => Object.values(numbers).some((each) => each > 0))
  return html`<h2>Last ${String(HOURS)} hours</h2>
<p class="quiet">Based on the last ${MAX_READ.toLocaleString('en')} logged requests and the last ${MAX_READ.toLocaleString('en')} delivery attempts. Hours are in UTC.</p>
${
  busy.length > 0
    ? html`${charts}${writeTable('Totals by hour', columns, busy.toReversed(), linkIn(visit))}`
    : html`<p class="empty">No requests or webhook deliveries in the last 24 hours.</p>`
}`
}

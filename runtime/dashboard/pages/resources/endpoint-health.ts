/** How a webhook endpoint answers: successes and latency over time. */
import { type AttemptPeriod, readAttemptHealth } from '../../../events/delivery-attempts/queries.ts'
import { type Html, html } from '../../../platform/html.ts'
import { dayOf } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { drawChart } from '../../html/chart.ts'
import { figures, panel } from '../../html/records.ts'

const DAY_MS = 86_400_000
const SPAN_MS = { hour: 3_600_000, day: DAY_MS }

/** The pages read the attempts of the last 30 days, at most the newest `MAX_READ`. */
const DAYS = 30
const MAX_READ = 2000

/** Periods that a chart has at least. */
const MIN_PERIODS = { hour: 24, day: 14 }

export async function writeHealth(endpointId: string, visit: DashboardVisit): Promise<Html> {
  const { db, space } = await visit.place()
  const now = visit.operator.clock.service(visit.environment)
  const rows = await readAttemptHealth(db, space, endpointId, now - DAYS * DAY_MS, MAX_READ)
  const all = rows.at(-1)
  if (!all) return html``
  const { succeeded, failed, unit } = all
  const periods = fill(rows.slice(0, -1), unit, now)
  const labels = periods.map(({ start }) => nameOf(start, unit))
  const per = unit === 'hour' ? 'hour (UTC)' : 'day (UTC)'
  const answers = await drawChart({
    title: `Attempts by ${per}`,
    labels,
    bars: [
      { name: 'Succeeded', kind: 'good', values: periods.map((each) => each.succeeded) },
      { name: 'Failed', kind: 'bad', values: periods.map((each) => each.failed) },
    ],
  })
  const latency = await drawChart({
    title: `Latency (p95) by ${per}`,
    labels,
    bars: [{ name: 'p95', kind: 'plain', values: periods.map(({ p95 }) => p95 ?? 0) }],
    unit: ' ms',
  })
  const total = succeeded + failed
  return html`${figures([
    {
      name: 'Succeeded',
      value: `${percent(succeeded / total)} %`,
      more: `${write(succeeded)} of ${write(total)} attempts`,
    },
    { name: 'Latency (p50)', value: milliseconds(all.p50), more: 'Half of the attempts are faster' },
    { name: 'Latency (p95)', value: milliseconds(all.p95), more: '95 % of the attempts are faster' },
  ])}
${panel(
  'Health',
  html`<p class="quiet">${
    total < MAX_READ ? `Attempts of the last ${DAYS} days` : `The last ${write(MAX_READ)} attempts`
  }, including those that were sent again.</p>
<div class="beside">${answers}${latency}</div>`,
)}`
}

interface Period extends Pick<AttemptPeriod, 'succeeded' | 'failed' | 'p95'> {
  readonly start: number
}

/** Adds the periods without attempts, from the first period until now. */
function fill(rows: readonly AttemptPeriod[], unit: AttemptPeriod['unit'], now: number): readonly Period[] {
  const span = SPAN_MS[unit]
  const last = Math.floor(now / span) * span
  const first = Math.min(last - (MIN_PERIODS[unit] - 1) * span, ...rows.flatMap(({ start }) => start ?? []))
  const byStart = new Map(rows.map((row) => [row.start, row]))
  return Array.from({ length: Math.round((last - first) / span) + 1 }, (_, at) => {
    const start = first + at * span
    return { start, succeeded: 0, failed: 0, p95: null, ...pick(byStart.get(start)) }
  })
}

const pick = (row: AttemptPeriod | undefined) =>
  row && { succeeded: row.succeeded, failed: row.failed, p95: row.p95 }

const nameOf = (start: number, unit: AttemptPeriod['unit']): string =>
  unit === 'hour' ? new Date(start).toISOString().slice(11, 16) : dayOf(start)

const write = (count: number) => count.toLocaleString('en')

/** Rounds down, so that 100 % means that nothing failed. */
const percent = (part: number) => (Math.floor(part * 1000) / 10).toLocaleString('en')

const milliseconds = (ms: number | null) => (ms === null ? '–' : `${write(ms)} ms`)

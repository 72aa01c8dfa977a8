/** The page `/status`, which shows operators what the metrics and `doctor` know. */
import type { Finding } from '../../operator/doctor/finding.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { linkIn } from '../engine/links.ts'
import { writeTable } from '../engine/list-page.ts'
import type { ListColumn } from '../engine/shapes.ts'
import { exactly, words } from '../engine/values.ts'
import { facts, notice } from '../html/components.ts'
import { writePage } from '../html/layout.ts'
import { type Figure, figures, type Mood, panel } from '../html/records.ts'
import type { MetricReadings } from './metric-readings.ts'

export interface OperatorStatus {
  readonly findings: readonly Finding[]
  /** When `doctor` ran, in milliseconds since the epoch. */
  readonly examinedAt: number
  readonly readings: MetricReadings
  readonly roles: readonly string[]
}

const VERDICTS: Readonly<Record<Finding['verdict'], { readonly text: string; readonly mood: Mood }>> = {
  fail: { text: 'Fails', mood: 'bad' },
  warn: { text: 'Warning', mood: 'warn' },
  ok: { text: 'Works', mood: 'good' },
}

const badge = (mood: Mood, text: string): Html => html`<span class="state ${mood}">${text}</span>`

/** Writes the page. It needs no script. */
export function writeStatusPage(status: OperatorStatus): Html {
  const { findings, readings } = status
  return writePage({
    title: 'Status',
    content: html`${writeVerdict(findings)}
${figures(writeFigures(readings))}
${panel('Checks', writeFindings(status))}
${panel('Queues', writeQueues(readings))}
${panel('Work', writeWork(readings))}
${panel('Certificates', writeCertificates(readings))}
${panel('This process', writeProcess(status))}`,
  })
}

function writeVerdict(findings: readonly Finding[]): Html {
  const [failing, warning] = (['fail', 'warn'] as const).map(
    (verdict) => findings.filter((finding) => finding.verdict === verdict).length,
  ) as [number, number]
  if (failing > 0) return notice('bad', `Checks that fail: ${failing}. Checks with a warning: ${warning}.`)
  if (warning > 0) return notice('warn', `No check fails. Checks with a warning: ${warning}.`)
  return notice('good', 'Every check succeeds.')
}

const DASH = '–'

/** Formats a share, such as `99.95 %`; a dash if nothing was counted. */
function share(part: number, whole: number): string {
  return whole === 0 ? DASH : `${(Math.floor((part / whole) * 10_000) / 100).toFixed(2)} %`
}

/** Formats seconds, such as `0 s`, `12 min` or `3 d`. */
function duration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ] as const
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? (['s', 1] as const)
  return `${Math.round(seconds / length)} ${unit}`
}

const orDash = (value: number | undefined, write: (value: number) => string): string =>
  value === undefined ? DASH : write(value)

function writeFigures(readings: MetricReadings): readonly Figure[] {
  const requests = readings.sum('svc_requests_total')
  const failed = readings.sum(
    'svc_requests_total',
    ({ status }) => String(status).startsWith('5') && status !== 501 && status !== '501',
  )
  const [timed, quick] = [
    readings.sum('svc_request_duration_seconds_count'),
    readings.sum('svc_request_duration_seconds_bucket', ({ le }) => le === 0.5),
  ]
  const faults = readings.max('svc_verification_faults')
  return [
    { name: 'Requests without a 5xx', value: share(requests - failed, requests), more: sinceStart(requests) },
    { name: 'Requests within 500 ms', value: share(quick, timed), more: 'since this process started' },
    {
      name: 'Oldest due webhook',
      value: orDash(
        readings.max('svc_queue_age_seconds', ({ queue }) => queue === 'webhooks'),
        duration,
      ),
    },
    { name: 'Rows set aside', value: String(readings.sum('svc_set_aside_rows')) },
    { name: 'Payouts held up', value: String(readings.sum('svc_payouts_held_up')) },
    {
      name: 'Ledgers and audit logs with faults',
      value: orDash(faults === undefined ? undefined : readings.sum('svc_verification_faults'), String),
      more: writeVerified(readings),
    },
  ]
}

const sinceStart = (requests: number) => `of ${requests} since this process started`

function writeVerified(readings: MetricReadings): Html | string {
  const at = readings.max('svc_verification_timestamp_seconds')
  return at === undefined ? 'no process with the role worker has started' : html`verified ${writeTime(at)}`
}

const writeTime = (unixSeconds: number): Html => exactly(new Date(unixSeconds * 1000).toISOString())

/** Tables of this page link to nothing. */
const NO_LINKS = linkIn({ environment: 'sandbox', pageOf: () => undefined })

/** @param empty text instead of a table without rows. */
function table<Row>(
  label: string,
  columns: readonly ListColumn<Row>[],
  rows: readonly Row[],
  empty = '',
): Html {
  return rows.length === 0 ? html`<p>${empty}</p>` : writeTable(label, columns, rows, NO_LINKS)
}

const FINDING_COLUMNS: readonly ListColumn<Finding>[] = [
  { title: 'Check', show: ({ check }) => check },
  { title: 'Result', show: ({ verdict }) => badge(VERDICTS[verdict].mood, VERDICTS[verdict].text) },
  { title: 'Finding', show: (finding) => finding.words },
]

/** Shows the checks that need an operator; the others can be opened. */
function writeFindings({ findings, examinedAt }: OperatorStatus): Html {
  const of = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict)
  return html`<p class="quiet">As <code>npm run --silent doctor</code> reports for this process, ${writeTime(examinedAt / 1000)}.</p>
${table('Checks that fail or warn', FINDING_COLUMNS, [...of('fail'), ...of('warn')], 'No check fails or warns.')}
<details><summary>Checks that succeed: ${String(of('ok').length)}</summary>
${table('Checks that succeed', FINDING_COLUMNS, of('ok'))}</details>`
}

const QUEUES = {
  webhooks: 'Webhooks that are due',
  chain_signing: 'USDC payouts that are not signed',
  chain: 'USDC payouts that are not final',
  bank: 'Dollar payouts that the bank has not accepted',
} as const

function writeQueues(readings: MetricReadings): Html {
  const age = (queue: string, environment: string) =>
    orDash(
      readings.max(
        'svc_queue_age_seconds',
        (labels) => labels.queue === queue && labels.environment === environment,
      ),
      duration,
    )
  return html`<p class="quiet">Age of the oldest row in the whole deployment.</p>
${table<readonly [string, string]>(
  'Queues',
  [
    { title: 'Queue', show: ([, text]) => text },
    ...ENVIRONMENTS.map((environment) => ({
      title: words(environment),
      isAmount: true,
      show: ([queue]: readonly [string, string]) => age(queue, environment),
    })),
  ],
  Object.entries(QUEUES),
)}`
}

interface WorkRow {
  readonly environment: string
  readonly work: string
  readonly setAside: number
  readonly isFailing: boolean
}

function writeWork(readings: MetricReadings): Html {
  const rows = new Map<string, WorkRow>()
  const note = (labels: Readonly<Record<string, string | number>>, more: Partial<WorkRow>) => {
    const [environment, work] = [String(labels.environment), String(labels.work)]
    const key = `${environment} ${work}`
    const known = rows.get(key) ?? { environment, work, setAside: 0, isFailing: false }
    rows.set(key, { ...known, ...more })
  }
  for (const { labels, value } of readings.of('svc_set_aside_rows'))
    if (value > 0) note(labels, { setAside: value })
  for (const { labels, value } of readings.of('svc_work_failing'))
    if (value > 0) note(labels, { isFailing: true })
  return html`<p class="quiet">Work that fails in this process, and rows that are set aside in the whole deployment.</p>
${table<WorkRow>(
  'Work',
  [
    { title: 'Work', show: ({ work }) => work },
    { title: 'Environment', show: ({ environment }) => words(environment) },
    {
      title: 'Result',
      show: ({ isFailing }) => (isFailing ? badge('bad', 'Fails') : badge('warn', 'Rows set aside')),
    },
    { title: 'Rows set aside', isAmount: true, show: ({ setAside }) => String(setAside) },
  ],
  [...rows.values()],
  'No work fails.',
)}`
}

function writeCertificates(readings: MetricReadings): Html {
  const rows = readings.of('svc_certificate_expiry_timestamp_seconds')
  return table(
    'Certificates',
    [
      { title: 'Certificate', show: ({ labels }) => words(String(labels.certificate)) },
      { title: 'Expires', show: ({ value }) => writeTime(value) },
    ],
    rows,
    'This process uses no certificates of its own, and no card processor has one.',
  )
}

function writeProcess({ readings, roles }: OperatorStatus): Html {
  const started = readings.max('process_start_time_seconds')
  return facts([
    ['Started', started === undefined ? DASH : writeTime(started)],
    ['Roles', roles.join(', ')],
    ['In progress', String(readings.sum('svc_requests_under_way'))],
    ['Ready', readings.max('svc_ready') === 1 ? badge('good', 'Yes') : badge('bad', 'No')],
    ['Database', orDash(readings.max('svc_database_bytes'), (bytes) => `${(bytes / 1e6).toFixed(0)} MB`)],
    ['Free disk', orDash(readings.max('svc_disk_free_ratio'), (ratio) => `${(ratio * 100).toFixed(0)} %`)],
    ['Replica lag', orDash(readings.max('svc_replica_lag_seconds'), duration)],
    [
      'WAL archived',
      html`${orDash(readings.max('svc_archive_timestamp_seconds'), (at) => `${duration(Math.max(0, Date.now() / 1000 - at))} ago`)}`,
    ],
  ])
}

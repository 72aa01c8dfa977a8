/** What waits for a member of the team: each task links to the page where it is done. */
import { versions } from '../../../../generated/versions.ts'
import type { Database, Statement } from '../../../database/database.ts'
import { toTimestamp } from '../../../database/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { LinkTo } from '../../engine/shapes.ts'
import { icon } from '../../html/icons.ts'
import { panel } from '../../html/records.ts'

const DAY_MS = 86_400_000

/** Days for which a failed or returned payout is a task. */
const PAYOUT_DAYS = 30

/** Rows of a kind that are counted. */
const MOST = 100

const counted = (from: string, columns = '') => `SELECT ${columns} FROM ${from} LIMIT ${MOST}`

const READ: Statement = {
  name: 'home_tasks',
  text: `SELECT (SELECT count(*) FROM (${counted(`sanctions_alerts a WHERE a.tenant_id = $1 AND a.status = 'open'`)}) AS c) AS alerts,
                (SELECT count(*) FROM (${counted(`payouts p WHERE p.tenant_id = $1 AND p.status IN ('failed', 'returned') AND p.created >= $2`)}) AS c) AS payouts,
                (SELECT count(*) FROM webhook_endpoints w
                  WHERE w.tenant_id = $1 AND w.disabled_reason = 'retry_exhausted') AS endpoints,
                d.disputes, d.deadline
           FROM (SELECT count(*) AS disputes, min(c.submission_deadline) AS deadline FROM (
                   ${counted(`disputes d WHERE d.tenant_id = $1 AND d.status = 'unsubmitted'`, 'd.submission_deadline')}) AS c) AS d`,
}

/** Numbers of records that wait; at most `MOST` of each kind. */
interface OpenTasks {
  readonly alerts: number
  readonly disputes: number
  /** The earliest date by which a dispute must be submitted; null without disputes. */
  readonly deadline: number | null
  readonly payouts: number
  /** Webhook endpoints that were disabled because deliveries failed. */
  readonly endpoints: number
}

/** @param now service time. */
export async function readTasks(db: Database, space: string, now: number): Promise<OpenTasks> {
  const since = toTimestamp(now - PAYOUT_DAYS * DAY_MS)
  return (await db.query<OpenTasks>(READ, [space, since])).rows[0]!
}

interface Task {
  readonly mood: 'bad' | 'warn'
  readonly path: string
  readonly text: string
  readonly more?: string
}

/** Writes the panel of open tasks; nothing if there are none. @param pin the pinned version. @param now service time. */
export function writeTasks(open: OpenTasks, pin: string | null, now: number, link: LinkTo): Html | undefined {
  const tasks = [...tasksOf(open), ...versionTask(pin, now)]
  if (tasks.length === 0) return undefined
  return panel(
    'To do',
    html`<ul class="tasks">${tasks.map(
      ({ mood, path, text, more }) =>
        html`<li class="${mood}">${icon('triangle-alert')}<span>${link(path, text)}${more !== undefined && html` <span class="quiet">${more}</span>`}</span></li>`,
    )}</ul>`,
  )
}

const many = (count: number, one: string, several: string) =>
  `${count === MOST ? `${MOST} or more` : String(count)} ${count === 1 ? one : several}`

function tasksOf({ alerts, disputes, deadline, payouts, endpoints }: OpenTasks): readonly Task[] {
  const due =
    deadline === null || disputes === MOST
      ? undefined
      : `The first is due on ${new Date(deadline).toISOString().slice(0, 10)}.`
  return [
    {
      count: alerts,
      mood: 'bad' as const,
      path: 'sanctions-alerts?status=open',
      text: `Resolve ${many(alerts, 'sanctions alert', 'sanctions alerts')}`,
      more: 'The cardholders cannot use their cards.',
    },
    {
      count: disputes,
      mood: 'warn' as const,
      path: 'disputes?status=unsubmitted',
      text: `Submit ${many(disputes, 'dispute', 'disputes')}`,
      ...(due && { more: due }),
    },
    {
      count: payouts,
      mood: 'bad' as const,
      path: 'payouts?status=failed',
      text: `Check ${many(payouts, 'payout that failed or was returned', 'payouts that failed or were returned')}`,
      more: `In the last ${PAYOUT_DAYS} days.`,
    },
    {
      count: endpoints,
      mood: 'bad' as const,
      path: 'webhook-endpoints?status=disabled',
      text: `Enable ${many(endpoints, 'webhook endpoint', 'webhook endpoints')} again`,
      more: 'Disabled because deliveries failed.',
    },
  ].filter(({ count }) => count > 0)
}

function versionTask(pin: string | null, now: number): readonly Task[] {
  const version = versions.find(({ name }) => name === pin)
  if (version?.sunset === undefined) return []
  const days = Math.ceil((Date.parse(version.sunset) - now) / DAY_MS)
  return [
    {
      mood: days > 30 ? 'warn' : 'bad',
      path: 'version',
      text: `Upgrade API version ${version.name}`,
      more:
        days > 0
          ? `It is deprecated: ${many(days, 'day is', 'days are')} left.`
          : 'It is no longer supported.',
    },
  ]
}

/** How webhooks and the API work: figures of the last 24 hours, and the oldest event that waits for its delivery. */
import { countRequestsByHour } from '../../../api/request-log-queries.ts'
import type { Database, Statement } from '../../../database/database.ts'
import { countAttemptsByHour } from '../../../events/delivery-attempts/queries.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { LinkTo } from '../../engine/shapes.ts'
import { when } from '../../engine/values.ts'
import type { Figure } from '../../html/records.ts'

const DAY_MS = 86_400_000

/** Maximum number of requests, and of attempts, that the page reads. */
const MAX_READ = 2000

// Identifiers sort by time, so the first attempts of each table are the oldest.
const WAITING: Statement = {
  name: 'home_webhooks',
  text: `SELECT (SELECT min(e.created) FROM (
                   (SELECT w.event_id FROM webhook_waiting w WHERE w.tenant_id = $1 ORDER BY w.attempt_id LIMIT 1)
                    UNION ALL
                   (SELECT r.event_id FROM webhook_ready r WHERE r.tenant_id = $1 ORDER BY r.attempt_id LIMIT 1)
                 ) AS first
                 CROSS JOIN LATERAL (SELECT e.created FROM events e WHERE e.tenant_id = $1 AND e.id = first.event_id OFFSET 0) AS e
                ) AS oldest,
                count(*) FILTER (WHERE w.status = 'enabled') AS enabled, count(*) FILTER (WHERE w.status = 'disabled') AS disabled
           FROM webhook_endpoints w WHERE w.tenant_id = $1`,
}

interface WaitingWebhooks {
  /** Service time of the oldest event with an unfinished delivery; null if all deliveries are finished. */
  readonly oldest: number | null
  readonly enabled: number
  readonly disabled: number
}

export interface Health {
  readonly webhooks: WaitingWebhooks & { readonly succeeded: number; readonly failed: number }
  readonly requests: { readonly all: number; readonly refused: number; readonly failed: number }
}

/** @param now service time. */
export async function readHealth(db: Database, space: string, now: number): Promise<Health> {
  const since = now - DAY_MS
  const [{ rows }, attempts, requests] = await Promise.all([
    db.query<WaitingWebhooks>(WAITING, [space]),
    countAttemptsByHour(db, space, since, MAX_READ),
    countRequestsByHour(db, space, since, MAX_READ),
  ])
  const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0)
  return {
    webhooks: {
      ...rows[0]!,
      succeeded: sum(attempts.map(({ succeeded }) => succeeded)),
      failed: sum(attempts.map(({ failed }) => failed)),
    },
    requests: {
      all: sum(requests.map((each) => each.requests)),
      refused: sum(requests.map(({ refused }) => refused)),
      failed: sum(requests.map(({ failed }) => failed)),
    },
  }
}

/** Formats a part of a whole as a percentage. Rounding never hides the first failure. */
export function percent(part: number, whole: number): string {
  const exact = (part / whole) * 100
  const shown =
    exact > 99 && exact < 100
      ? Math.floor(exact * 10) / 10
      : exact > 0 && exact < 1
        ? Math.ceil(exact * 10) / 10
        : Math.round(exact)
  return `${shown}%`
}

/** @param mayWatch whether the member may see the request log. */
export function writeHealth(
  { webhooks, requests }: Health,
  link: LinkTo,
  mayWatch: boolean,
): readonly Figure[] {
  const { succeeded, failed, oldest, enabled, disabled } = webhooks
  const attempts = succeeded + failed
  const waiting = oldest === null ? undefined : html`oldest pending: ${when(new Date(oldest).toISOString())}`
  const endpoints =
    disabled > 0 &&
    link('webhook-endpoints?status=disabled', `${disabled} endpoint${disabled === 1 ? '' : 's'} disabled`)
  const errors = requests.refused + requests.failed
  const logged = (status: string, text: string): Html | string =>
    mayWatch ? link(`requests?status=${status}`, text) : text
  return [
    {
      name: 'Webhook deliveries, 24 hours',
      value: attempts === 0 ? '–' : link('webhook-endpoints', percent(succeeded, attempts)),
      more: joined([
        attempts === 0
          ? enabled + disabled === 0
            ? 'no endpoints'
            : 'no attempts'
          : `${failed.toLocaleString('en')} of ${attempts.toLocaleString('en')} failed`,
        waiting,
        endpoints,
      ]),
    },
    {
      name: 'API errors, 24 hours',
      value:
        requests.all === 0 ? '–' : logged(requests.failed > 0 ? '5xx' : '4xx', percent(errors, requests.all)),
      more:
        requests.all === 0
          ? 'no requests'
          : joined([
              html`${logged('4xx', `${requests.refused.toLocaleString('en')} × 4xx`)}`,
              html`${logged('5xx', `${requests.failed.toLocaleString('en')} × 5xx`)}`,
              `of ${requests.all === MAX_READ ? 'the last ' : ''}${requests.all.toLocaleString('en')}`,
            ]),
    },
  ]
}

/** Joins texts with commas, without absent ones. */
export function joined(texts: readonly (Html | string | undefined | false)[]): Html | undefined {
  const given = texts.filter((text) => text !== undefined && text !== false)
  if (given.length === 0) return undefined
  return html`${given.map((text, at) => html`${at > 0 && ', '}${text}`)}`
}

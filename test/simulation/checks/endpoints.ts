/** What a merchant read of its webhook endpoints, compared with what is stored. */
import type { Merchant } from '../merchant.ts'
import type { HooksRead, Item } from '../reads.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'
import type { AttemptRow, EndpointRow } from './webhooks.ts'

interface StoredEndpoint extends EndpointRow {
  readonly description: string | null
  readonly metadata: object
  readonly updated: number
}

const at = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

type Environment = keyof HooksRead

function shownOf(row: StoredEndpoint, { tenantId }: Merchant, environment: Environment): object {
  const { id, url, description, enabled_events, status, disabled_reason, signature, delivery } = row
  return {
    ...{ id, object: 'webhook_endpoint', url, description, enabled_events, status, disabled_reason },
    ...{ signature, delivery, filters: row.filters ?? [], retry_schedule: row.retry_schedule },
    ...{ metadata: row.metadata, created: at(row.created), updated: at(row.updated) },
    fifo_key: delivery === 'fifo' ? row.fifo_key : undefined,
    jwks_url:
      signature === 'standard_webhooks'
        ? `http://${environment}.invalid/webhooks/${tenantId}/${id}/jwks.json`
        : undefined,
  }
}

function attemptOf(row: AttemptRow): object {
  const { id, event_id, attempt, status, trigger, response_status, response_body, error, duration_ms } = row
  return {
    ...{ id, object: 'webhook_delivery_attempt', webhook_endpoint_id: row.endpoint_id, event_id, attempt },
    ...{ status, trigger, response_status, response_body, error, duration_ms },
    ...{ scheduled_at: at(row.scheduled_at), attempted_at: at(row.attempted_at) },
    ...{ next_attempt_at: at(row.next_attempt_at), created: at(row.created), updated: at(row.updated) },
  }
}

/** Newest first, as lists are. */
const newestFirst = (one: { created: number; id: string }, other: { created: number; id: string }) =>
  other.created - one.created || (one.id < other.id ? 1 : -1)

/** How a delivery ended with an attempt. */
function outcomeOf(row: AttemptRow, all: readonly AttemptRow[]): string | undefined {
  if (row.status === 'succeeded') return 'delivered'
  if (row.status === 'pending' || row.next_attempt_at !== null) return undefined
  const others = all.filter(({ event_id }) => event_id === row.event_id)
  const isLast = others.every(({ attempt, status }) => attempt <= row.attempt && status !== 'succeeded')
  return isLast ? 'given_up' : undefined
}

/** Whether a row is in a list with this filter, for example `status=failed`. */
function isListed(row: AttemptRow, filter: string, all: readonly AttemptRow[]): boolean {
  return [...new URLSearchParams(filter)].every(([name, value]) => {
    if (name === 'order') return true
    if (name === 'created[lte]') return row.created <= Date.parse(value)
    return (name === 'outcome' ? outcomeOf(row, all) : row[name as 'status' | 'event_id']) === value
  })
}

/** Each endpoint, attempt, recovery and event was shown as it is stored, in each list that has it, and in no other. */
export async function hooksAreShown(evidence: Evidence, merchant: Merchant): Promise<void> {
  for (const environment of ['sandbox', 'live'] as const) {
    const read = merchant.hooksRead?.[environment] ?? fail(`${merchant.name} has not read its endpoints`)
    const what = (name: string) => `${name} of ${merchant.name} in ${environment}`
    // What changed since reading began may have been shown before or after that.
    const isOld = ({ updated = 0, created }: { readonly updated?: number; readonly created: number }) =>
      Math.max(created, updated) < read.at
    const wasOld = ({ updated, created }: Item) =>
      Math.max(Date.parse(String(updated ?? created)), Date.parse(String(created))) < read.at
    const rows = await rowsOf<StoredEndpoint>(evidence, environment, merchant, 'webhook_endpoints')
    const wanted = rows.filter(isOld).toSorted(newestFirst)
    for (const [filter, list] of Object.entries(read.lists)) {
      const status = /status=(\w+)/.exec(filter)?.[1]
      const own = wanted.filter((row) => status === undefined || row.status === status)
      const ordered = filter === 'order=asc' ? own.toReversed() : own
      mustEqual(
        list.filter(wasOld),
        ordered.map((row) => shownOf(row, merchant, environment)),
        what(`the list ${filter} of endpoints`),
      )
    }
    const attempts = await rowsOf<AttemptRow>(evidence, environment, merchant, 'webhook_attempts')
    const recoveries = await rowsOf<RecoveryRow>(evidence, environment, merchant, 'webhook_recoveries')
    for (const { shown, ...parts } of read.endpoints) {
      const { blocked: _, blocked_keys: __, ...others } = shown
      const row = rows.find(({ id }) => id === shown.id)!
      if (!isOld(row)) continue
      mustEqual(others, shownOf(row, merchant, environment), what('an endpoint'))
      const all = attempts.filter(({ endpoint_id }) => endpoint_id === row.id)
      const moved = new Set(all.filter((each) => !isOld(each)).map(({ event_id }) => event_id))
      const own = all.filter(({ event_id }) => !moved.has(event_id)).toSorted(newestFirst)
      for (const [filter, list] of Object.entries(parts.attempts)) {
        const some = own.filter((each) => isListed(each, filter, own))
        const ordered = filter.includes('order=asc') ? some.toReversed() : some
        const found = list.filter(({ event_id }) => !moved.has(String(event_id)))
        mustEqual(found, ordered.map(attemptOf), what(`the list ${filter} of attempts at ${row.url}`))
      }
      const one = own.find(({ id }) => id === parts.attempt?.id)
      if (one) mustEqual(parts.attempt, attemptOf(one), what('an attempt'))
      areRecoveriesShown(
        parts,
        recoveries.filter((each) => each.endpoint_id === row.id && isOld(each)),
        wasOld,
        what('recoveries'),
      )
    }
    const events = await rowsOf<EventRow>(evidence, environment, merchant, 'events')
    const stored = events.filter(isOld).toSorted(newestFirst)
    for (const [filter, list] of Object.entries(read.events)) {
      const type = /type=([\w.]+)/.exec(filter)?.[1]
      const own = stored.filter((each) => type === undefined || each.type === type)
      const ordered = filter.includes('order=asc') ? own.toReversed() : own
      mustEqual(
        list.filter(wasOld),
        ordered.map(({ body }) => JSON.parse(body)),
        what(`the list ${filter} of events`),
      )
    }
    mustEqual(read.event, stored.length === 0 ? undefined : JSON.parse(stored.at(-1)!.body), what('an event'))
  }
}

interface EventRow {
  readonly id: string
  readonly type: string
  readonly body: string
  readonly created: number
}

export interface RecoveryRow {
  readonly id: string
  readonly endpoint_id: string
  readonly since: number
  readonly until: number
  readonly types: readonly string[] | null
  readonly scope: 'failed' | 'all'
  readonly rate: number
  readonly status: string
  readonly total: number
  readonly sent: number
  readonly failed: number
  readonly before: number
  readonly last: number
  readonly reached: number
  readonly queued: readonly string[]
  readonly created: number
  readonly updated: number
}

export function recoveryOf(row: RecoveryRow): object {
  const { id, types, scope, rate, status, total, sent, failed } = row
  return {
    ...{ id, object: 'webhook_recovery', webhook_endpoint_id: row.endpoint_id, types, scope, rate, status },
    ...{ total, sent, failed, since: at(row.since), until: at(row.until) },
    ...{ created: at(row.created), updated: at(row.updated) },
  }
}

function areRecoveriesShown(
  read: {
    readonly recoveries: Readonly<Record<string, readonly Item[]>>
    readonly recovery: Item | undefined
  },
  rows: readonly RecoveryRow[],
  wasOld: (shown: Item) => boolean,
  what: string,
): void {
  const own = rows.toSorted(newestFirst)
  for (const [filter, list] of Object.entries(read.recoveries)) {
    const status = /status=(\w+)/.exec(filter)?.[1]
    const some = own.filter((row) => status === undefined || row.status === status)
    mustEqual(list.filter(wasOld), some.map(recoveryOf), `the list ${filter} of ${what}`)
  }
  const one = own.find(({ id }) => id === read.recovery?.id)
  if (one) mustEqual(read.recovery, recoveryOf(one), what)
}

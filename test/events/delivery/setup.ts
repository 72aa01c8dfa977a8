import { type Logger, pino } from 'pino'
import { createWorker, type Worker, type WorkerOptions } from '../../../runtime/events/delivery/worker.ts'
import { type AttemptRow, retryAttempt } from '../../../runtime/events/delivery-attempts/queries.ts'
import { collectEvents } from '../../../runtime/events/emit/emit.ts'
import { createOutbound, type Outbound } from '../../../runtime/events/outbound/outbound.ts'
import {
  type EndpointRow,
  insertEndpoint,
  lockEndpoint,
  updateEndpoint,
} from '../../../runtime/events/webhook-endpoints/queries.ts'
import { createEndpointSecrets } from '../../../runtime/events/webhook-endpoints/secrets.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { type Networks, parseNetworks } from '../../../runtime/platform/networks.ts'
import { createSeals, type Seals } from '../../../runtime/platform/secrets.ts'
import type { Clock } from '../../../runtime/tenants/clock/clock.ts'
import type { LeaseClock } from '../../../runtime/work/lease-clock.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { planAll } from '../../support/planning.ts'
import { until } from '../../support/programs.ts'

export const VERSION = '2026-05-19'
export const START = Date.parse('2026-06-01T12:00:00.000Z')
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

/** Service time stands still until it is moved; machine time runs, and can be moved on too. */
export interface StageClock extends Clock {
  now: number
  /** Added to machine time. */
  shift: number
  /** Where machine time stands still. */
  frozen: number | undefined
}

export interface Endpoint {
  readonly tenantId: string
  readonly id: string
  readonly secret: string
}

export interface Emission {
  readonly version?: string
  /** As if the attempts before it had failed. */
  readonly attempt?: number
}

/** Everything that deliveries need but an API: tenants, endpoints and events are put into the database directly. */
export interface Stage {
  readonly database: TestDatabase
  readonly clock: StageClock
  readonly seals: Seals
  readonly leaseClock: LeaseClock
  readonly log: Logger
  work(options?: Partial<WorkerOptions>): Worker
  readonly workers: readonly Worker[]
  /** Stops all workers. */
  dismiss(): Promise<void>
  /** The way out that a worker gets unless told otherwise; loopback is allowed. */
  readonly outbound: Outbound
  readonly allow: Networks
  addEndpoint(
    tenantId: string,
    url: string,
    types?: readonly string[],
    choices?: Partial<
      Pick<EndpointRow, 'signature' | 'delivery' | 'fifo_key' | 'retry_schedule' | 'filters'>
    >,
  ): Promise<Endpoint>
  changeEndpoint(endpoint: Endpoint, change: 'enable' | 'disable'): Promise<void>
  /** Gives it a new secret; both sign from now on. */
  rotate(endpoint: Endpoint): Promise<string>
  /** Events of one transaction, at the service time; gives their ids. */
  emit(tenantId: string, count?: number, how?: Emission): Promise<string[]>
  /** Plans what was emitted, without making any attempt. */
  plan(): Promise<void>
  retry(tenantId: string, attemptId: string): Promise<void>
  attempts(endpoint: Endpoint): Promise<AttemptRow[]>
  endpoint(endpoint: Endpoint): Promise<{ status: string; disabled_reason: string | null; timeouts: number }>
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  count(table: string, tenantId: string): Promise<number>
  /** Waits until nothing is due or under way. */
  drained(tenantId?: string): Promise<void>
  close(): Promise<void>
}

/** Nobody plans first attempts for these events any more. */
const PLANNED_BEFORE = 'UPDATE events SET audience = NULL WHERE tenant_id = $1 AND id = ANY ($2)'

const LATER_ATTEMPTS = `WITH made AS (
    INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                  updated)
    SELECT e.tenant_id, 'wdla_' || substr(e.id, 5, 14) || substr(md5(e.id || w.id), 1, 12), w.id, e.id, $3::smallint,
           'pending', 'schedule', e.created, e.created, e.created
      FROM events e JOIN webhook_endpoints w ON w.tenant_id = e.tenant_id AND w.enabled_events && ARRAY[e.type, '*']
     WHERE e.tenant_id = $1 AND e.id = ANY ($2)
    RETURNING *
  )
  INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at)
  SELECT tenant_id, id, endpoint_id, event_id, attempt, 'schedule', scheduled_at FROM made`

/** @param citus as if tables were distributed by tenant, where they are not anyway. */
export async function openStage(poolSize = 6, citus = false): Promise<Stage> {
  const database = await openTestDatabase({ poolSize, citus })
  const clock: StageClock = {
    now: START,
    shift: 0,
    frozen: undefined,
    machine: () => (clock.frozen ?? Date.now()) + clock.shift,
    service: () => clock.now,
  }
  const leaseClock = { now: clock.machine, refresh: async () => {} }
  const seals = createSeals(database.pepper)
  const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' })
  const allow = parseNetworks(['127.0.0.0/8'])
  const outbound = createOutbound({ allowPlainHttp: true, allow })
  const workers: Worker[] = []
  const dismiss = async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()))
  }
  const pool = database.sandbox
  const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await pool.query<Row>({ text }, values)).rows
  const count = async (table: string, tenantId: string) => {
    const found = await rows<{ n: number }>(
      `SELECT count(*)::integer AS n FROM ${table} WHERE tenant_id = $1`,
      [tenantId],
    )
    return found[0]!.n
  }
  return {
    database,
    clock,
    leaseClock,
    log,
    seals,
    outbound,
    allow,
    workers,
    dismiss,
    rows,
    count,
    work: (options = {}) => {
      const worker = createWorker({
        environment: 'sandbox',
        pool,
        control: database.control,
        clock,
        outbound,
        seals,
        log,
        readPin: async () => VERSION,
        pollMs: 50,
        drainMs: 0,
        leaseClock,
        ...options,
      })
      workers.push(worker)
      return worker
    },
    addEndpoint: async (tenantId, url, types = ['*'], choices = {}) => {
      const id = newId('whe', clock.now)
      const { secret, sealed } = createEndpointSecrets(seals, 'sandbox').make(tenantId, id, choices.signature)
      const row = {
        id,
        url,
        description: null,
        enabled_events: types,
        status: 'enabled',
        disabled_reason: null,
        secret: sealed,
        retired_secrets: [],
        signature: 'service',
        delivery: 'unordered',
        fifo_key: 'endpoint',
        retry_schedule: 'standard',
        filters: null,
        metadata: {},
        generation: 0,
        timeouts: 0,
        created: clock.now,
        updated: clock.now,
        ...choices,
      } as const
      await pool.transaction((tx) => insertEndpoint(tx, tenantId, row))
      return { tenantId, id, secret }
    },
    changeEndpoint: ({ tenantId, id }, change) =>
      pool.transaction(async (tx) => {
        const row = (await lockEndpoint(tx, tenantId, id))!
        const isOn = change === 'enable'
        await updateEndpoint(tx, tenantId, {
          ...row,
          status: isOn ? 'enabled' : 'disabled',
          disabled_reason: isOn ? null : 'manual',
          generation: row.generation + (isOn ? 1 : 0),
        })
      }),
    rotate: async ({ tenantId, id }) => {
      const { secret, sealed } = createEndpointSecrets(seals, 'sandbox').make(
        tenantId,
        id,
        'standard_webhooks',
      )
      await pool.transaction(async (tx) => {
        const row = (await lockEndpoint(tx, tenantId, id))!
        const retired = { sealed: row.secret.toString('base64'), until: clock.now + 24 * HOUR }
        await updateEndpoint(tx, tenantId, { ...row, secret: sealed, retired_secrets: [retired] })
      })
      return secret
    },
    emit: async (tenantId, number = 1, { version = VERSION, attempt = 1 } = {}) =>
      pool.transaction(async (tx) => {
        const events = collectEvents({ tenantId, pin: version, now: clock.now })
        const ids = Array.from(
          { length: number },
          (_, index) => events.emit({ type: 'pass.revoked', data: { pass: { id: `pass_${index}` } } })!.id,
        )
        await events.write(tx)
        if (attempt > 1) {
          await tx.query({ text: PLANNED_BEFORE }, [tenantId, ids])
          await tx.query({ text: LATER_ATTEMPTS }, [tenantId, ids, attempt])
        }
        return ids
      }),
    plan: () => planAll(pool),
    retry: async (tenantId, attemptId) => {
      await pool.transaction((tx) => retryAttempt(tx, tenantId, attemptId, clock.now))
    },
    attempts: ({ tenantId, id }) =>
      rows<AttemptRow>(
        `SELECT * FROM webhook_attempts WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY event_id, attempt, id`,
        [tenantId, id],
      ),
    endpoint: async ({ tenantId, id }) =>
      (
        await rows<{ status: string; disabled_reason: string | null; timeouts: number }>(
          'SELECT status, disabled_reason, timeouts FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2',
          [tenantId, id],
        )
      )[0]!,
    drained: async (tenantId) => {
      await until('the queue to be empty', async () => {
        const left = await rows<{ n: number }>(
          `SELECT (SELECT count(*) FROM webhook_ready WHERE $1::text IS NULL OR tenant_id = $1)::integer
                  + (SELECT count(*) FROM webhook_senders s JOIN event_heads h USING (tenant_id)
                      WHERE h.sequence > s.planned AND ($1::text IS NULL OR tenant_id = $1))::integer AS n`,
          [tenantId ?? null],
        )
        return left[0]!.n === 0
      })
    },
    close: async () => {
      await dismiss()
      outbound.close()
      await database.close()
    },
  }
}

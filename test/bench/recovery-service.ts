/** Our side of `bench:recovery`: the workers of deliveries and of recoveries, as the service runs them. */
import { pino } from 'pino'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { openDelivery } from '../../runtime/events/delivery/open-delivery.ts'
import { connectWakeUpChannel, createWakeUps } from '../../runtime/events/emit/wake-ups.ts'
import { createOutbound } from '../../runtime/events/outbound/outbound.ts'
import { type EndpointRow, insertEndpoint } from '../../runtime/events/webhook-endpoints/queries.ts'
import { createEndpointSecrets } from '../../runtime/events/webhook-endpoints/secrets.ts'
import { recoveryWorker } from '../../runtime/events/webhook-recoveries/job.ts'
import {
  beginRecovery,
  type RecoveryRow,
  readRecovery,
} from '../../runtime/events/webhook-recoveries/queries.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { parseNetworks } from '../../runtime/platform/networks.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { emitEvents } from './webhooks-events.ts'
import { obey } from './webhooks-processes.ts'

const database = await openDatabase({
  databaseUrl: process.env.DATABASE_URL ?? '',
  pepper: process.env.SVC_PEPPER ?? '',
  dataDir: '.',
  poolSize: 10,
  preparedStatements: true,
})
const pool = database.sandbox
const seals = createSeals(database.pepper)
const clock = createClock()
const log = pino({ level: 'warn' }, pino.destination(2))
const wakeUps = createWakeUps()
const wakeUpChannel = connectWakeUpChannel(database.control, wakeUps)
const parts = { database, clock, log, wakeUps, wakeUpChannel }
const outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']) })
const recoveries = recoveryWorker(parts)
const delivery = openDelivery({
  ...parts,
  outbound: { sandbox: outbound, live: outbound },
  recoveryDue: recoveries.ended,
})
recoveries.start()

const [tenantId = ''] = process.argv.slice(2)

const methods = {
  memory: (): number => process.memoryUsage().rss,
  pid: (): number => process.pid,
  addEndpoint: async (
    url: string,
    choices: Pick<EndpointRow, 'delivery' | 'fifo_key'>,
  ): Promise<{ id: string; secret: string }> => {
    const now = Date.now()
    const id = newId('whe', now)
    const { secret, sealed } = createEndpointSecrets(seals, 'sandbox').make(tenantId, id)
    const row: EndpointRow = {
      id,
      url,
      description: null,
      enabled_events: ['pass.revoked'],
      status: 'enabled',
      disabled_reason: null,
      secret: sealed,
      retired_secrets: [],
      signature: 'service',
      retry_schedule: 'standard',
      filters: null,
      metadata: {},
      generation: 0,
      timeouts: 0,
      created: now,
      updated: now,
      ...choices,
    }
    await pool.transaction((tx) => insertEndpoint(tx, tenantId, row))
    return { id, secret }
  },
  /** Starts a recovery of what failed. */
  recover: async (endpointId: string, rate: number): Promise<string> => {
    const now = Date.now()
    const asked = {
      endpoint_id: endpointId,
      since: 0,
      until: now,
      types: null,
      scope: 'failed',
      rate,
    } as const
    const row = await beginRecovery(pool, tenantId, asked, now)
    recoveries.wake('sandbox')
    return row.id
  },
  progress: async (endpointId: string, id: string): Promise<RecoveryRow | undefined> =>
    readRecovery(pool, tenantId, endpointId, id),
  emit: async (count: number): Promise<void> => {
    await pool.transaction((tx) => emitEvents(tx, tenantId, count))
    wakeUpChannel.publish('sandbox', tenantId)
  },
}
export type RecoveryService = typeof methods

obey(methods, async () => {
  await Promise.all([recoveries.stop(), delivery.stop()])
  outbound.close()
  await database.close()
})

/**
 * Our side of the bench of deliveries: a worker as the service runs it, and whoever emits events in the same process.
 *
 *   node webhooks-service.ts <origin of the sink> <concurrency> <tenants>
 */
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { createWorker, type Worker } from '../../runtime/events/delivery/worker.ts'
import { createOutbound } from '../../runtime/events/outbound/outbound.ts'
import { parseNetworks } from '../../runtime/platform/networks.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { emitEvents, VERSION } from './webhooks-events.ts'
import { monotonicNow, obey } from './webhooks-processes.ts'
import { addCrowd, addTenant } from './webhooks-tenants.ts'

const [origin = '', limit = '', crowd = ''] = process.argv.slice(2)
const database = await openDatabase({
  databaseUrl: process.env.DATABASE_URL ?? '',
  pepper: process.env.SVC_PEPPER ?? '',
  dataDir: '.',
  poolSize: 10,
  preparedStatements: true,
})
const pool = database.sandbox
const seals = createSeals(database.pepper)
const outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']) })

const tenants: string[] = []
for (let made = 0; made < Number(crowd); made++) tenants.push(await addTenant(pool, seals, `${origin}/plain`))
const quiet = await addTenant(pool, seals, `${origin}/timed`)

let worker: Worker | undefined

async function emitOne(tenantId: string): Promise<[id: string, committedAt: number]> {
  const [id] = await pool.transaction((tx) => emitEvents(tx, tenantId, 1))
  const committedAt = monotonicNow()
  worker?.wake(tenantId)
  return [id!, committedAt]
}

/** Emits at random moments, so many a second on average, whether or not the ones before are through. */
async function emitAtRandom(some: readonly string[], perSecond: number, seconds: number) {
  const emissions: Promise<[string, number]>[] = []
  const end = performance.now() + seconds * 1000
  for (let next = performance.now(); next < end; ) {
    await wait(Math.max(0, next - performance.now()))
    emissions.push(emitOne(some[Math.floor(Math.random() * some.length)]!))
    next += (-Math.log(1 - Math.random()) / perSecond) * 1000
  }
  return new Map(await Promise.all(emissions))
}

/** Of the queue's tables and indexes, in the order of their names. */
export interface Size {
  readonly name: string
  readonly bytes: number
  readonly live: number
  readonly dead: number
}

const SIZES = `SELECT c.relname AS name, pg_relation_size(c.oid) AS bytes, coalesce(s.n_live_tup, 0) AS live,
    coalesce(s.n_dead_tup, 0) AS dead
  FROM pg_class c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
 WHERE c.relnamespace = 'sandbox'::regnamespace AND c.relname ~ '^webhook_(ready|senders)' ORDER BY c.relname`

const methods = {
  fill: async (count: number): Promise<void> => {
    for (const [index, tenantId] of tenants.entries()) {
      const share =
        Math.floor((count * (index + 1)) / tenants.length) - Math.floor((count * index) / tenants.length)
      if (share > 0) await pool.transaction((tx) => emitEvents(tx, tenantId, share))
    }
  },
  start: async (): Promise<void> => {
    worker = createWorker({
      environment: 'sandbox',
      pool,
      control: database.control,
      clock: createClock(),
      outbound,
      seals,
      log: pino({ level: 'warn' }, pino.destination(2)),
      readPin: async () => VERSION,
      concurrency: Number(limit),
      drainMs: 0,
    })
  },
  isDone: async (): Promise<boolean> => {
    const { rows } = await pool.query<{ some: boolean }>({
      text: `SELECT EXISTS (SELECT FROM webhook_ready) OR EXISTS (
               SELECT FROM webhook_senders s JOIN event_heads h USING (tenant_id) WHERE h.sequence > s.planned) AS some`,
    })
    return !rows[0]!.some
  },
  stop: async (): Promise<void> => {
    await worker?.stop()
    worker = undefined
  },
  /** Events of one tenant; gives when each was committed, by `monotonicNow`. */
  emitQuietly: (perSecond: number, seconds: number) => emitAtRandom([quiet], perSecond, seconds),
  emitWidely: async (perSecond: number, seconds: number): Promise<number> =>
    (await emitAtRandom(tenants, perSecond, seconds)).size,
  /** One tenant with so many attempts due, and one with so many endpoints that never answer, always with more to send. */
  addNeighbours: async (due: number, hanging: number): Promise<void> => {
    await addCrowd(pool, await addTenant(pool, seals, `${origin}/plain`, 10), due / 10)
    await addCrowd(pool, await addTenant(pool, seals, `${origin}/hanging`, hanging), 100)
    worker?.wake()
  },
  clearQueue: async (): Promise<void> => {
    await database.control.query({ text: 'TRUNCATE sandbox.webhook_ready, sandbox.webhook_waiting' })
  },
  sizes: async (): Promise<Size[]> => (await database.control.query<Size>({ text: SIZES })).rows,
}
export type Service = typeof methods

obey(methods, async () => {
  await methods.stop()
  outbound.close()
  await database.close()
})

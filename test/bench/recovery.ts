/**
 * `npm run bench:recovery`: an account with a million events that an ordered endpoint missed, recovered in order to a receiver on this
 * machine that verifies order and signatures; then new events, in order for the endpoint and for each object. `-- --events 1000` makes
 * fewer, `--recovered 1000` recovers only the newest ones, and `--rate 25` sets the events per second (at most 1000). V8 has the options
 * of `npm start`, which the processes inherit.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { current } from '../../generated/versions.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { processorSeconds, SESSION, serverSeconds } from './processor.ts'
import type { RecoveryService } from './recovery-service.ts'
import type { Sink } from './recovery-sink.ts'
import { withScratch } from './scratch.ts'
import { startHelper } from './webhooks-processes.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    recovered: { type: 'string', default: '' },
    rate: { type: 'string', default: '1000' },
    live: { type: 'string', default: '2000' },
  },
})
const events = Number(values.events)
const recovered = Math.min(events, Number(values.recovered || events))
const [rate, live] = [Number(values.rate), Number(values.live)]

/** Different passes that the events are about. */
const OBJECTS = 1000

/** Events written by one statement. */
const BATCH = 50_000

// $1 tenant, $2 and $3 the first and last number, $4 endpoint, $5 number of the first event that failed. The ids sort by number.
const FILL = `WITH made AS (
    SELECT 'evt_' || lpad(n::text, 26, '0') AS id, n, 'pass_' || lpad((n % ${OBJECTS})::text, 26, '0') AS pass,
           now() - interval '1 day' + n * interval '10 ms' AS created
      FROM generate_series($2::bigint, $3::bigint) AS n
  ), failed AS (
    INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, response_status, scheduled_at,
                                  attempted_at, created, updated)
    SELECT $1, 'wdla_' || substr(id, 5, 14) || substr(md5(id || $4), 1, 12), $4, id, 1, 
           CASE WHEN n >= $5 THEN 'failed' ELSE 'succeeded' END, 'schedule', 503, created, created, created, created
      FROM made
  )
  INSERT INTO events (tenant_id, id, sequence, type, version, body, created, audience)
  SELECT $1, id, n, 'pass.revoked', '2026-05-19',
         json_build_object('id', id, 'object', 'event', 'type', 'pass.revoked', 'version', '2026-05-19', 'created', created,
           'data', json_build_object('pass', json_build_object('id', pass, 'object', 'pass', 'status', 'revoked', 'metadata',
             json_build_object('note', repeat('x', 200)))))::text, created, 'subscribed'
    FROM made`

const MEBIBYTE = 1024 ** 2

await withScratch(async (scratch) => {
  const databaseUrl = await startDatabase(scratch)
  const database = await openDatabase({
    databaseUrl,
    pepper: BENCH_PEPPER,
    dataDir: scratch.directory,
    poolSize: 2,
    preparedStatements: true,
  })
  scratch.atEnd(() => database.close())
  const { control, sandbox } = database
  const session = (await control.query<{ pid: number }>({ text: SESSION })).rows[0]!.pid
  const env = { DATABASE_URL: databaseUrl, SVC_PEPPER: BENCH_PEPPER }
  const operator = { control, clock: createClock(), pepper: BENCH_PEPPER }
  const { id: tenantId } = await createTenant(operator, { name: 'Bench', plan: 'enterprise' }, current)
  const lift = { environment: 'sandbox', bucket: 'webhooks_outbound', factor: 100, hours: 24 } as const
  await liftLimit(operator, { tenantId, ...lift })
  const [sink, service] = [
    startHelper<Sink>('recovery-sink.ts'),
    startHelper<RecoveryService>('recovery-service.ts', [tenantId], env),
  ]
  scratch.atEnd(() => Promise.all([sink.end(), service.end()]))
  const [origin, pid] = [await sink.ask('origin'), await service.ask('pid')]

  /** Does work, and prints what it cost. @param delivered events that arrive meanwhile. */
  const measure = async (
    title: string,
    delivered: number,
    work: (half: () => Promise<void>) => Promise<void>,
  ): Promise<void> => {
    const memory = [await service.ask('memory')]
    const [began, process, server] = [performance.now(), processorSeconds(pid), serverSeconds(session)]
    await work(async () => void memory.push(await service.ask('memory')))
    const seconds = (performance.now() - began) / 1000
    memory.push(await service.ask('memory'))
    const used = [processorSeconds(pid) - process, serverSeconds(session) - server]
    const { count, lost, doubled, disordered, forged } = await sink.ask('delivered')
    console.log(
      `${title}: ${count} events in ${seconds.toFixed(1)} s, ${Math.round(delivered / seconds)} a second; lost ${lost}, doubled ${doubled}, out of order ${disordered}, forged ${forged}`,
    )
    console.log(
      `  processor seconds: service ${used[0]!.toFixed(1)}, PostgreSQL ${used[1]!.toFixed(1)}; MiB: ${memory.map((bytes) => Math.round(bytes / MEBIBYTE)).join(', ')}`,
    )
    if (lost + doubled + disordered + forged > 0)
      throw new Error(`${title}: the deliveries are not as expected`)
  }

  /** Waits until so many events have arrived. */
  const arrived = async (count: number) => {
    while ((await sink.ask('delivered')).count < count) await wait(50)
  }

  const missed = await service.ask('addEndpoint', origin, { delivery: 'fifo', fifo_key: 'endpoint' })
  for (let first = 1; first <= events; first += BATCH) {
    const last = Math.min(events, first + BATCH - 1)
    await sandbox.query({ text: FILL, long: true }, [
      tenantId,
      first,
      last,
      missed.id,
      events - recovered + 1,
    ])
  }
  // Everything was planned, and given up.
  await sandbox.transaction(async (tx) => {
    await tx.query({ text: 'INSERT INTO event_heads (tenant_id, sequence) VALUES ($1, $2)' }, [
      tenantId,
      events,
    ])
    await tx.query({ text: 'UPDATE webhook_senders SET planned = $2 WHERE tenant_id = $1' }, [
      tenantId,
      events,
    ])
    await tx.query({ text: 'UPDATE webhook_endpoints SET settled = $2 WHERE tenant_id = $1' }, [
      tenantId,
      events,
    ])
  })
  await control.query({ text: 'ANALYZE sandbox.events, sandbox.webhook_attempts' })

  await sink.ask('expect', missed.secret, recovered, false)
  await measure(`recovery, ${events} events`, recovered, async (half) => {
    const id = await service.ask('recover', missed.id, rate)
    await arrived(Math.floor(recovered / 2))
    await half()
    for (;;) {
      const row = await service.ask('progress', missed.id, id)
      if (row?.status === 'completed') break
      await wait(100)
    }
  })

  for (const fifo_key of ['endpoint', 'object'] as const) {
    await sandbox.query({ text: 'DELETE FROM webhook_endpoints WHERE tenant_id = $1' }, [tenantId])
    const { secret } = await service.ask('addEndpoint', origin, { delivery: 'fifo', fifo_key })
    await sink.ask('expect', secret, live, fifo_key === 'object')
    await measure(`live, in order for each ${fifo_key}`, live, async (half) => {
      await service.ask('emit', live)
      await arrived(live / 2)
      await half()
      await arrived(live)
    })
  }
})

/**
 * `npm run bench:webhooks`: deliveries of this service beside those of job queues, on one database that is set up as in
 * production. Rounds alternate, so that whatever else the machine does meets all alike; medians over rounds are printed.
 *
 *   service          our worker, spread over 400 tenants because each may make 100 attempts a second
 *   graphile-worker  a job for each delivery, with a local queue and completions in batches
 *   pg-boss          a job for each delivery, fetched and completed in batches
 *
 * Then, of ours alone: from commit to the first byte at the receiver, when all is quiet and beside bad neighbours; what a
 * claim takes meanwhile; and how large the queue's tables have become after minutes of steady load.
 *
 * Options: --rounds N (3), --deliveries N (4000), --concurrency C (256), --seconds S (10, of each latency), --minutes M (1),
 * --quick (one small round of everything), --only throughput|latency|steady, --statements (what the server spent on which).
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { type Scratch, withScratch } from './scratch.ts'
import { type Bench, print } from './webhooks-figures.ts'
import { compareLatency } from './webhooks-latency.ts'
import type { Contestant } from './webhooks-peers.ts'
import { type Helper, startHelper } from './webhooks-processes.ts'
import type { Service } from './webhooks-service.ts'
import type { Sink } from './webhooks-sink.ts'
import { printStatements } from './webhooks-statements.ts'
import { compareThroughput } from './webhooks-throughput.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    deliveries: { type: 'string' },
    concurrency: { type: 'string', default: '256' },
    seconds: { type: 'string' },
    minutes: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    statements: { type: 'boolean', default: false },
  },
})
const choose = (given: string | undefined, usual: number, quick: number) =>
  given === undefined ? (options.quick ? quick : usual) : Number(given)
const rounds = choose(options.rounds, 3, 1)
const deliveries = choose(options.deliveries, 4000, 1000)
const seconds = choose(options.seconds, 10, 4)
const minutes = choose(options.minutes, 1, 0.1)

const TENANTS = 400
const STEADY_RATE = 200

/** What a server of this size would have in production; whatever decides about durability stays on. */
const PARAMETERS = {
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  ...(options.statements && { shared_preload_libraries: 'pg_stat_statements' }),
}

/** After which every connection has told the server how many rows it wrote. */
const FLUSH_MS = 11_000

async function measureSteadily({ service }: Bench): Promise<void> {
  await service.ask('start')
  const before = await service.ask('sizes')
  const emitted = await service.ask('emitWidely', STEADY_RATE, minutes * 60)
  while (!(await service.ask('isDone'))) await wait(50)
  print(
    `steady load: ${emitted} events of ${TENANTS} tenants in ${minutes} min; the queue's tables before and after`,
  )
  await wait(FLUSH_MS)
  for (const [index, { name, bytes, live, dead }] of (await service.ask('sizes')).entries()) {
    const size = `${(before[index]!.bytes / 1024).toFixed(0)} → ${(bytes / 1024).toFixed(0)} KiB`
    print(`  ${name.padEnd(24)} ${size}${live + dead > 0 ? `, ${live} rows, ${dead} dead` : ''}`)
  }
  await service.ask('stop')
}

async function run(bench: Bench): Promise<void> {
  print(`node ${process.version}, fsync, synchronous_commit and autovacuum on`)
  if (options.statements) await bench.admin.query('CREATE EXTENSION pg_stat_statements')
  const parts = {
    throughput: () => compareThroughput(bench, { rounds, deliveries }),
    steady: () => measureSteadily(bench),
    latency: () => compareLatency(bench, seconds),
  }
  for (const [name, part] of Object.entries(parts)) {
    if (options.only !== undefined && options.only !== name) continue
    await part()
    if (options.statements) await printStatements(bench)
  }
}

async function main(scratch: Scratch): Promise<void> {
  const { directory, atEnd } = scratch
  const env = { DATABASE_URL: await startDatabase(scratch, PARAMETERS), SVC_PEPPER: BENCH_PEPPER }
  const admin = new pg.Client(env.DATABASE_URL)
  await admin.connect()
  atEnd(() => admin.end())
  const sink = startHelper<Sink>('webhooks-sink.ts')
  const helpers: { end(): Promise<void> }[] = [sink]
  // Together: the others finish what they have under way only when the sink cuts it.
  atEnd(() => Promise.all(helpers.map((helper) => helper.end())))
  const origin = await sink.ask('origin')
  const { concurrency } = options
  const service = startHelper<Service>('webhooks-service.ts', [origin, concurrency, String(TENANTS)], env)
  helpers.push(service)
  const peers = ['graphile-worker', 'pg-boss'].map((name) => {
    const peer = startHelper<Contestant>('webhooks-peers.ts', [name, origin, concurrency], env)
    helpers.push(peer)
    return [name, peer] as const
  })
  const contestants = [['service', service as Helper<Contestant>] as const, ...peers]
  await run({ admin, sink, service, contestants, concurrency, serverLog: join(directory, 'postgres.log') })
}

await withScratch(main)

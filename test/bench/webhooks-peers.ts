/**
 * The peers of the bench of deliveries: graphile-worker and pg-boss with a job that does one HTTP POST, set up as their
 * documentation recommends where many short jobs wait. The job sends what we send, signed alike, over connections that
 * are kept; it knows no tenants, limits, attempts or checked addresses.
 *
 *   node webhooks-peers.ts graphile-worker|pg-boss <origin of the sink> <concurrency>
 */
import { createHmac } from 'node:crypto'
import http from 'node:http'
import { type AddJobsJobSpec, Logger, makeWorkerUtils, type Runner, run } from 'graphile-worker'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { makeEvents } from './webhooks-events.ts'
import { obey } from './webhooks-processes.ts'

/** Whoever delivers a backlog. */
export interface Contestant extends Record<string, (...values: never[]) => unknown> {
  /** Puts so many deliveries into the queue, while nobody works on it. */
  fill(count: number): Promise<void>
  start(): Promise<void>
  /** Whether every delivery is recorded as done. */
  isDone(): Promise<boolean>
  /** Stops working on the queue. */
  stop(): Promise<void>
}

interface Delivery {
  readonly id: string
  readonly body: string
}

const [name = '', origin = '', limit = ''] = process.argv.slice(2)
const connectionString = process.env.DATABASE_URL ?? ''
const concurrency = Number(limit)
const SECRET = `whsec_${'s'.repeat(43)}`
const QUEUE = 'deliver'

/** Deliveries that one transaction puts into the queue: as many as ours writes events in each. */
const AT_ONCE = 10

const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency })

function deliver({ id, body }: Delivery): Promise<void> {
  const seconds = Math.floor(Date.now() / 1000)
  const digest = createHmac('sha256', SECRET).update(`${seconds}.`).update(body).digest('hex')
  const headers = {
    'User-Agent': 'peer-webhooks/1',
    'Accept-Encoding': 'identity',
    'Content-Length': Buffer.byteLength(body),
    'Content-Type': 'application/json',
    'Service-Signature': `t=${seconds},v1=${digest}`,
    'Service-Event-Id': id,
    'Service-Delivery-Attempt': '1',
  }
  return new Promise((resolve, reject) => {
    const request = http.request(`${origin}/plain`, { method: 'POST', agent, headers, timeout: 10_000 })
    request.once('timeout', () => request.destroy(new Error('too late')))
    request.once('error', reject)
    request.once('response', (answer) => {
      answer.resume()
      answer.once('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`answered ${answer.statusCode}`)),
      )
    })
    request.end(body)
  })
}

/** Calls back with so many new deliveries, a batch at a time. */
async function inBatches(count: number, add: (deliveries: readonly Delivery[]) => Promise<unknown>) {
  for (let made = 0; made < count; made += AT_ONCE) await add(makeEvents(Math.min(AT_ONCE, count - made)))
}

const pool = new pg.Pool({ connectionString, max: 1 })

async function isNothingLeft(text: string): Promise<boolean> {
  const { rows } = await pool.query<{ some: boolean }>(`SELECT EXISTS (${text}) AS some`)
  return !rows[0]!.some
}

/** https://worker.graphile.org/docs/performance: a local queue, and completions written in batches without delay. */
async function openGraphileWorker(): Promise<[Contestant, () => unknown]> {
  const quiet = new Logger(() => () => {})
  const preset = {
    worker: {
      connectionString,
      concurrentJobs: concurrency,
      maxPoolSize: 25,
      localQueue: { size: Math.max(500, concurrency + 1) },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  }
  const utils = await makeWorkerUtils({ connectionString, logger: quiet })
  await utils.migrate()
  const taskList = { [QUEUE]: (payload: unknown) => deliver(payload as Delivery) }
  let runner: Runner | undefined
  const contestant: Contestant = {
    fill: (count) =>
      inBatches(count, (deliveries) =>
        utils.addJobs(deliveries.map((payload): AddJobsJobSpec => ({ identifier: QUEUE, payload }))),
      ),
    start: async () => {
      runner = await run({ preset, taskList, logger: quiet, noHandleSignals: true })
    },
    isDone: () => isNothingLeft('SELECT FROM graphile_worker.jobs'),
    stop: async () => {
      await runner?.stop()
      runner = undefined
    },
  }
  return [contestant, () => utils.release()]
}

/** https://timgit.github.io/pg-boss: several workers with large batches that go on at once while batches come back full. */
async function openPgBoss(): Promise<[Contestant, () => unknown]> {
  const boss = new PgBoss({ connectionString, schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue(QUEUE)
  const workers = 8
  const options = {
    localConcurrency: workers,
    batchSize: Math.ceil(concurrency / workers),
    perJobResults: true,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
  } as const
  const contestant: Contestant = {
    fill: (count) =>
      inBatches(count, (deliveries) =>
        boss.insert(
          QUEUE,
          deliveries.map((data) => ({ data })),
        ),
      ),
    start: async () => {
      await boss.work<Delivery, unknown, typeof options>(QUEUE, options, (jobs) =>
        Promise.all(
          jobs.map(async ({ id, data }) => {
            await deliver(data)
            return { id, status: 'completed' as const }
          }),
        ),
      )
    },
    isDone: () => isNothingLeft(`SELECT FROM pgboss.job WHERE name = '${QUEUE}' AND state < 'completed'`),
    stop: () => boss.offWork(QUEUE),
  }
  return [contestant, () => boss.stop({ graceful: false })]
}

const [contestant, close] = await (name === 'pg-boss' ? openPgBoss() : openGraphileWorker())
obey(contestant, async () => {
  await contestant.stop()
  await close()
  await pool.end()
  agent.destroy()
})

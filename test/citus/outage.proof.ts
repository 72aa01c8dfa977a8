/** A worker of the cluster dies without a word while requests run, and comes back. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { createClock } from '../../runtime/platform/clock/clock.ts'
import { openDatabase } from '../../runtime/platform/database/open/open-database.ts'
import { TEMPLATE } from '../api/fixtures.ts'
import { until } from '../support/programs.ts'
import { PEPPER } from '../support/server.ts'
import {
  makeKey,
  makeTenant,
  type Send,
  speak,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { ask, type Cluster, createClusterDatabase, startCluster } from './cluster.ts'

let cluster: Cluster
let service: TestService
let url: string

beforeAll(async () => {
  cluster = await startCluster(process.env.SVC_CITUS_BIN!)
  const servers = [cluster.coordinator, ...cluster.workers].map((node) => node.url)
  url = await createClusterDatabase(servers, 'outage')
  const settings = {
    databaseUrl: url,
    pepper: PEPPER,
    dataDir: '/nowhere',
    poolSize: 12,
    preparedStatements: true,
  }
  const opened = await openDatabase({ ...settings, citus: true })
  const clock = createClock()
  const operator = { control: opened.control, clock, pepper: PEPPER }
  service = await startTestService({ database: { ...opened, url, clock, operator } })
}, 120_000)

afterAll(async () => {
  await service.stop()
  await cluster.stop()
})

/** The port of the server that has the tenant's rows. */
async function placeOf(tenantId: string): Promise<string> {
  const [row] = await ask<{ port: number }>(
    url,
    `SELECT nodeport AS port FROM citus_shards
      WHERE shardid = get_shard_id_for_distribution_column('sandbox.passes', '${tenantId}')`,
  )
  return String(row!.port)
}

interface Caller {
  readonly tenantId: string
  readonly send: Send
}

async function makeCaller(port: string): Promise<Caller> {
  for (;;) {
    const tenantId = await makeTenant(service)
    if ((await placeOf(tenantId)) !== port) continue
    const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
    return { tenantId, send: speak(service.urls.sandbox, { secret, version: current }) }
  }
}

/** What a caller was answered, and what it was told that there is. */
interface Log {
  readonly answers: Map<string, number>
  readonly made: string[]
}

/** Writes and reads in turn until it is told to stop. */
async function call({ send }: Caller, log: Log, over: () => boolean): Promise<void> {
  while (!over()) {
    service.clock.monotonic += 1000
    for (const answer of [await send('/v1/pass_templates', { body: TEMPLATE }), await send('/v1/passes')]) {
      const what = answer.status < 400 ? String(answer.status) : `${answer.status} ${answer.body.error.code}`
      log.answers.set(what, (log.answers.get(what) ?? 0) + 1)
      if (answer.status === 201) log.made.push(answer.body.id)
    }
  }
}

const told = ({ answers }: Log) => [...answers.keys()].toSorted()

test('a worker dies while requests run: its tenants are answered 503, the others as ever, and it comes back', async ({
  task,
}) => {
  const [lost, other] = cluster.workers
  const port = (node: typeof lost) => new URL(node!.url).port
  const callers = { lost: await makeCaller(port(lost)), other: await makeCaller(port(other)) }
  const logs: Record<'lost' | 'other', Log> = {
    lost: { answers: new Map(), made: [] },
    other: { answers: new Map(), made: [] },
  }
  let over = false
  const running = (['lost', 'other'] as const).flatMap((which) =>
    [1, 2, 3].map(() => call(callers[which], logs[which], () => over)),
  )
  await until('requests', () => logs.lost.made.length > 20 && logs.other.made.length > 20)
  await lost!.kill()
  await until('refusals', () => (logs.lost.answers.get('503 unavailable') ?? 0) > 20)
  const before = logs.other.made.length
  await until('the others', () => logs.other.made.length > before + 20)
  await lost!.start()
  const back = logs.lost.made.length
  await until('requests again', () => logs.lost.made.length > back + 20)
  over = true
  await Promise.all(running)

  expect(told(logs.lost)).toEqual(['200', '201', '503 unavailable'])
  expect(told(logs.other)).toEqual(['200', '201'])
  for (const which of ['lost', 'other'] as const) {
    const { tenantId } = callers[which]
    const rows = await ask<{ id: string }>(
      url,
      `SELECT id FROM sandbox.pass_templates WHERE tenant_id = '${tenantId}'`,
    )
    const there = new Set(rows.map(({ id }) => id))
    expect(logs[which].made.filter((id) => !there.has(id))).toEqual([])
  }
  task.meta.found = Object.entries(logs).map(
    ([which, { answers }]) =>
      `${which}: ${[...answers].map(([what, count]) => `${what} × ${count}`).join(', ')}`,
  )
})

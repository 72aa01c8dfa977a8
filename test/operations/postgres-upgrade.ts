/**
 * `npm run prove:postgres-upgrade`: moves a service under load from PostgreSQL 17 to 18 by logical replication, in the
 * steps of docs/operations/upgrade.md. It fails if writes stop for 5 s, if a table differs, if a request fails with
 * anything but 503 and Retry-After, or if a pass that was answered is lost. It downloads PostgreSQL 17 with npm.
 */
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { BENCH_PEPPER } from '../bench/bench-database.ts'
import { withScratch } from '../bench/scratch.ts'
import { endPrograms, runAdmin, startService, until } from '../support/programs.ts'
import { openRelay } from '../support/relay.ts'
import { startCluster } from './cluster.ts'
import { catchUp, contentsOf, detach, publish, subscribe } from './replication.ts'
import { makeTemplate, startTraffic } from './traffic.ts'

const { values: options } = parseArgs({
  options: {
    from: { type: 'string', default: '17.10.0-beta.17' },
    to: { type: 'string', default: '18.4.0-beta.17' },
    passes: { type: 'string', default: '200' },
  },
})

const MAX_STOP_MS = 5000
const PATIENCE_MS = 300_000

await withScratch(async (scratch) => {
  const old = await startCluster(scratch, options.from, 4470)
  const fresh = await startCluster(scratch, options.to, 4471)
  // What a virtual address, a proxy or a DNS name is in production.
  const relay = await openRelay(old.url)
  scratch.atEnd(() => relay.down())
  scratch.atEnd(endPrograms)
  const env = {
    DATABASE_URL: relay.url,
    SVC_PEPPER: BENCH_PEPPER,
    CONSOLE_BASE_URL: 'http://console.test',
    DATABASE_POOL_SIZE: '4',
  }
  const node = startService(env, ['--json', '--demo', '--role', 'api', '--role', 'worker'])
  const line = (await node.ready()) as { sandbox_base_url: string; keys: Record<string, string> }
  const { sandbox_base_url: url, keys } = line
  const traffic = startTraffic(url, keys.sandbox_secret!, await makeTemplate(url, keys.sandbox_secret!))
  const morePasses = async (count: number) => {
    const before = traffic.issued.length
    const isDone = () => traffic.issued.length >= before + count || traffic.failures.length > 0
    await until('more passes', isDone, PATIENCE_MS)
  }
  await morePasses(Number(options.passes))

  const migrated = await runAdmin({ ...env, DATABASE_URL: fresh.url }, 'set-aside', 'list')
  if (migrated.code !== 0) throw new Error(`the migrations of the new server failed: ${migrated.stderr}`)
  await publish(old)
  const tables = await subscribe(old, fresh)
  console.info(`PostgreSQL ${options.from} → ${options.to}: ${tables} tables copied under load`)
  await morePasses(20)

  const began = performance.now()
  await relay.down()
  await catchUp(old)
  const caughtUp = performance.now()
  const [before, after] = await Promise.all([contentsOf(old), contentsOf(fresh)])
  const differing = [...before].filter(([table, contents]) => !isDeepStrictEqual(after.get(table), contents))
  const compared = performance.now()
  await detach(old, fresh)
  relay.pointAt(fresh.url)
  await relay.up()
  await morePasses(1)
  const stopped = performance.now() - began
  const rows = [...after.values()].reduce((sum, each) => sum + each.rows, 0)
  console.info(
    `writes stopped for ${Math.round(stopped)} ms: ${Math.round(caughtUp - began)} ms to catch up, ${Math.round(compared - caughtUp)} ms to compare ${rows} rows`,
  )
  await morePasses(50)
  await traffic.stop()

  const { rows: stored } = await fresh.client.query<{ id: string }>(
    `SELECT id FROM sandbox.passes WHERE metadata->>'key' IS NOT NULL`,
  )
  const ids = new Set(stored.map(({ id }) => id))
  const lost = traffic.issued.filter(({ id }) => !ids.has(id))
  console.info(
    `tables that differ: ${differing.length}; passes: ${traffic.issued.length} answered, ${stored.length} stored, ${lost.length} lost; ${traffic.failures.length} errors, ${traffic.postponed()} answers 503 with Retry-After`,
  )
  const problems = [
    ...differing.map(([table]) => `${table} differs`),
    ...lost.map(({ id }) => `${id} is lost`),
    ...traffic.failures,
    ...(stored.length === traffic.issued.length ? [] : ['a pass exists twice']),
    ...(stopped < MAX_STOP_MS
      ? []
      : [`writes stopped for ${Math.round(stopped)} ms: expected less than ${MAX_STOP_MS} ms`]),
  ]
  if (problems.length > 0) throw new Error(problems.slice(0, 20).join('\n'))
})

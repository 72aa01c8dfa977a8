/**
 * `npm run prove:upgrade`: two releases share a database under load. The nodes of the old release serve first, then both,
 * then the new one, and then the old one again, without a restart of the database. It fails if a request fails with
 * anything but 503 and Retry-After, or if a pass that was answered is lost or exists twice.
 *
 * Options: --old REF (default: the last tag), --new REF (default: HEAD), --passes NUMBER (for each phase; default 100).
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { git } from '../../deploy/release/service-tar.ts'
import { BENCH_PEPPER, startDatabase } from '../bench/bench-database.ts'
import { withScratch } from '../bench/scratch.ts'
import { endPrograms, type Program, until } from '../support/programs.ts'
import { type InstalledRelease, installRelease } from './installed-release.ts'
import { makeTemplate, startTraffic, type Traffic } from './traffic.ts'

const { values: options } = parseArgs({
  options: {
    old: { type: 'string' },
    new: { type: 'string', default: 'HEAD' },
    passes: { type: 'string', default: '100' },
  },
})
const PASSES = Number(options.passes)

/** A slow machine takes this long for a phase. */
const PATIENCE_MS = 600_000

/** Limits that the traffic would reach. */
const BUCKETS = ['read', 'passes_write', 'templates_write', 'concurrent_connections']

interface UpgradeNode {
  readonly name: string
  readonly program: Program
  readonly url: string
  readonly line: Record<string, unknown>
}

async function begin(release: InstalledRelease, env: Record<string, string>, words: readonly string[] = []) {
  const program = release.start(env, ['--json', '--role', 'api', '--role', 'worker', ...words])
  const line = await program.ready()
  return { name: release.ref, program, url: String(line.sandbox_base_url), line }
}

/** Runs a phase until enough passes are issued in it. */
async function phase(name: string, traffic: Traffic): Promise<void> {
  const before = traffic.issued.length
  const began = performance.now()
  await until(
    name,
    () => traffic.issued.length >= before + PASSES || traffic.failures.length > 0,
    PATIENCE_MS,
  )
  report(name, traffic, performance.now() - began)
}

function report(name: string, traffic: Traffic, ms: number): void {
  const { answered, slowestMs } = traffic.takeFigures()
  const rate = Math.round(answered / (ms / 1000))
  console.info(
    `${name}: ${answered} answers, ${rate}/s, slowest ${Math.round(slowestMs)} ms, ${traffic.failures.length} errors, ${traffic.postponed()} postponed`,
  )
}

/** Takes a node from the balancer, and stops it as an operator would. */
async function leave({ program, url }: UpgradeNode, traffic: Traffic): Promise<void> {
  traffic.nodes.delete(url)
  const { code, stderr } = await program.end()
  if (code !== 0) throw new Error(`a node ended with ${code}:\n${stderr.slice(-2000)}`)
}

/** Compares what was answered with what the database has. */
async function verify(databaseUrl: string, traffic: Traffic): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows: passes } = await client.query<{ id: string; key: string }>(
    `SELECT id, metadata->>'key' AS key FROM sandbox.passes WHERE metadata->>'key' IS NOT NULL`,
  )
  const { rows: events } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM sandbox.events WHERE type = 'pass.created'`,
  )
  await client.end()
  const keys = new Map(passes.map(({ id, key }) => [key, id]))
  const lost = traffic.issued.filter(({ id, key }) => keys.get(key) !== id)
  const twice = passes.length - keys.size
  console.info(
    `passes: ${traffic.issued.length} answered, ${passes.length} stored, ${lost.length} lost, ${twice} twice; pass.created events: ${events[0]!.count}`,
  )
  if (lost.length + twice + traffic.failures.length > 0 || events[0]!.count !== passes.length)
    throw new Error(`the upgrade lost or failed requests:\n${traffic.failures.slice(0, 10).join('\n')}`)
}

await withScratch(async (scratch) => {
  const { directory, atEnd } = scratch
  const oldRef = options.old ?? git('describe', '--tags', '--abbrev=0').toString().trim()
  const databaseUrl = await startDatabase(scratch, { max_connections: '200' })
  const older = installRelease(oldRef, join(directory, 'old'))
  const newer = installRelease(options.new, join(directory, 'new'))
  atEnd(endPrograms)
  const env = {
    DATABASE_URL: databaseUrl,
    SVC_PEPPER: BENCH_PEPPER,
    CONSOLE_BASE_URL: 'http://console.test',
    DATABASE_POOL_SIZE: '4',
    SVC_LEAVE_MS: '500',
  }

  const first = await begin(older, env, ['--demo'])
  const { keys, tenant_id } = first.line as { keys: Record<string, string>; tenant_id: string }
  for (const bucket of BUCKETS) {
    const words = ['--tenant', tenant_id, '--env', 'sandbox', '--bucket', bucket, '--factor', '1000']
    await older.admin(env, 'limit', 'lift', ...words, '--hours', '5')
  }
  const template = await makeTemplate(first.url, keys.sandbox_secret!)
  const traffic = startTraffic(first.url, keys.sandbox_secret!, template)
  const olds = [first, await begin(older, env)]
  for (const { url } of olds) traffic.nodes.add(url)
  await phase(`${oldRef} alone`, traffic)

  const began = performance.now()
  const news = [await begin(newer, env)]
  report(`${options.new} starts and migrates`, traffic, performance.now() - began)
  traffic.nodes.add(news[0]!.url)
  await phase('both', traffic)
  news.push(await begin(newer, env))
  traffic.nodes.add(news[1]!.url)
  for (const node of olds) await leave(node, traffic)
  await phase(`${options.new} alone`, traffic)

  const back = [await begin(older, env), await begin(older, env)]
  for (const { url } of back) traffic.nodes.add(url)
  await phase('both again', traffic)
  for (const node of news) await leave(node, traffic)
  await phase(`back to ${oldRef}`, traffic)
  await traffic.stop()
  await verify(databaseUrl, traffic)
})

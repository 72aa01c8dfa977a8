/**
 * `npm run bench:fairness`: what a tenant notices of a bad neighbour. The service runs as in production; one tenant with a
 * large table does one thing as much as its limits let it, another goes about its business, and what that one waits for is
 * printed beside what it waits for while the neighbour does nothing. Aim: p95 at most 2 × idle, and no 503. Idle and beside
 * are measured in turn; behind each ratio stands between which values nine of ten such runs would find it.
 *
 * Clients and the receiver of deliveries stand for other machines: the quiet client gets the processor before everybody, so
 * that its own waiting is in no figure; the neighbour's and the receiver only when all others leave it.
 *
 * Options: --rows N (200000, passes of the neighbour), --seconds S (4, beside a doing; half as long idle before it),
 * --rounds N (2), --only NAME (one doing).
 */
import { spawnSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { current } from '../../generated/versions.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { type Program, startService, until } from '../support/programs.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { compare, KINDS, type Kind } from './fairness-figures.ts'
import type { Doing, Neighbour } from './fairness-neighbour.ts'
import type { Measured, Quiet } from './fairness-quiet.ts'
import { withScratch } from './scratch.ts'
import { ms, print } from './webhooks-figures.ts'
import { type Helper, startHelper } from './webhooks-processes.ts'
import type { Sink } from './webhooks-sink.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '200000' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '2' },
    only: { type: 'string' },
  },
})
const rows = Number(options.rows)
const seconds = Number(options.seconds)
const rounds = Number(options.rounds)

const PARAMETERS = { shared_buffers: '256MB', max_wal_size: '2GB' }

/** Of each kind of request, a second: far below what the service can do, so that only waiting shows. */
const RATE = 30

/** Doings in turn, with what they are called in the table; the wipe comes last, because nothing is left after it. */
const DOINGS: readonly (readonly [doing: Doing, name: string, endpoints?: number])[] = [
  ['counts', '12 counts'],
  ['lists', '64 lists of 100'],
  ['updates', '60 updates of the same 100'],
  ['rotations', 'rotations of one endpoint', 1],
  ['events', '100 endpoints × 400 events', 100],
  ['wipe', 'wipe of the sandbox'],
]

interface Ready {
  readonly sandbox_base_url: string
  readonly tenant_id: string
  readonly keys: { readonly sandbox_secret: string }
  readonly dashboard: { readonly totp_secret: string }
}

const SPACE = `SELECT id || CASE sandbox_wipes WHEN 0 THEN '' ELSE '.' || sandbox_wipes END AS space
  FROM control.tenants WHERE id = $1`

/** Events that were not planned yet are planned for nobody. */
const PLANNED = `UPDATE sandbox.webhook_senders s SET planned = h.sequence
  FROM sandbox.event_heads h WHERE h.tenant_id = s.tenant_id`

const LEFT = `SELECT count(*) AS left FROM sandbox.wiped_spaces w WHERE EXISTS (SELECT FROM sandbox.passes p WHERE p.tenant_id = w.tenant_id)`

/** What is under way when a doing ends has ended then. */
const REST_MS = 500

/** What the disk still has to do after a table is loaded: 3 s after 200,000 rows. */
const DISK_REST_MS = rows * 0.015

/** As the API writes them, spread over a year. */
const LOAD = `INSERT INTO sandbox.passes (tenant_id, id, template_id, status, fields, page_token, google_url, metadata, created, updated)
  SELECT $1, 'pass_' || lpad(n::text, 26, '0'), $2, 'issued', '{}', md5(n::text), 'https://pay.google.com/gp/v/save/' || repeat(md5(n::text), 25),
         '{}', at, at
    FROM generate_series(1, $3::integer) AS n, LATERAL (SELECT now() - n * interval '1 year' / $3 AS at) AS t`

/** Makes the quiet tenant and gives its key; it has all the tokens it wants, the neighbour has them for its endpoints. */
async function prepareTenants(databaseUrl: string, neighbourId: string): Promise<string> {
  const settings = { databaseUrl, pepper: BENCH_PEPPER, dataDir: '.', poolSize: 2, preparedStatements: true }
  const database = await openDatabase(settings)
  const operator = { control: database.control, clock: createClock(), pepper: BENCH_PEPPER }
  const { id: tenantId } = await createTenant(operator, { name: 'Quiet', plan: 'enterprise' }, current)
  const { secret } = await createKey(operator, { tenantId, environment: 'sandbox' })
  const lift = { environment: 'sandbox', factor: 100, hours: 1 } as const
  for (const bucket of ['read', 'passes_write']) await liftLimit(operator, { ...lift, tenantId, bucket })
  await liftLimit(operator, { ...lift, tenantId: neighbourId, bucket: 'webhooks_write' })
  await database.close()
  return secret
}

/** What there is of a doing in all rounds together. */
interface Found {
  readonly times: Record<Kind, (readonly number[])[]>
  readonly refused: Map<number, number>
  readonly answers: Map<number, number>
}

function addCounts(to: Map<number, number>, more: ReadonlyMap<number, number>): void {
  for (const [status, count] of more) to.set(status, (to.get(status) ?? 0) + count)
}

function add(found: Found, { times, refused }: Measured): void {
  for (const kind of KINDS) found.times[kind].push(...times[kind])
  addCounts(found.refused, refused)
}

const nothingYet = (): Found => ({
  times: { GET: [], list: [], POST: [] },
  refused: new Map(),
  answers: new Map(),
})

const list = (counts: ReadonlyMap<number, number>) =>
  [...counts].map(([status, count]) => `${count} × ${status}`).join(', ') || '0'

function printRow(name: string, idle: Found, beside: Found): void {
  const cells = KINDS.map((kind) => {
    const [middle, high] = [0.5, 0.95].map((share) => compare(idle.times[kind], beside.times[kind], share))
    const [low, top] = high!.between
    return `${ms(middle!.before)} → ${ms(middle!.after)} | ${ms(high!.before)} → ${ms(high!.after)} | × ${high!.ratio.toFixed(2)} (${low.toFixed(2)}–${top.toFixed(2)})`
  })
  print(`| ${name} | ${cells.join(' | ')} | ${list(beside.refused)} | ${list(beside.answers)} |`)
}

/** What the doings are done with. */
interface Bench {
  readonly quiet: Helper<Quiet>
  readonly neighbour: Helper<Neighbour>
  readonly admin: pg.Client
  readonly tenantId: string
}

/** Gives the neighbour its table, in the space that it has now. */
async function load({ neighbour, admin, tenantId }: Bench): Promise<void> {
  const { rows: found } = await admin.query(SPACE, [tenantId])
  await admin.query(LOAD, [found[0].space, await neighbour.ask('prepare'), rows])
  await admin.query('VACUUM ANALYZE sandbox.passes')
  // What made the table is not what is measured, nor is what anything else on the machine has written lately.
  await admin.query('CHECKPOINT')
  spawnSync('sync')
  await wait(DISK_REST_MS)
}

/** Waits until nothing is left to do of what the neighbour did. */
async function settle({ neighbour, admin }: Bench): Promise<void> {
  await neighbour.ask('removeEndpoints')
  await admin.query('TRUNCATE sandbox.webhook_ready, sandbox.webhook_waiting, sandbox.webhook_attempts')
  await admin.query(PLANNED)
  await until('wiped spaces to be empty', async () => (await admin.query(LEFT)).rows[0].left === '0')
  await wait(REST_MS)
}

/** Idle and beside the doing in turn, as often as there are rounds: what changes with time changes both. */
async function run(bench: Bench, doing: (typeof DOINGS)[number], idle: Found, beside: Found): Promise<void> {
  const { quiet, neighbour } = bench
  const [name, , endpoints] = doing
  if (endpoints) await neighbour.ask('addEndpoints', endpoints)
  if (name === 'wipe') await neighbour.ask('waitForCode')
  add(idle, await quiet.ask('measure', seconds / 2))
  await neighbour.ask('start', name)
  add(beside, await quiet.ask('measure', seconds))
  addCounts(beside.answers, await neighbour.ask('stop'))
  await settle(bench)
}

const isWipe = ([name]: (typeof DOINGS)[number]) => name === 'wipe'

/** Rounds of doings; all of them are held against everything that was idle in between. */
async function runRounds(bench: Bench, doings: typeof DOINGS): Promise<void> {
  const idle = nothingYet()
  const found = doings.map(nothingYet)
  for (let round = 0; round < rounds; round++) {
    for (const [nth, doing] of doings.entries()) {
      if (isWipe(doing) && round > 0) await load(bench)
      await run(bench, doing, idle, found[nth]!)
    }
  }
  for (const [nth, [, name]] of doings.entries()) printRow(name, idle, found[nth]!)
}

async function runAll(bench: Bench): Promise<void> {
  const columns = KINDS.flatMap((kind) => [`${kind} p50`, `${kind} p95`, 'ratio'])
  print(`| the neighbour's doing | ${columns.join(' | ')} | refused | the neighbour's answers |`)
  print(`|${'---|'.repeat(columns.length + 3)}`)
  await bench.quiet.ask('measure', seconds) // plans are made and code is compiled
  const doings = DOINGS.filter(([name]) => options.only === undefined || options.only === name)
  // Before each but the first the table is loaded again, and the disk is long at it: they come last, by themselves.
  await runRounds(
    bench,
    doings.filter((doing) => !isWipe(doing)),
  )
  await runRounds(bench, doings.filter(isWipe))
}

await withScratch(async (scratch) => {
  const { atEnd } = scratch
  const databaseUrl = await startDatabase(scratch, PARAMETERS)
  const admin = new pg.Client(databaseUrl)
  atEnd(() => admin.end())
  await admin.connect()
  const sink = startHelper<Sink>('webhooks-sink.ts', [], {}, { apart: true })
  atEnd(() => sink.end())
  const service: Program = startService(
    {
      DATABASE_URL: databaseUrl,
      SVC_PEPPER: BENCH_PEPPER,
      SVC_WEBHOOK_ALLOW: '127.0.0.0/8',
      LOG_LEVEL: 'error',
    },
    ['--json', '--demo'],
  )
  atEnd(() => service.end())
  const ready = (await service.ready()) as unknown as Ready
  const origin = ready.sandbox_base_url
  const { keys, dashboard, tenant_id: tenantId } = ready
  const words = [origin, keys.sandbox_secret, dashboard.totp_secret, await sink.ask('origin')]
  const neighbour = startHelper<Neighbour>('fairness-neighbour.ts', words, {}, { apart: true })
  atEnd(() => neighbour.end())
  const quietWords = [origin, await prepareTenants(databaseUrl, tenantId), String(RATE)]
  const quiet = startHelper<Quiet>('fairness-quiet.ts', quietWords, {}, { apart: true })
  atEnd(() => quiet.end())
  await Promise.all([neighbour.giveWay(), sink.giveWay()])
  const isFirst = await quiet.goFirst()
  await quiet.ask('prepare')
  const bench = { quiet, neighbour, admin, tenantId }
  await load(bench)
  print(
    `${rows} passes of the neighbour, ${rounds} × ${seconds} s of each, ${RATE} requests of each kind a second, node ${process.version}`,
  )
  if (!isFirst) print('The quiet client is not in front: what it waits for the processor is in its figures.')
  await runAll(bench)
})

/**
 * `npm run bench:fairness`: what a tenant notices of a bad neighbour. The service runs as in production; one tenant with a
 * large table does one thing as much as its limits let it, another goes about its business, and what that one waits for is
 * printed beside what it waits for while the neighbour does nothing. Aim: p95 at most 2 × idle, and no 503.
 *
 * The neighbour's client and the receiver of its deliveries stand for other machines: here they get the processor only when
 * the service, the database and the quiet client leave it, in the idle figures too.
 *
 * Options: --rows N (200000, passes of the neighbour), --seconds S (6, of each measurement), --only NAME (one doing).
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { current } from '../../generated/versions.ts'
import { createKey } from '../../runtime/admin/keys.ts'
import { liftLimit } from '../../runtime/admin/limits.ts'
import { createTenant } from '../../runtime/admin/tenants.ts'
import { createClock } from '../../runtime/platform/clock/clock.ts'
import { acquireServer } from '../../runtime/platform/database/embedded/server.ts'
import { openDatabase } from '../../runtime/platform/database/open/open-database.ts'
import { type Program, startService } from '../support/programs.ts'
import { watchOver } from '../support/server.ts'
import type { Doing, Neighbour } from './fairness-neighbour.ts'
import { withScratch } from './scratch.ts'
import { ms, print, quantile } from './webhooks-figures.ts'
import { type Helper, startHelper } from './webhooks-processes.ts'
import type { Sink } from './webhooks-sink.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '200000' },
    seconds: { type: 'string', default: '6' },
    only: { type: 'string' },
  },
})
const rows = Number(options.rows)
const seconds = Number(options.seconds)

const PEPPER = 'pepper of the bench'
const PARAMETERS = { shared_buffers: '256MB', max_wal_size: '2GB' }

/** Of each kind of request, a second: far below what the service can do, so that only waiting shows. */
const RATE = 20

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

/** As the API writes them, spread over a year. */
const LOAD = `INSERT INTO sandbox.passes (tenant_id, id, template_id, status, fields, page_token, google_url, metadata, created, updated)
  SELECT $1, 'pass_' || lpad(n::text, 26, '0'), $2, 'issued', '{}', md5(n::text), 'https://pay.google.com/gp/v/save/' || repeat(md5(n::text), 25),
         '{}', at, at
    FROM generate_series(1, $3::integer) AS n, LATERAL (SELECT now() - n * interval '1 year' / $3 AS at) AS t`

/** Whoever goes about its business: requests at fixed moments, whether or not the ones before are through. */
interface Quiet {
  readonly kinds: Readonly<Record<'GET' | 'list' | 'POST', () => Promise<number>>>
}

interface Measured {
  readonly times: Readonly<Record<keyof Quiet['kinds'], readonly number[]>>
  readonly refused: number
}

/** Makes the quiet tenant and gives its key; it has all the tokens it wants, the neighbour has them for its endpoints. */
async function prepareTenants(databaseUrl: string, neighbourId: string): Promise<string> {
  const settings = { databaseUrl, pepper: PEPPER, dataDir: '.', poolSize: 2, preparedStatements: true }
  const database = await openDatabase(settings)
  const operator = { control: database.control, clock: createClock(), pepper: PEPPER }
  const { id: tenantId } = await createTenant(operator, { name: 'Quiet', plan: 'enterprise' }, current)
  const { secret } = await createKey(operator, { tenantId, environment: 'sandbox' })
  const lift = { environment: 'sandbox', factor: 100, hours: 1 } as const
  for (const bucket of ['read', 'passes_write']) await liftLimit(operator, { ...lift, tenantId, bucket })
  await liftLimit(operator, { ...lift, tenantId: neighbourId, bucket: 'webhooks_write' })
  await database.close()
  return secret
}

async function openQuiet(origin: string, secret: string): Promise<Quiet> {
  const ask = async (path: string, body?: unknown) => {
    const response = await fetch(origin + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as { id: string } }
  }
  const brand = { background_color: '#112233', foreground_color: '#ffffff' }
  const template = await ask('/v1/pass_templates', { name: 'Few', kind: 'loyalty', brand })
  const issue = () => ask('/v1/passes', { template_id: template.body.id })
  const made = await Promise.all(Array.from({ length: 30 }, issue))
  const status = async (answer: ReturnType<typeof ask>) => (await answer).status
  return {
    kinds: {
      GET: () => status(ask(`/v1/passes/${made[0]!.body.id}`)),
      list: () => status(ask('/v1/passes?limit=25')),
      POST: () => status(issue()),
    },
  }
}

async function measure({ kinds }: Quiet): Promise<Measured> {
  const times: Record<keyof Quiet['kinds'], number[]> = { GET: [], list: [], POST: [] }
  const asked: Promise<void>[] = []
  let refused = 0
  const one = async (kind: keyof Quiet['kinds']) => {
    const began = performance.now()
    if ((await kinds[kind]()) >= 300) refused += 1
    times[kind].push(performance.now() - began)
  }
  const end = performance.now() + seconds * 1000
  for (let next = performance.now(); next < end; next += 1000 / RATE) {
    await wait(Math.max(0, next - performance.now()))
    for (const kind of ['GET', 'list', 'POST'] as const) asked.push(one(kind))
  }
  await Promise.all(asked)
  return { times, refused }
}

function printRow(
  name: string,
  idle: Measured,
  beside: Measured,
  answers: ReadonlyMap<number, number>,
): void {
  const cells = (['GET', 'list', 'POST'] as const).map((kind) => {
    const [before, after] = [quantile(idle.times[kind], 0.95), quantile(beside.times[kind], 0.95)]
    const p50 = `${ms(quantile(idle.times[kind], 0.5))} → ${ms(quantile(beside.times[kind], 0.5))}`
    return `${p50} | ${ms(before)} → ${ms(after)} | × ${(after / before).toFixed(2)}`
  })
  const done = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ')
  print(`| ${name} | ${cells.join(' | ')} | ${beside.refused} | ${done} |`)
}

async function run(quiet: Quiet, neighbour: Helper<Neighbour>): Promise<void> {
  print(
    `${rows} passes of the neighbour, ${seconds} s each, ${RATE} requests of each kind a second, node ${process.version}`,
  )
  const columns = ['GET', 'list', 'POST'].flatMap((kind) => [`${kind} p50`, `${kind} p95`, 'ratio'])
  print(`| the neighbour's doing | ${columns.join(' | ')} | refused | the neighbour's answers |`)
  print(`|${'---|'.repeat(columns.length + 3)}`)
  await measure(quiet) // plans are made and code is compiled
  for (const [doing, name, endpoints] of DOINGS) {
    if (options.only !== undefined && options.only !== doing) continue
    if (endpoints) await neighbour.ask('addEndpoints', endpoints)
    const idle = await measure(quiet)
    await neighbour.ask('start', doing)
    const beside = await measure(quiet)
    printRow(name, idle, beside, await neighbour.ask('stop'))
  }
}

await withScratch(async ({ directory, atEnd }) => {
  const server = await acquireServer({ dataDir: directory, say: console.error, parameters: PARAMETERS })
  atEnd(server.release)
  const watcher = watchOver(server, directory)
  atEnd(() => watcher.stdin?.end('done\n'))
  const { user, password, host, port, database } = server.connection()
  const databaseUrl = `postgres://${user}:${password}@${host}:${port}/${database}`
  const admin = new pg.Client(server.connection())
  atEnd(() => admin.end())
  await admin.connect()
  const sink = startHelper<Sink>('webhooks-sink.ts', [], {}, { apart: true })
  atEnd(() => sink.end())
  const service: Program = startService(
    { DATABASE_URL: databaseUrl, SVC_PEPPER: PEPPER, SVC_WEBHOOK_ALLOW: '127.0.0.0/8', LOG_LEVEL: 'error' },
    ['--json', '--demo'],
  )
  atEnd(() => service.end())
  const ready = (await service.ready()) as unknown as Ready
  const origin = ready.sandbox_base_url
  const { keys, dashboard, tenant_id: tenantId } = ready
  const words = [origin, keys.sandbox_secret, dashboard.totp_secret, await sink.ask('origin')]
  const neighbour = startHelper<Neighbour>('fairness-neighbour.ts', words, {}, { apart: true })
  atEnd(() => neighbour.end())
  await Promise.all([neighbour.giveWay(), sink.giveWay()])
  const quiet = await openQuiet(origin, await prepareTenants(databaseUrl, tenantId))
  await admin.query(LOAD, [tenantId, await neighbour.ask('prepare'), rows])
  await admin.query('VACUUM ANALYZE sandbox.passes')
  await admin.query('CHECKPOINT') // what made the table is not what is measured
  await run(quiet, neighbour)
})

/**
 * `npm run bench:checkouts -- --other DIR`: CPU time per request of this checkout beside that of another one, for example of
 * the main branch. Both serve in turn, each with its own database on one server. CPU time hardly depends on what else the
 * machine does. It is printed for the service's process and for its connections' PostgreSQL processes. Linux only (/proc).
 *
 * With `--traced SHARE` instead of `--other`, it measures this checkout without traces beside itself with this share of traces
 * exported, for example 0.1. Rounds should have 5000 requests then, so that each includes exports.
 *
 * Options: --other DIR, --traced SHARE, --rounds N (9), --requests N (1500, of each kind in a round), --connections C (8),
 * --only NAME.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import pg from 'pg'
import { acquireServer } from '../../runtime/database/embedded/server.ts'
import { ROOT, START, UNHURRIED } from '../support/programs.ts'
import { liftLimit } from './demo-service.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    other: { type: 'string' },
    traced: { type: 'string' },
    rounds: { type: 'string', default: '9' },
    requests: { type: 'string', default: '1500' },
    connections: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
  },
})

interface Ready {
  readonly sandbox_base_url: string
  readonly tenant_id: string
  readonly keys: { readonly sandbox_secret: string }
}

interface Checkout {
  readonly name: string
  readonly pid: number
  readonly database: string
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  readonly templateId: string
  readonly passId: string
}

/** Microseconds that all threads of a process have run. */
function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const times = threads.map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
  )
  return times.reduce((sum, each) => sum + each, 0) / 1000
}

/** CPU time of the PostgreSQL processes that serve the checkout's connections. */
async function cpuOfConnections(admin: pg.Client, { database }: Checkout): Promise<Map<number, number>> {
  const text = 'SELECT pid FROM pg_stat_activity WHERE datname = $1'
  const { rows } = await admin.query<{ pid: number }>(text, [database])
  return new Map(rows.flatMap(({ pid }) => (existsSync(`/proc/${pid}/task`) ? [[pid, cpuOf(pid)]] : [])))
}

async function start(
  { directory, own }: Scratch,
  folder: string,
  database: string,
  urlOf: (database: string) => string,
  more: NodeJS.ProcessEnv,
): Promise<Checkout> {
  const env = {
    ...process.env,
    DATABASE_URL: urlOf(database),
    SVC_PEPPER: 'pepper of the bench',
    SANDBOX_PORT: '0',
    LIVE_PORT: '0',
    CONSOLE_PORT: '0',
    DATA_DIR: directory,
    NODE_ENV: 'bench',
    ...UNHURRIED,
    ...more,
  }
  const child = spawn(process.execPath, [...START, '--json', '--demo'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  own(child)
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  if (line.length === 0) throw new Error(`the service of ${folder} ended before it was ready`)
  const { sandbox_base_url: origin, tenant_id: tenantId, keys } = JSON.parse(String(line[0])) as Ready
  for (const bucket of ['read', 'passes_write']) await liftLimit(folder, env, { tenantId, bucket })
  const headers = { authorization: `Bearer ${keys.sandbox_secret}`, 'content-type': 'application/json' }
  const post = async (path: string, body: unknown) => {
    const init = {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': randomUUID() },
      body: JSON.stringify(body),
    }
    const response = await fetch(origin + path, init)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  }
  const template = await post('/v1/pass_templates', {
    name: 'Coffee club',
    kind: 'loyalty',
    brand: { background_color: '#112233', foreground_color: '#ffffff' },
    fields: [{ key: 'points', label: 'Points', value: '0' }],
  })
  const pass = {
    template_id: template.id,
    holder: { email: 'ada@example.com', name: 'Ada' },
    fields: { points: '12' },
  }
  const batch = await post('/v1/passes/batch', { passes: Array.from({ length: 100 }, () => pass) })
  const passId = (batch.results as { pass: { id: string } }[])[0]!.pass.id
  return { name: folder, pid: child.pid!, database, origin, headers, templateId: String(template.id), passId }
}

type Scenario = (checkout: Checkout) => {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

const passOf = ({ templateId }: Checkout) => ({
  template_id: templateId,
  holder: { email: 'ada@example.com', name: 'Ada' },
  fields: { points: '12' },
})

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'GET one pass': ({ passId }) => ({ method: 'GET', path: `/v1/passes/${passId}` }),
  'GET list of 25': () => ({ method: 'GET', path: '/v1/passes?limit=25' }),
  'POST a pass': (checkout) => ({
    method: 'POST',
    path: '/v1/passes',
    body: JSON.stringify(passOf(checkout)),
  }),
  'POST a batch of 20': (checkout) => ({
    method: 'POST',
    path: '/v1/passes/batch',
    body: JSON.stringify({ passes: Array.from({ length: 20 }, () => passOf(checkout)) }),
  }),
}

interface Cost {
  readonly service: number
  readonly database: number
  /** Microseconds of elapsed time. Unlike the others, it depends on what else the machine does. */
  readonly elapsed: number
}

/** Microseconds of CPU time for each of so many requests. Any answer but a success ends the run. */
async function measure(
  admin: pg.Client,
  checkout: Checkout,
  scenario: Scenario,
  requests: number,
): Promise<Cost> {
  const { method, path, body } = scenario(checkout)
  const read = async () => ({
    service: cpuOf(checkout.pid),
    database: await cpuOfConnections(admin, checkout),
  })
  const before = await read()
  const began = performance.now()
  const result = await autocannon({
    url: checkout.origin + path,
    method,
    connections: Number(options.connections),
    amount: requests,
    // The run ends at a sample. One each second would add up to a second of an idle service.
    sampleInt: 10,
    headers: checkout.headers,
    ...(body !== undefined && {
      body,
      requests: [
        {
          setupRequest: (each) => ({
            ...each,
            headers: { ...each.headers, 'idempotency-key': randomUUID() },
          }),
        },
      ],
    }),
  })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${checkout.name}: ${result.non2xx} refusals`)
  const elapsed = (performance.now() - began) * 1000
  const after = await read()
  let database = 0
  for (const [pid, time] of after.database) database += time - (before.database.get(pid) ?? 0)
  return {
    service: (after.service - before.service) / requests,
    database: database / requests,
    elapsed: elapsed / requests,
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** Starts an OTLP receiver that ignores what it gets. Returns the settings that export this share of traces to it. */
async function exportTo({ atEnd }: Scratch, share: string): Promise<NodeJS.ProcessEnv> {
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end()))
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  atEnd(async () => {
    receiver.closeAllConnections()
    receiver.close()
  })
  const { port } = receiver.address() as AddressInfo
  return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_TRACES_SAMPLER_ARG: share }
}

await withScratch(async (scratch) => {
  const { other, traced } = options
  if (other === undefined && traced === undefined)
    throw new Error('--other DIR is missing: expected the folder of another checkout')
  const server = await acquireServer({ dataDir: scratch.directory, say: console.error })
  scratch.atEnd(server.release)
  const { user, password, host, port } = server.connection()
  const urlOf = (database: string) => `postgres://${user}:${password}@${host}:${port}/${database}`
  const admin = new pg.Client(server.connection())
  await admin.connect()
  scratch.atEnd(() => admin.end())
  const checkouts: Checkout[] = []
  const tracing = traced === undefined ? {} : await exportTo(scratch, traced)
  for (const [at, folder] of [resolve(other ?? ROOT), ROOT].entries()) {
    await admin.query(`CREATE DATABASE checkout_${at}`)
    checkouts.push(await start(scratch, folder, `checkout_${at}`, urlOf, at === 0 ? {} : tracing))
  }
  const requests = Number(options.requests)
  console.log(
    `µs of CPU time per request, median of ${options.rounds} rounds of ${requests} requests: ${other === undefined ? 'without → with traces' : 'other → this'}`,
  )
  for (const [name, scenario] of Object.entries(SCENARIOS).filter(([name]) => name.includes(options.only))) {
    const costs: Cost[][] = [[], []]
    const amount = name.includes('batch') ? Math.ceil(requests / 10) : requests
    for (const checkout of checkouts) await measure(admin, checkout, scenario, amount)
    for (let round = 0; round < Number(options.rounds); round += 1) {
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
        costs[at]!.push(await measure(admin, checkouts[at]!, scenario, amount))
      }
    }
    for (const part of ['service', 'database', 'elapsed'] as const) {
      const [theirs, own] = costs.map((each) => median(each.map((cost) => cost[part])))
      // Of rounds next to each other, because what else the machine does changes slowly.
      const ratio = median(costs[0]!.map((cost, at) => costs[1]![at]![part] / cost[part]))
      console.log(
        `${name.padEnd(20)} ${part.padEnd(9)} ${theirs!.toFixed(1)} → ${own!.toFixed(1)}  × ${ratio.toFixed(3)}`,
      )
    }
  }
})

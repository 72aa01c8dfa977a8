/**
 * `npm run bench`: this service beside what one would write by hand, on one database, in one run. Rounds alternate
 * between the servers, so that whatever else the machine does meets them alike; medians over rounds are printed.
 *
 *   express        Express 5 and pg: the same SQL and the same body, no key, no limits, no validation
 *   validator      the same behind express-openapi-validator with the document of the newest version
 *   fastify        Fastify 5 and postgres.js, prepared, pipelined, with compiled serializers: the same SQL and body again
 *   service        this service, all stages on
 *   token          the same with an access token (OAuth) in place of a key; it may only read
 *
 * Options: --rounds N (7), --seconds S (3), --connections C (16), --only NAME (of requests whose name holds it).
 */
import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { parseArgs, promisify } from 'node:util'
import autocannon from 'autocannon'
import pg from 'pg'
import { issueToken } from '../support/access-tokens.ts'
import { START } from '../support/programs.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { COFFEE_CLUB, passOf } from './coffee-club.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    only: { type: 'string', default: '' },
  },
})

const VERSION = '2026-05-19'
const PASSES = 500

/** Programs beside this one; the first is what the others are compared with. */
const PEERS = ['express', 'validator', 'fastify'] as const

interface Ready {
  readonly sandbox_base_url: string
  readonly tenant_id: string
  readonly keys: { readonly sandbox_secret: string }
}

/** Starts a program and reads the one line that says where it listens. Throws when it ends without one. */
async function start(scratch: Scratch, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  scratch.own(child)
  const lines = createInterface({ input: child.stdout! })
  const line = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  if (line.length === 0) throw new Error(`${args.join(' ')} ended before it was ready`)
  return String(line[0])
}

async function liftLimit(bucket: string, tenant: string, env: NodeJS.ProcessEnv): Promise<void> {
  const where = ['--tenant', tenant, '--env', 'sandbox', '--bucket', bucket]
  const admin = [
    'runtime/operator/command/admin.ts',
    'limit',
    'lift',
    ...where,
    '--factor',
    '1000',
    '--hours',
    '1',
    '--json',
  ]
  await promisify(execFile)(process.execPath, admin, { env: { ...process.env, ...env } })
}

interface Target {
  readonly name: string
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
}

interface Scenario {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

/** Requests per second over one round; any answer but a success ends the run. */
async function measure(
  target: Target,
  scenario: Scenario,
  seconds: number,
  connections: number,
): Promise<number> {
  const freshKey = (request: autocannon.Request) => ({
    ...request,
    headers: { ...request.headers, 'idempotency-key': randomUUID() },
  })
  const result = await autocannon({
    url: target.origin + scenario.path,
    method: scenario.method,
    connections,
    duration: seconds,
    headers: { ...target.headers, ...(scenario.body && { 'content-type': 'application/json' }) },
    ...(scenario.body && { body: scenario.body, requests: [{ setupRequest: freshKey }] }),
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(
      `${target.name} ${scenario.name}: ${result.non2xx} answers without success, ${result.errors} errors`,
    )
  }
  return result['2xx'] / result.duration
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

async function prepareData(ready: Ready): Promise<{ templateId: string; passId: string }> {
  const post = async (path: string, body: unknown) => {
    const response = await fetch(ready.sandbox_base_url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ready.keys.sandbox_secret}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  }
  const template = await post('/v1/pass_templates', COFFEE_CLUB)
  const pass = passOf(template.id)
  let passId = ''
  for (let made = 0; made < PASSES; made += 100) {
    const batch = await post('/v1/passes/batch', { passes: Array.from({ length: 100 }, () => pass) })
    passId = (batch.results as { pass: { id: string } }[])[0]!.pass.id
  }
  return { templateId: String(template.id), passId }
}

async function main(scratch: Scratch): Promise<void> {
  const rounds = Number(options.rounds)
  const seconds = Number(options.seconds)
  const connections = Number(options.connections)
  const env = {
    DATABASE_URL: await startDatabase(scratch),
    SVC_PEPPER: BENCH_PEPPER,
    SANDBOX_PORT: '0',
    LIVE_PORT: '0',
    CONSOLE_PORT: '0',
    DATA_DIR: scratch.directory,
    NODE_ENV: 'bench',
  }
  const line = await start(scratch, [...START, '--json', '--demo'], env)
  const ready = JSON.parse(line) as Ready
  for (const bucket of ['read', 'passes_write']) await liftLimit(bucket, ready.tenant_id, env)
  const { templateId, passId } = await prepareData(ready)
  const peers = await Promise.all(
    PEERS.map((name) => start(scratch, [`test/bench/${name}.ts`], { ...env, TENANT_ID: ready.tenant_id })),
  )
  const headers = { authorization: `Bearer ${ready.keys.sandbox_secret}`, 'service-version': VERSION }
  const targets: Target[] = [
    ...PEERS.map((name, index) => ({ name, origin: peers[index]!, headers })),
    { name: 'service', origin: ready.sandbox_base_url, headers },
    {
      name: 'token',
      origin: ready.sandbox_base_url,
      headers: { ...headers, ...(await authorize(env, ready)) },
    },
  ]
  const body = JSON.stringify({
    template_id: templateId,
    holder: { email: 'ada@example.com', name: 'Ada' },
    fields: { points: '12' },
  })
  const scenarios: Scenario[] = [
    { name: 'GET one pass', method: 'GET', path: `/v1/passes/${passId}` },
    { name: 'GET list of 25', method: 'GET', path: '/v1/passes?limit=25' },
    { name: 'POST a pass', method: 'POST', path: '/v1/passes', body },
  ]
  await compareBodies(targets, scenarios)
  console.log(
    `${rounds} rounds of ${seconds} s, ${connections} connections, node ${process.version}; requests per second, median (lowest–highest)`,
  )
  for (const scenario of scenarios.filter(({ name }) => name.includes(options.only))) {
    const able = targets.filter(({ name }) => name !== 'token' || scenario.method === 'GET')
    await compare(scenario, able, { rounds, seconds, connections })
  }
}

/** The header of an application that the tenant's member lets read. */
async function authorize(
  { DATABASE_URL, SVC_PEPPER }: { readonly DATABASE_URL: string; readonly SVC_PEPPER: string },
  { tenant_id: tenantId }: Ready,
): Promise<{ authorization: string }> {
  const client = new pg.Client(DATABASE_URL)
  await client.connect()
  try {
    const text = 'SELECT id FROM control.members WHERE tenant_id = $1'
    const { rows } = await client.query<{ id: string }>(text, [tenantId])
    const control = { query: ({ text }: { text: string }, values: unknown[]) => client.query(text, values) }
    const member = { tenantId, memberId: rows[0]!.id }
    const { secret } = await issueToken({ control, pepper: SVC_PEPPER }, member, 'sandbox')
    return { authorization: `Bearer ${secret}` }
  } finally {
    await client.end()
  }
}

/** The servers are comparable only while they answer alike. */
async function compareBodies(targets: readonly Target[], scenarios: readonly Scenario[]): Promise<void> {
  for (const scenario of scenarios.filter((each) => each.method === 'GET')) {
    const bodies = await Promise.all(
      targets.map(async (target) => {
        const response = await fetch(target.origin + scenario.path, { headers: target.headers })
        const body = (await response.json()) as { next_cursor?: unknown }
        delete body.next_cursor
        return JSON.stringify(body).replaceAll(target.origin, '')
      }),
    )
    if (new Set(bodies).size > 1) throw new Error(`${scenario.name}: the servers answer differently`)
  }
}

async function compare(
  scenario: Scenario,
  targets: readonly Target[],
  { rounds, seconds, connections }: { rounds: number; seconds: number; connections: number },
): Promise<void> {
  const results = new Map(targets.map((target) => [target.name, [] as number[]]))
  for (const target of targets) await measure(target, scenario, Math.min(1, seconds), connections)
  for (let round = 0; round < rounds; round++) {
    for (const target of targets)
      results.get(target.name)!.push(await measure(target, scenario, seconds, connections))
  }
  const base = median(results.get('express')!)
  console.log(scenario.name)
  for (const [name, values] of results) {
    const range = `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`
    console.log(
      `  ${name.padEnd(10)} ${String(Math.round(median(values))).padStart(7)}  (${range})  × ${(median(values) / base).toFixed(2)}`,
    )
  }
}

await withScratch(main)

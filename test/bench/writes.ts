/**
 * `npm run bench:writes`: what one POST /v1/passes costs the database, and a listed pass the wire. A service of its own on an
 * embedded PostgreSQL; the WAL is read with pg_walinspect where the server has it.
 *
 * Options: --posts N (400).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { acquireServer } from '../../runtime/platform/database/embedded/server.ts'
import { START } from '../support/programs.ts'
import { withScratch } from './scratch.ts'

const { values: options } = parseArgs({ options: { posts: { type: 'string', default: '400' } } })
const posts = Number(options.posts)

const VERSION = '2026-05-19'

interface Ready {
  readonly sandbox_base_url: string
  readonly keys: { readonly sandbox_secret: string }
}

interface Service {
  readonly child: ChildProcess
  ready(): Promise<Ready>
}

function startService(env: NodeJS.ProcessEnv): Service {
  const child = spawn(process.execPath, [...START, '--json', '--demo'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout! })
  const ready = async () => {
    const line = await Promise.race([once(lines, 'line'), once(lines, 'close')])
    if (line.length === 0) throw new Error('the service ended before it was ready')
    return JSON.parse(String(line[0])) as Ready
  }
  return { child, ready }
}

function createClient({ sandbox_base_url, keys }: Ready) {
  return async (path: string, body?: unknown): Promise<{ text: string; body: { id: string } }> => {
    const response = await fetch(sandbox_base_url + path, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${keys.sandbox_secret}`,
        'service-version': VERSION,
        ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return { text, body: JSON.parse(text) }
  }
}

/** WAL positions are read after a moment without writes of anybody else: the service's own background is part of its cost. */
const positionOf = async (db: pg.Client): Promise<string> =>
  (await db.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn() AS lsn')).rows[0]!.lsn

/** Records by kind; empty where the server lacks the extension. */
async function recordsBetween(db: pg.Client, from: string, to: string): Promise<Map<string, number>> {
  try {
    await db.query('CREATE EXTENSION IF NOT EXISTS pg_walinspect')
  } catch {
    return new Map()
  }
  const { rows } = await db.query<{ name: string; count: string }>(
    `SELECT "resource_manager/record_type" AS name, count FROM pg_get_wal_stats($1, $2, true) WHERE count > 0`,
    [from, to],
  )
  return new Map(rows.map(({ name, count }) => [name, Number(count)]))
}

const say = (name: string, value: number, unit: string) =>
  console.log(`  ${name.padEnd(44)} ${value.toFixed(value < 100 ? 1 : 0).padStart(8)} ${unit}`)

async function measure(db: pg.Client, ready: Ready): Promise<void> {
  const call = createClient(ready)
  const template = await call('/v1/pass_templates', {
    name: 'Coffee club',
    kind: 'loyalty',
    brand: { background_color: '#112233', foreground_color: '#ffffff' },
    fields: [
      { key: 'points', label: 'Points', value: '0' },
      { key: 'tier', label: 'Tier', value: 'Basic' },
    ],
  })
  const pass = {
    template_id: template.body.id,
    holder: { email: 'ada@example.com', name: 'Ada' },
    fields: { points: '12' },
  }
  for (let made = 0; made < 50; made += 1) await call('/v1/passes', pass)
  // From here to the end of the run no page is written whole for the first time but new ones.
  await db.query('CHECKPOINT')
  for (let made = 0; made < 100; made += 1) await call('/v1/passes', pass)
  const from = await positionOf(db)
  for (let made = 0; made < posts; made += 1) await call('/v1/passes', pass)
  const to = await positionOf(db)
  const { rows } = await db.query<{ bytes: string }>('SELECT pg_wal_lsn_diff($1, $2) AS bytes', [to, from])
  const records = await recordsBetween(db, from, to)
  const count = (...names: readonly string[]) =>
    names.reduce((sum, name) => sum + (records.get(name) ?? 0), 0)
  console.log(`${posts} times POST /v1/passes, each:`)
  say('WAL', Number(rows[0]!.bytes) / posts, 'bytes')
  if (records.size > 0) {
    say('entries of indexes', count('Btree/INSERT_LEAF') / posts, '')
    say('rows', count('Heap/INSERT', 'Heap/INSERT+INIT', 'Heap2/MULTI_INSERT') / posts, '')
    say('rows changed or locked', count('Heap/UPDATE', 'Heap/HOT_UPDATE', 'Heap/LOCK') / posts, '')
  }
  const { rows: sizes } = await db.query<{ pass: number; answer: number; event: number }>(
    `SELECT (SELECT avg(pg_column_size(p.*))::int FROM sandbox.passes p) AS pass,
            (SELECT avg(pg_column_size(a.*))::int FROM sandbox.idempotency_answers a) AS answer,
            (SELECT avg(pg_column_size(e.*))::int FROM sandbox.events e) AS event`,
  )
  say('row of the pass', sizes[0]!.pass, 'bytes')
  say('row of the stored answer', sizes[0]!.answer, 'bytes')
  say('row of the event', sizes[0]!.event, 'bytes')
  const list = await call('/v1/passes?limit=100')
  say('a listed pass, as sent', Buffer.byteLength(list.text) / 100, 'bytes')
}

await withScratch(async ({ directory, atEnd, own }) => {
  const server = await acquireServer({ dataDir: directory, say: console.error })
  atEnd(server.release)
  const { user, password, host, port, database } = server.connection()
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`
  const { child, ready } = startService({
    DATABASE_URL: url,
    SVC_PEPPER: 'pepper of the bench',
    DATA_DIR: directory,
    SANDBOX_PORT: '0',
    LIVE_PORT: '0',
    CONSOLE_PORT: '0',
    NODE_ENV: 'bench',
  })
  own(child)
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  atEnd(() => db.end())
  await measure(db, await ready())
})

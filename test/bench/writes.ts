/**
 * `npm run bench:writes`: what one POST /v1/passes costs the database, and a listed pass the wire. A service of its own on an
 * embedded PostgreSQL; the WAL is read with pg_walinspect where the server has it.
 *
 * Options: --posts N (400).
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import { COFFEE_CLUB, passOf } from './coffee-club.ts'
import { type Call, startDemoService } from './demo-service.ts'
import { withScratch } from './scratch.ts'

const { values: options } = parseArgs({ options: { posts: { type: 'string', default: '400' } } })
const posts = Number(options.posts)

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

async function measure(db: pg.Client, call: Call): Promise<void> {
  const template = await call('/v1/pass_templates', COFFEE_CLUB)
  const pass = passOf(template.body.id)
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

await withScratch(async (scratch) => {
  const { url, call } = await startDemoService(scratch)
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  scratch.atEnd(() => db.end())
  await measure(db, call)
})

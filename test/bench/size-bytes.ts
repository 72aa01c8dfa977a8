/**
 * What a row of the large tables takes on disk, with its indexes: a service writes a few rows, and copies of them with identifiers
 * of their own fill the tables.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { until } from '../support/programs.ts'
import { COFFEE_CLUB, passOf } from './coffee-club.ts'
import { type DemoService, startDemoService } from './demo-service.ts'
import type { Scratch } from './scratch.ts'
import { print } from './webhooks-figures.ts'

/** Rows that the service writes in each table. */
const SAMPLE = 200

/** Large tables, and the columns whose values are not copied. `n` is the number of the copy. */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  passes: { id: copiedId('pass') },
  events: { id: copiedId('evt'), sequence: '1000000 + n' },
  webhook_attempts: { id: copiedId('wdla') },
  audit_log: { id: copiedId('aud'), sequence: '1000000 + n' },
  request_log: { id: copiedId('req'), written: later('written') },
  idempotency_answers: { key: 'gen_random_uuid()', created: later('created') },
}

/** Later than those that the service made, and as long. */
function copiedId(prefix: string): string {
  return `'${prefix}_1' || lpad(to_hex(n), 25, '0')`
}

/** Equal values would make an index by time smaller than it is. */
function later(column: string): string {
  return `s.${column} + n * interval '1 ms'`
}

const HEAD = ['table', 'rows', 'sample', 'rows and TOAST', 'indexes', 'together', '100 million rows']

/**
 * Prints bytes for each row of a table with at least `rows` rows.
 *
 * @param rows of each table
 * @param only part of the names of tables
 */
export async function measureBytes(scratch: Scratch, rows: number, only: string): Promise<void> {
  const sink = createServer((request, response) => {
    request.resume().once('end', () => response.end())
  })
  await once(sink.listen(0, '127.0.0.1'), 'listening')
  scratch.atEnd(() => {
    sink.close()
    sink.closeAllConnections()
  })
  const service = await startDemoService(scratch, { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' })
  const db = new pg.Client({ connectionString: service.url })
  await db.connect()
  scratch.atEnd(() => db.end())
  await writeSample(service, `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`)
  await db.query('SET session_replication_role = replica; SET synchronous_commit = off')
  print(HEAD.map((word) => word.padStart(20)).join(''))
  for (const [table, own] of Object.entries(TABLES).filter(([table]) => table.includes(only))) {
    const sample = await until(`${SAMPLE} rows of ${table}`, () => countSample(db, table), 120_000)
    const before = await bytesOf(db, table)
    await copyRows(db, table, own, rows)
    const after = await bytesOf(db, table)
    const [heap, indexes] = [after.heap - before.heap, after.indexes - before.indexes]
    const each = [heap, indexes, heap + indexes].map((bytes) => `${Math.round(bytes / rows)} B`)
    const extrapolated = `${Math.round(((heap + indexes) / rows) * 0.1)} GB`
    print([table, rows, sample, ...each, extrapolated].map((cell) => String(cell).padStart(20)).join(''))
  }
}

/** Issues passes, whose events an endpoint receives. */
async function writeSample({ call }: DemoService, url: string): Promise<void> {
  await call('/v1/webhook-endpoints', { url, enabled_events: ['pass.created'] })
  const template = await call('/v1/pass_templates', COFFEE_CLUB)
  const pass = passOf(template.body.id)
  for (let made = 0; made < SAMPLE; made += 1) await call('/v1/passes', pass)
}

/** The rows of the passes, which are the last; undefined while some are missing. */
async function countSample(db: pg.Client, table: string): Promise<number | undefined> {
  const { rows } = await db.query<{ count: string }>(`SELECT count(*) AS count FROM sandbox.${table}`)
  const count = Number(rows[0]!.count)
  return count >= SAMPLE ? count : undefined
}

/** Copies the last rows of a table in the order of their identifiers. */
async function copyRows(
  db: pg.Client,
  table: string,
  own: Readonly<Record<string, string>>,
  rows: number,
): Promise<void> {
  const { rows: columns } = await db.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [`sandbox.${table}`],
  )
  const names = columns.map(({ name }) => name)
  const values = names.map((name) => own[name] ?? `s.${name}`)
  await db.query(
    `INSERT INTO sandbox.${table} (${names.join(', ')})
     SELECT ${values.join(', ')}
       FROM generate_series(0, ${rows - 1}) AS n
       JOIN (SELECT l.*, row_number() OVER () - 1 AS place
               FROM (SELECT * FROM sandbox.${table} ORDER BY created DESC LIMIT ${SAMPLE}) AS l) AS s ON s.place = n % ${SAMPLE}
      ORDER BY n`,
  )
}

/** Of the table and its partitions. */
async function bytesOf(db: pg.Client, table: string): Promise<{ heap: number; indexes: number }> {
  const { rows } = await db.query<{ heap: string; indexes: string }>(
    `SELECT sum(pg_table_size(relid)) AS heap, sum(pg_indexes_size(relid)) AS indexes
       FROM (SELECT $1::regclass AS relid UNION SELECT relid FROM pg_partition_tree($1::regclass)) AS parts`,
    [`sandbox.${table}`],
  )
  return { heap: Number(rows[0]!.heap), indexes: Number(rows[0]!.indexes) }
}

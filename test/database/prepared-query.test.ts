/** Named statements are described once for each connection; rows read alike before and after. */
import { createRequire } from 'node:module'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Statement } from '../../runtime/database/database.ts'
import { createPool, type MeasuredPool } from '../../runtime/database/pool/pool.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { openRelay, type Relay } from '../support/relay.ts'

let database: TestDatabase
let relay: Relay
let pool: MeasuredPool

beforeAll(async () => {
  database = await openTestDatabase()
  await database.control.query({ text: 'CREATE TABLE control.notes (id int PRIMARY KEY, note json)' })
  relay = await openRelay(database.url)
  const connection = () => ({ connectionString: relay.url })
  pool = createPool({ connection, max: 2, prepared: true, applicationName: 'prepared' })
})
afterAll(async () => {
  await pool.end()
  await relay.down()
  await database.close()
})

const VALUES: Statement = {
  name: 'values',
  text: `SELECT $1::int AS n, $2::text AS text, '{"a":1}'::json AS json, timestamptz '2026-05-19Z' AS instant, NULL AS nothing`,
}

test('every execution reads the same, the first ones together and those after them', async () => {
  const want = (n: number) => ({
    n,
    text: 'ä',
    json: { a: 1 },
    instant: Date.parse('2026-05-19'),
    nothing: null,
  })
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all([1, 2, 3].map((n) => pool.query(VALUES, [n, 'ä'])))
    expect(answers.map(({ rows }) => rows)).toEqual([1, 2, 3].map((n) => [want(n)]))
  }
})

test('JSON that stands in row after row is parsed once a result, and never taken for other JSON', async () => {
  const rows = {
    name: 'json_rows',
    text: `SELECT json FROM unnest($1::json[]) WITH ORDINALITY AS r (json, nr) ORDER BY nr`,
  }
  const texts = ['{"a":1}', '{"a":1}', '{"a":2}', null, '{"a":2}', '{"a":1}']
  const read = async () =>
    (await pool.query<{ json: object | null }>(rows, [texts])).rows.map(({ json }) => json)
  const [first, second] = [await read(), await read()]
  for (const values of [first, second]) expect(values).toEqual(texts.map((text) => text && JSON.parse(text)))
  expect(first[1]).toBe(first[0])
  expect(second[0]).not.toBe(first[0])
})

test('values of every kind and length arrive as they are, whoever writes the message', async () => {
  const echo = { name: 'echo', text: 'SELECT $1::text AS a, $2::text AS b, $3::text[] AS c, $4::bytea AS d' }
  const given = [
    ['', null, null, null],
    ['ä€😀"\\', 'x'.repeat(4000), null, null],
    ['😀'.repeat(3000), '€'.repeat(6000), null, null],
    ['1', undefined, ['a', null, '{'], Buffer.of(0, 255)],
  ]
  for (const values of [...given, ...given]) {
    const [a, b, c, d] = values
    expect((await pool.query(echo, values)).rows).toEqual([{ a, b: b ?? null, c, d }])
  }
  const numbers = { name: 'numbers', text: 'SELECT $1::int + 1 AS next, $2::boolean AS truth' }
  for (const truth of [true, false, true]) {
    expect((await pool.query(numbers, [-5, truth])).rows).toEqual([{ next: -4, truth }])
  }
})

test('a statement that returns nothing tells how many rows it changed, each time', async () => {
  const insert = {
    name: 'notes_insert',
    text: 'INSERT INTO control.notes SELECT * FROM generate_series($1::int, $2)',
  }
  expect(await pool.query(insert, [1, 3])).toEqual({ rows: [], count: 3 })
  expect(await pool.query(insert, [4, 5])).toEqual({ rows: [], count: 2 })
  await expect(pool.query(insert, [5, 6])).rejects.toMatchObject({ code: '23505' })
  expect(await pool.query(insert, [6, 6])).toEqual({ rows: [], count: 1 })
})

test('a number beyond the exact ones arrives exactly, beside the others of its answer', async () => {
  const big = { name: 'big', text: 'SELECT n AS big FROM unnest($1::int8[]) AS n' }
  const { rows } = await pool.query(big, [['1', '9007199254740993', '-9007199254740991']])
  expect(rows).toEqual([{ big: 1 }, { big: 9007199254740993n }, { big: -9007199254740991 }])
})

test('a timestamp that JavaScript does not reach does not keep the others from being read', async () => {
  const far = { name: 'far', text: 'SELECT t AS at FROM unnest($1::timestamptz[]) AS t' }
  const { rows } = await pool.query(far, [
    ['2026-06-01 00:00:00+00', '12026-06-01 00:00:00+00', '0044-03-15 00:00:00+00 BC'],
  ])
  expect(rows).toEqual([{ at: Date.UTC(2026, 5, 1) }, { at: Number.NaN }, { at: Number.NaN }])
})

test('rows are described at the first execution on a connection and at no other', async () => {
  const bytes: number[] = []
  for (let count = 0; count < 3; count += 1) {
    const before = relay.received()
    await pool.query({ name: 'described', text: `SELECT 1 AS ${'a_column_of_a_long_name_'.repeat(2)}` })
    bytes.push(relay.received() - before)
  }
  expect(bytes[1]).toBeLessThan(bytes[0]! - 48)
  expect(bytes[2]).toBe(bytes[1])
})

test('other columns under the same name are an error, never rows under wrong names', async () => {
  const star = { name: 'star', text: 'SELECT * FROM control.notes ORDER BY id LIMIT 1' }
  expect((await pool.query(star)).rows).toEqual([{ id: 1, note: null }])
  await database.control.query({ text: 'ALTER TABLE control.notes ADD COLUMN extra int' })
  await expect(pool.query(star)).rejects.toThrow(/cached plan must not change result type/)
})

test('pg is the version whose internals a prepared query uses, and has them', () => {
  const { version } = createRequire(import.meta.url)('pg/package.json')
  expect(
    version,
    'compare PreparedQuery with lib/query.js and lib/connection.js of this pg, then change the version',
  ).toBe('8.23.1')
  const query = new pg.Query('SELECT 1') as unknown as Record<string, unknown>
  const used = ['prepare', 'handleRowDescription', 'handleDataRow', 'handleCommandComplete']
  expect(used.filter((name) => typeof query[name] !== 'function')).toEqual([])
  expect(query).toMatchObject({ _result: { rows: [] }, _canceledDueToError: false })
  const { connection } = new pg.Client() as unknown as { connection: Record<string, unknown> }
  expect(typeof connection.describe).toBe('function')
})

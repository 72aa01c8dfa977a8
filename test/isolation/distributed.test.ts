/**
 * Where tables are distributed by tenant: every statement that is sent there is one that Citus takes, and gives to one shard.
 * `npm run prove:citus` asks Citus itself; what it refused stands here as rules.
 */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { useService } from '../support/service.ts'
import { findException, SPREAD } from './exceptions.ts'
import { openPlanner, type Planner } from './plans.ts'
import { plainText, type Recorded, type Recorder, recordStatements, sentAs } from './recorder.ts'
import { changedExpressions, functionsIn, refusals } from './routes.ts'
import { walkAll } from './walk.ts'

let recorder: Recorder
let planner: Planner
let url: string
/** One of each text that reaches tables of tenants. */
const sent: Sent[] = []

interface Sent {
  readonly text: string
  /** How its own parameters name the tenant of each table that it reaches. */
  readonly own: readonly (number | undefined)[]
}

/** Tables of the owner's own stay where they are; what defines a table or who may read it reads no row. */
const ELSEWHERE = /^(CREATE|ALTER|DROP) TABLE |^(SET|DO|REVOKE) /

async function look(each: Recorded): Promise<Sent[]> {
  const text = plainText(each)
  if (ELSEWHERE.test(text)) return []
  const accesses = await planner.accessesOf(each)
  const own = accesses.filter(({ table }) => !table.startsWith('control.')).map((access) => access.own)
  return own.length === 0 ? [] : [{ text, own }]
}

const service = useService(async () => {
  const database = await openTestDatabase({ poolSize: 6, citus: true })
  url = database.url
  planner = await openPlanner(url)
  recorder = recordStatements(database)
  return { database: recorder.database, guarded: false, keepsTime: true }
})
beforeAll(async () => {
  await walkAll({ service, recorder })
  const distinct = new Map(
    recorder.recorded.flatMap(sentAs).map((each) => [`${each.role} ${plainText(each)}`, each]),
  )
  for (const each of distinct.values()) sent.push(...(await look(each)))
}, 60_000)
afterAll(() => planner.end())

test('a statement is for one shard: the same parameter names the tenant of every table', () => {
  const wrong = sent.filter(
    ({ text, own }) => !findException(SPREAD, text) && (new Set(own).size !== 1 || own[0] === undefined),
  )
  expect(wrong).toEqual([])
  expect(sent.length).toBeGreaterThan(100)
  const used = new Set(sent.map(({ text }) => findException(SPREAD, text)))
  expect(SPREAD.map(([begins]) => begins).filter((begins) => !used.has(begins))).toEqual([])
})

test('a statement has nothing in it that Citus refuses, or does by way of the coordinator', () => {
  const wrong = sent.flatMap(({ text }) =>
    refusals(text, findException(SPREAD, text) !== undefined).map((refusal) => ({ refusal, text })),
  )
  expect(wrong).toEqual([])
})

test('the rules of Citus are known', () => {
  const whole = 'WITH a AS ( INSERT INTO t (tenant_id) VALUES ($1) RETURNING b ) SELECT b FROM a'
  expect(refusals(whole, false)).toEqual(['a new row beside something else'])
  expect(refusals('WITH a AS ( SELECT 1 ) INSERT INTO t (tenant_id) SELECT $1 FROM a', false)).toEqual([
    'a new row beside something else',
    'new rows whose tenant is of no table',
  ])
  expect(refusals('INSERT INTO t (tenant_id, n) VALUES ($1, coalesce((SELECT 1), 0))', false)).toEqual([
    'a look within a new row',
  ])
  expect(refusals('UPDATE t SET (a, b) = (SELECT c, d FROM s) WHERE t.tenant_id = $1', false)).toEqual([
    'several columns set by one look',
  ])
  expect(refusals('INSERT INTO t (a) VALUES ($1) RETURNING coalesce(( SELECT 1 ), 0)', false)).toEqual([
    'a look within a new row',
  ])
  expect(refusals('SELECT EXISTS (SELECT FROM control.t) AND EXISTS (SELECT FROM live.u)', false)).toEqual([
    'rows of the coordinator beside those of a shard',
  ])
  expect(
    refusals('INSERT INTO t (tenant_id) SELECT h.tenant_id FROM h WHERE h.tenant_id = $1 RETURNING a', false),
  ).toEqual(['returned columns of a table without an alias'])
  expect(refusals("UPDATE t SET a = CASE b WHEN 'c' THEN 1 END WHERE t.tenant_id = $1", false)).toEqual([
    'a CASE with one operand for all branches',
  ])
  expect(refusals("UPDATE t SET a = CASE WHEN b = 'c' THEN 1 END WHERE t.tenant_id = $1", false)).toEqual([])
  expect(
    refusals('INSERT INTO t (tenant_id, n) SELECT h.tenant_id, 1 FROM h WHERE h.tenant_id = $1', false),
  ).toEqual([])
  expect(refusals('DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t FOR UPDATE))', true)).toEqual([
    'places in several shards',
    'locks in several shards',
  ])
})

test('partitions are prepared as long as they stand alone', () => {
  const changes = recorder.recorded.map(plainText).filter((text) => /^(CREATE|ALTER) TABLE /.test(text))
  const attached = new Set<string>()
  const late: string[] = []
  for (const text of changes) {
    const [, partition] = / ATTACH PARTITION (\S+)/.exec(text) ?? []
    if (partition !== undefined) attached.add(partition)
    else if (attached.has(/^ALTER TABLE (\S+)/.exec(text)?.[1] ?? '')) late.push(text)
  }
  expect(attached.size).toBeGreaterThan(1)
  expect(late).toEqual([])
})

test('an update of many rows is the same on every node: no function depends on time, chance or settings', async () => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: defaults } = await client.query<{ text: string }>(
      `SELECT pg_get_expr(d.adbin, d.adrelid) AS text FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
       WHERE c.relnamespace IN ('sandbox'::regnamespace, 'live'::regnamespace)`,
    )
    const changes = sent
      .map(({ text }) => text)
      .filter((text) => !findException(SPREAD, text))
      .flatMap(changedExpressions)
    expect(changes.length).toBeGreaterThan(10)
    const names = [...changes, ...defaults.map(({ text }) => text)].flatMap(functionsIn)
    // Of `to_timestamp`, only the form that parses a text depends on settings. It has two arguments.
    const { rows } = await client.query<{ name: string }>(
      `SELECT DISTINCT proname AS name FROM pg_proc
        WHERE proname = ANY ($1) AND provolatile <> 'i' AND (proname <> 'to_timestamp' OR $2)`,
      [names, changes.some((change) => /to_timestamp\([^()]*, *'/.test(change))],
    )
    expect(rows).toEqual([])
    expect(names).toContain('sha256')
    expect(functionsIn("a = b + interval '1 second'")).toEqual(['timestamptz_pl_interval'])
    expect(functionsIn('a = now(), b = CURRENT_TIMESTAMP, c = convert_to(x, y)')).toEqual([
      'now',
      'now',
      'convert_to',
    ])
  } finally {
    await client.end()
  }
})

test('no statement moves a row to another tenant', () => {
  const setters = sent.flatMap(({ text }) => changedExpressions(text))
  expect(setters.length).toBeGreaterThan(10)
  expect(setters.filter((assignments) => /(^|, |\()tenant_id( =|,|\) =)/.test(assignments))).toEqual([])
})

/** Every statement that requests and the background send reaches rows of one tenant, the one it is for. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { makeTenant, startTestService, type TestService } from '../support/service.ts'
import { findException, LOCATORS, UNROUTABLE } from './exceptions.ts'
import { openPlanner, type Planner } from './plans.ts'
import { plainText, type Recorder, recordStatements } from './recorder.ts'
import { changedExpressions, functionsIn } from './routes.ts'
import { runBackground, runWorker, tour, wipeSandbox } from './walk.ts'

let recorder: Recorder
let service: TestService
let planner: Planner
let url: string

beforeAll(async () => {
  const database = await openTestDatabase({ poolSize: 6 })
  url = database.url
  planner = await openPlanner(url)
  recorder = recordStatements(database)
  service = await startTestService({ database: recorder.database, guarded: false })
  const walker = { service, recorder }
  const tenantId = await makeTenant(service, 'enterprise')
  const space = await wipeSandbox(walker, tenantId)
  spaces.set(tenantId, space)
  await tour(walker, 'sandbox', tenantId, space)
  await tour(walker, 'live', await makeTenant(service, 'trial'))
  await runBackground(walker)
  await runWorker(walker, 'sandbox')
  await runWorker(walker, 'live')
}, 60_000)
afterAll(async () => {
  await planner.end()
  await service.stop()
})

/** One of each text, but for what defines a table: that reads no row of it. */
const distinct = () =>
  [...new Map(recorder.recorded.map((each) => [`${each.role} ${plainText(each)}`, each])).values()].filter(
    (each) => !/^(CREATE|ALTER) TABLE /.test(plainText(each)),
  )

/** Where the data of those tenants is whose sandbox was wiped. */
const spaces = new Map<string, string>()

/** What is of the tenant whatever its space is. */
const OF_THE_TENANT = /^(control\.|(sandbox\.|live\.)?audit_)/

test('names its tenant in the plan of every access, and binds the one it is for', async () => {
  const wrong: unknown[] = []
  let count = 0
  for (const one of distinct()) {
    const text = plainText(one)
    if (findException(LOCATORS, text)) continue
    const accesses = await planner.accessesOf(one)
    count += accesses.length
    for (const { tenantId, values } of recorder.recorded.filter(
      (each) => each.role === one.role && plainText(each) === text,
    )) {
      for (const { table, node, parameter } of accesses) {
        const bound = parameter === undefined ? 'nobody' : values[parameter - 1]
        // What no request asks for names a tenant all the same.
        const space = OF_THE_TENANT.test(table) ? undefined : spaces.get(String(tenantId))
        if (bound !== (space ?? tenantId ?? (parameter && bound))) wrong.push({ table, node, bound, text })
      }
    }
  }
  expect(wrong).toEqual([])
  console.log(`${recorder.recorded.length} statements of ${distinct().length} texts, ${count} accesses`)
  expect(count).toBeGreaterThan(60)
})

// A coordinator sees the statement and not the plan: what it sends to one shard names the tenant at every table by itself.
test('is for one shard: the same parameter names the tenant of every table', async () => {
  const wrong: unknown[] = []
  const used = new Set<string>()
  for (const one of distinct()) {
    const text = plainText(one)
    const exception = findException([...LOCATORS, ...UNROUTABLE], text)
    if (exception) {
      used.add(exception)
      continue
    }
    const accesses = await planner.accessesOf(one)
    const parameters = new Set(accesses.map((access) => access.own))
    if (accesses.length > 0 && (parameters.size !== 1 || parameters.has(undefined))) {
      wrong.push({ text, accesses })
    }
    if (/\bFOR (NO KEY )?(UPDATE|SHARE)\b/.test(text) && accesses.length === 0 && !/deployment/.test(text))
      wrong.push({ text, locks: 'rows of no tenant' })
  }
  expect(wrong).toEqual([])
  const listed = [...LOCATORS, ...UNROUTABLE].map(([begins]) => begins)
  expect(listed.filter((begins) => !used.has(begins))).toEqual([])
})

test('what is written over rows is the same on every node: no function depends on time, chance or settings', async () => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: defaults } = await client.query<{ text: string }>(
      `SELECT pg_get_expr(d.adbin, d.adrelid) AS text FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
       WHERE c.relnamespace IN ('sandbox'::regnamespace, 'live'::regnamespace)`,
    )
    const changes = distinct()
      .map(plainText)
      .filter((text) => !findException(LOCATORS, text))
      .flatMap(changedExpressions)
    expect(changes.length).toBeGreaterThan(10)
    const names = [...changes, ...defaults.map(({ text }) => text)].flatMap(functionsIn)
    const { rows } = await client.query<{ name: string }>(
      `SELECT DISTINCT proname AS name FROM pg_proc WHERE proname = ANY ($1) AND provolatile <> 'i'`,
      [names],
    )
    expect(rows).toEqual([])
    expect(names).toContain('sha256')
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
  const setters = distinct().map(plainText).flatMap(changedExpressions)
  expect(setters.length).toBeGreaterThan(10)
  expect(setters.filter((assignments) => /(^|, |\()tenant_id( =|,|\) =)/.test(assignments))).toEqual([])
})

test('every named statement was sent', () => {
  const directory = join(import.meta.dirname, '../../runtime')
  const texts = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(directory, file), 'utf8'))
  const namesIn = (pattern: RegExp) =>
    texts.flatMap((text) => [...text.matchAll(pattern)]).map(([, name]) => name!)
  const named = namesIn(/\bname: '(\w+)',\s+text\b/g)
  const sent = new Set(recorder.recorded.map(({ statement }) => statement.name))
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => !sent.has(name))).toEqual([])
  // Of those in two forms, that for one tenant: the other is sent where several tenants have something to do at once.
  const inForms = namesIn(/\bname: `(\w+)\$\{/g)
  expect(inForms.length).toBeGreaterThan(4)
  expect(inForms.filter((name) => !sent.has(`${name}_of_one`))).toEqual([])
})

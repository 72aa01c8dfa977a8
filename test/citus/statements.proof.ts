/** Every statement that the service sends, as Citus plans it: to one shard, or listed with why it is not. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SPREAD } from '../isolation/exceptions.ts'
import { plainText, type Recorded, type Recorder, recordStatements, sentAs } from '../isolation/recorder.ts'
import { walkAll } from '../isolation/walk.ts'
import { openTestDatabase } from '../support/database.ts'
import { startTestService, type TestService } from '../support/service.ts'

let recorder: Recorder
let service: TestService
let client: pg.Client

beforeAll(async () => {
  const database = await openTestDatabase({ poolSize: 6 })
  recorder = recordStatements(database)
  service = await startTestService({ database: recorder.database, guarded: false })
  await walkAll({ service, recorder })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await service.stop()
})

/** Commands that have no plan. */
const PLANLESS = /^(SET|BEGIN|DO|REVOKE|CREATE TABLE|ALTER TABLE|DROP TABLE) /

/** How many shards each part of the statement's plan goes to; none: no distributed table is in it. */
async function shardsOf({ role, statement, values }: Recorded): Promise<number[]> {
  await client.query(`SET search_path = ${role === 'control' ? 'sandbox' : role}`)
  const { rows } = await client.query<{ 'QUERY PLAN': string }>({
    text: `EXPLAIN (COSTS OFF) ${statement.text}`,
    values: values.map((value) =>
      typeof value === 'object' && value !== null && value.constructor === Object
        ? JSON.stringify(value)
        : value,
    ),
  })
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  const parts = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count))
  // What Citus reads to write it again shows no tasks: it goes to as many shards as there are tenants in it.
  return plan.includes('pull to coordinator') ? [...parts, Number.POSITIVE_INFINITY] : parts
}

test('each statement goes to one shard, or is listed with the reason', async ({ task }) => {
  const sent = new Map(
    recorder.recorded
      .flatMap(sentAs)
      .filter((each) => !PLANLESS.test(plainText(each)))
      .map((each) => [`${each.role} ${plainText(each)}`, each]),
  )
  const counts = { one: 0, local: 0 }
  const several = new Map<string, string>()
  const wrong: unknown[] = []
  for (const each of sent.values()) {
    const shards = await shardsOf(each)
    const text = plainText(each)
    if (shards.length === 0) counts.local += 1
    else if (shards.length === 1 && shards[0] === 1) counts.one += 1
    else {
      const [begins, why] = SPREAD.find(([start]) => text.startsWith(start)) ?? []
      if (begins === undefined) wrong.push({ text, shards })
      else several.set(begins, why!)
    }
  }
  expect(wrong).toEqual([])
  expect([...several.keys()].toSorted()).toEqual(SPREAD.map(([begins]) => begins).toSorted())
  expect(counts.one).toBeGreaterThan(100)
  task.meta.found = [
    `${counts.one} statements to one shard, ${counts.local} to none, ${several.size} to several:`,
    ...[...several].map(([begins, why]) => `${begins} … – ${why}`),
  ]
})

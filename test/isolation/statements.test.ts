/** Every statement that requests and the background send reaches rows of one tenant, the one it is for. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { useService } from '../support/service.ts'
import { findException, LOCATORS } from './exceptions.ts'
import { openPlanner, type Planner } from './plans.ts'
import { plainText, type Recorder, recordStatements } from './recorder.ts'
import { walkAll } from './walk.ts'

let recorder: Recorder
let planner: Planner
let url: string

const service = useService(async () => {
  const database = await openTestDatabase({ poolSize: 6 })
  url = database.url
  planner = await openPlanner(url)
  recorder = recordStatements(database)
  return { database: recorder.database, guarded: false, keepsTime: true }
})
beforeAll(async () => {
  spaces = await walkAll({ service, recorder })
}, 60_000)
afterAll(() => planner.end())

/** What was sent of each text, but for what defines a table or who may read it: that reads no row of it. */
const byText = () =>
  [...Map.groupBy(recorder.recorded, (each) => `${each.role} ${plainText(each)}`).values()].filter(
    ([first]) => !/^((CREATE|ALTER) TABLE|DO|REVOKE) /.test(plainText(first!)),
  )

/** Where the data of those tenants is whose sandbox was wiped. */
let spaces: ReadonlyMap<string, string>

/** What is of the tenant whatever its space is. */
const OF_THE_TENANT = /^(control\.|live\.|(sandbox\.)?(audit_|sandboxes$|sandbox_snapshots$))/

test('every statement names its tenant in the plan of every access, and binds the one it is for', async () => {
  const wrong: unknown[] = []
  let count = 0
  const texts = byText()
  for (const sent of texts) {
    const text = plainText(sent[0]!)
    if (findException(LOCATORS, text)) continue
    const accesses = await planner.accessesOf(sent.at(-1)!)
    count += accesses.length
    for (const { tenantId, values } of sent) {
      for (const { table, node, parameter } of accesses) {
        const bound = parameter === undefined ? 'nobody' : values[parameter - 1]
        // What no request asks for names a tenant all the same.
        const space = OF_THE_TENANT.test(table) ? undefined : spaces.get(String(tenantId))
        if (String(bound).startsWith(`${tenantId}.s`)) continue // a named sandbox of the tenant
        if (bound !== (space ?? tenantId ?? (parameter && bound))) wrong.push({ table, node, bound, text })
      }
    }
  }
  expect(wrong).toEqual([])
  console.log(`${recorder.recorded.length} statements of ${texts.length} texts, ${count} accesses`)
  expect(count).toBeGreaterThan(60)
})

test('every named statement was sent', () => {
  const directory = join(import.meta.dirname, '../../runtime')
  const texts = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(directory, file), 'utf8'))
  const namesIn = (pattern: RegExp) =>
    texts.flatMap((text) => [...text.matchAll(pattern)]).map(([, name]) => name!)
  const named = namesIn(/\bname: '(\w+)',\s+text\b/g)
  // Of tenants' tables, not of those in `control`.
  const leased = namesIn(/\bcreateLeases<.+>\(\{\s+name: '(\w+)',\s+table: '\w+'/g).map(
    (name) => `${name}_acquire`,
  )
  const held = namesIn(/\bpendingRows<.+>\(\s*'(\w+)'/g).flatMap((name) => [
    `${name}_acquire`,
    `${name}_find`,
  ])
  expect([leased.length, held.length]).toEqual([1, 4])
  const sent = new Set(recorder.recorded.map(({ statement }) => statement.name))
  expect(named.length).toBeGreaterThan(40)
  // Of those in two forms, that for one tenant: the other is sent where several tenants have something to do at once.
  expect(
    [...named, ...leased, ...held].filter((name) => !sent.has(name) && !sent.has(`${name}_of_one`)),
  ).toEqual([])
  const forOne = namesIn(/\bname: '(\w+_of_one)'/g)
  expect(forOne.length).toBeGreaterThan(2)
  expect(forOne.filter((name) => !sent.has(name))).toEqual([])
})

/** Wake-ups from process to process: late never, lost sometimes, and never in the way. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../runtime/database/open/open-database.ts'
import { connectWakeUpChannel, createWakeUps } from '../../runtime/events/emit/wake-ups.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/programs.ts'

let here: TestDatabase
let there: OpenDatabase

beforeAll(async () => {
  here = await openTestDatabase()
  there = await openDatabase({
    databaseUrl: here.url,
    pepper: here.pepper,
    dataDir: '/nowhere',
    poolSize: 2,
    preparedStatements: true,
  })
})
afterAll(async () => {
  await there.close()
  await here.close()
})

/** A process with its own ears: counts what it hears of each environment. */
function listenOn(database: OpenDatabase) {
  const wakeUps = createWakeUps()
  const heard = { sandbox: 0, live: 0 }
  const wakeUpChannel = connectWakeUpChannel(database.control, wakeUps)
  for (const environment of ['sandbox', 'live'] as const) {
    wakeUps.subscribe(environment, () => {
      heard[environment] += 1
    })
  }
  return { heard, publish: (environment: Environment) => wakeUpChannel.publish(environment, 'ten_1') }
}

test('a commit of one process is heard by the other, of its environment alone, and many are one', async () => {
  const [one, other] = [listenOn(here), listenOn(there)]
  // Who has just begun to listen looks once at everything.
  await until('both to listen', () => one.heard.live > 0 && other.heard.live > 0)
  const before = { ...other.heard }
  for (let count = 0; count < 50; count += 1) one.publish('sandbox')
  expect(one.heard.sandbox).toBeGreaterThanOrEqual(50)
  await until('the wake-up', () => other.heard.sandbox > before.sandbox)
  expect(other.heard.sandbox - before.sandbox).toBeLessThan(5)
  expect(other.heard.live).toBe(before.live)
})

test('a notification names the tenants; of very many it says that there are some', async () => {
  const told: (string | undefined)[] = []
  const wakeUps = createWakeUps()
  const wakeUpChannel = connectWakeUpChannel(here.control, createWakeUps())
  connectWakeUpChannel(there.control, wakeUps)
  wakeUps.subscribe('live', (tenantId) => told.push(tenantId))
  await until('it to listen', () => told.length > 0)
  told.length = 0
  for (const tenantId of ['ten_a', 'ten_b', 'ten_a']) wakeUpChannel.publish('live', tenantId)
  await until('the tenants', () => told.length === 2)
  expect(told).toEqual(['ten_a', 'ten_b'])
  for (let count = 0; count < 300; count += 1) wakeUpChannel.publish('live', `ten_${'0'.repeat(26)}${count}`)
  await until('the wake-up', () => told.length > 2)
  expect(told.slice(2)).toEqual([undefined])
})

test('a process that was cut off looks at everything when it is back', async () => {
  const one = listenOn(here)
  await until('it to listen', () => one.heard.sandbox > 0)
  const before = { ...one.heard }
  await there.control.query({
    text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'svc listen'`,
  })
  await until('both wake-ups', () => one.heard.sandbox > before.sandbox && one.heard.live > before.live)
})

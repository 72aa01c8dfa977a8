/** The coordinator is lost while tenants write: it comes back from its data, and then its standby takes over. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { databaseUrl } from '../../support/server.ts'
import { ask, promote, waitForStandby } from '../cluster.ts'
import { type LoadedService, loadService } from './loaded-service.ts'

let loaded: LoadedService
beforeEach(async () => {
  loaded = await loadService()
})
afterEach(() => loaded.stop())

/** Ends what was prepared on workers; nothing is left of it. */
async function recover(): Promise<void> {
  await ask(loaded.url, 'SELECT recover_prepared_transactions()')
}

async function countPrepared(): Promise<number> {
  const counts = await Promise.all(
    loaded.cluster.workers.map(({ url }) =>
      ask<{ count: number }>(url, 'SELECT count(*)::int AS count FROM pg_prepared_xacts'),
    ),
  )
  return counts.flat().reduce((sum, { count }) => sum + count, 0)
}

test('the coordinator restarts from its data while tenants write, and nothing is lost', async ({ task }) => {
  const { coordinator } = loaded.cluster
  await coordinator.kill()
  await coordinator.start()
  await recover()
  await loaded.write(200)
  const found = await loaded.finish('the coordinator restarts')
  await recover()
  expect(await countPrepared()).toBe(0)
  task.meta.found = found
})

test('a standby takes over for the coordinator while tenants write, and nothing is lost', async ({
  task,
}) => {
  const { cluster, relay, name, write } = loaded
  const { coordinator } = cluster
  const standby = await cluster.addStandby(coordinator)
  await waitForStandby(coordinator)
  await write(100)
  await coordinator.kill()
  await promote(standby)
  relay.pointAt(databaseUrl(standby.url, name))
  const { hostname, port } = new URL(standby.url)
  await ask(loaded.url, `SELECT citus_set_coordinator_host('${hostname}', ${port})`)
  await recover()
  await write(200)
  const found = await loaded.finish('a standby becomes the coordinator')
  await recover()
  expect(await countPrepared()).toBe(0)
  task.meta.found = found
})

/** A worker is lost while tenants write, and its standby takes over. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, promote, waitForStandby } from '../cluster.ts'
import { type LoadedService, loadService } from './loaded-service.ts'

/** A busy machine keeps this; the table shows the measured time. */
const MAX_RECOVERY_MS = 60_000

let loaded: LoadedService
beforeAll(async () => {
  loaded = await loadService()
})
afterAll(() => loaded.stop())

test('a standby takes over for a worker while tenants write, and nothing is lost', async ({ task }) => {
  const { cluster, url, write } = loaded
  const [worker] = cluster.workers
  const standby = await cluster.addStandby(worker!)
  await waitForStandby(worker!)
  await write(100)
  await worker!.kill()
  const [lost, found] = [new URL(worker!.url), new URL(standby.url)]
  await promote(standby)
  const promoted = performance.now()
  await ask(
    url,
    `SELECT citus_update_node(nodeid, '${found.hostname}', ${found.port}, force => true, lock_cooldown => 1000)
       FROM pg_dist_node WHERE nodeport = ${lost.port}`,
    'SELECT recover_prepared_transactions()',
  )
  await write(200)
  const again = performance.now()
  expect(again - promoted).toBeLessThan(MAX_RECOVERY_MS)
  task.meta.found = [
    ...(await loaded.finish('a worker fails over')),
    `200 writes within ${Math.round(again - promoted)} ms of the promotion`,
  ]
})

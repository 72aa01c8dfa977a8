/** The coordinator is lost while tenants write: it comes back from its data, and then its standby takes over. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../support/programs.ts'
import { databaseUrl } from '../../support/server.ts'
import { ask, promote, waitForStandby } from '../cluster.ts'
import { forgetStandby, holdCommits, preparedOn } from '../served-cluster.ts'
import { compareKeys, type KeyCreation, startKeyCreation } from './keys.ts'
import { type LoadedService, loadService } from './loaded-service.ts'

let loaded: LoadedService
let keys: KeyCreation
beforeEach(async () => {
  loaded = await loadService()
  keys = startKeyCreation(
    loaded.operator,
    loaded.traffic.callers.map(({ tenantId }) => tenantId),
  )
  await keys.create(5)
})
afterEach(() => loaded.stop())

/** Ends what was prepared on workers; nothing is left of it. */
async function recover(): Promise<void> {
  await ask(loaded.url, 'SELECT recover_prepared_transactions()')
}

async function countPrepared(): Promise<number> {
  const counts = await Promise.all(loaded.cluster.workers.map(preparedOn))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Ends the load. Expects of tenants and of the operator that each has what it was told. */
async function finish(check: string): Promise<readonly string[]> {
  await loaded.write(200)
  await keys.create(5)
  await keys.stop()
  const found = await loaded.finish(check)
  await recover()
  expect(await countPrepared()).toBe(0)
  await compareKeys(loaded.operator, keys)
  return [...found, `keys created: ${keys.told.size}, attempts without an answer: ${keys.unanswered.size}`]
}

test('the coordinator restarts from its data while tenants write, and nothing is lost', async ({ task }) => {
  const { coordinator } = loaded.cluster
  await coordinator.kill()
  await coordinator.start()
  await recover()
  task.meta.found = await finish('the coordinator restarts')
})

/** Citus asks for remnants when it starts, and then once a minute. */
const RESOLVED_MS = 90_000

test.for([
  { when: 'before it commits', isNotifying: true, waitEvent: 'object', isThere: false },
  { when: 'after it has committed', isNotifying: false, waitEvent: 'SyncRep', isThere: true },
])(
  'the coordinator is lost $when what workers have prepared, and Citus resolves it: the change is whole or not there',
  async ({ when, isNotifying, waitEvent, isThere }, { task }) => {
    const { coordinator } = loaded.cluster
    await holdCommits(coordinator, isNotifying)
    await until('a change to be held in its commit', async () => {
      const held = await ask(
        coordinator.url,
        `SELECT FROM pg_stat_activity
          WHERE application_name = 'svc control' AND query = 'COMMIT' AND wait_event = '${waitEvent}'`,
      )
      return held.length > 0 && (await countPrepared()) > 0
    })
    const before = keys.unanswered.size
    await forgetStandby(coordinator)
    await coordinator.kill()
    await until('the operator to be told of the failure', () => keys.unanswered.size > before)
    const [unanswered] = [...keys.unanswered].slice(before)
    const remnants = await countPrepared()
    expect(remnants).toBeGreaterThan(0)
    await coordinator.start()
    const restarted = performance.now()
    await until('Citus to resolve them', async () => (await countPrepared()) === 0, RESOLVED_MS)
    const resolved = Math.round(performance.now() - restarted)
    const { rows } = await loaded.operator.control.query({ text: 'SELECT FROM control.keys WHERE id = $1' }, [
      unanswered,
    ])
    expect(rows.length).toBe(isThere ? 1 : 0)
    task.meta.found = [
      ...(await finish(`the coordinator is lost ${when}`)),
      `prepared transactions left: ${remnants}, resolved within ${resolved} ms`,
    ]
  },
)

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
  task.meta.found = await finish('a standby becomes the coordinator')
})

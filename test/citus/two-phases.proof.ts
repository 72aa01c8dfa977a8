/**
 * Changes of an account stand in tables of the coordinator's own, what is told and answered of them with the tenant's rows
 * on a worker: both or neither, whichever server dies while they are committed.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { type Confirmer, makeConfirmer } from '../account/confirmers.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { until } from '../support/programs.ts'
import { makeKey } from '../support/service.ts'
import { ask, type Node } from './cluster.ts'
import {
  type Caller,
  forgetStandby,
  holdCommits,
  makeCaller,
  preparedOn,
  recover,
  type ServedCluster,
  serveCluster,
  startAtTenant,
  stopRecovery,
} from './served-cluster.ts'

let served: ServedCluster
let worker: Node
let caller: Caller
let owner: Confirmer

beforeAll(async () => {
  served = await serveCluster()
  await stopRecovery(served)
  worker = served.cluster.workers[0]!
}, 120_000)
afterAll(() => served.stop())
beforeEach(async () => {
  served.machine.toNewCodes()
  served.service.clock.monotonic += 120_000
  caller = await makeCaller(served, worker, worker)
  owner = await makeConfirmer(served.service, served.machine, caller.tenantId)
})

const rotate = (key: string = randomUUID(), steps = 0) =>
  caller.send('/v1/account/rotate_credentials', {
    method: 'POST',
    headers: { 'Service-Factor': owner.code(steps), 'Idempotency-Key': key },
  })

/** What there is of a rotation: keys in `control`, the rest on the worker. */
async function findRotation() {
  const [row] = await ask<{ keys: number; told: number; answered: number }>(
    served.url,
    `SELECT (SELECT count(*)::int FROM control.keys
              WHERE tenant_id = '${caller.tenantId}' AND replaces_id IS NOT NULL) AS keys,
            (SELECT count(*)::int FROM sandbox.audit_log
              WHERE tenant_id = '${caller.tenantId}' AND action = 'credentials.rotated') AS told,
            (SELECT count(*)::int FROM sandbox.idempotency_answers WHERE tenant_id = '${caller.tenantId}') AS answered`,
  )
  return row
}

const NOTHING = { keys: 0, told: 0, answered: 0 }
const ALL = { keys: 1, told: 1, answered: 1 }

describe('a rotation of keys', () => {
  afterEach(async () => {
    await verifyAudit(served.service.operator, caller.tenantId, 'sandbox')
    expect(await preparedOn(worker)).toBe(0)
  })

  /** Starts a rotation; goes on when a session of the node is held in its commit. */
  async function startHeldRotation(key: string, at: Node, waitEvent: 'SyncRep' | 'object') {
    const { answer, free } = await startAtTenant(served, caller.tenantId, () => rotate(key))
    await holdCommits(at, waitEvent === 'object')
    await free()
    await until('the commit to be held', async () => {
      const held = await ask(
        at.url,
        `SELECT FROM pg_stat_activity WHERE query ~ '^(COMMIT|PREPARE)' AND wait_event = '${waitEvent}'`,
      )
      return held.length === 1
    })
    return { rotating: answer }
  }

  test('a rotation of keys is undone when the coordinator is lost before it commits, its worker having gone first', async () => {
    const key = randomUUID()
    const { coordinator } = served.cluster
    const { rotating } = await startHeldRotation(key, coordinator, 'object')
    await forgetStandby(coordinator)
    await coordinator.kill()
    expect((await rotating).status).toBe(503)
    await coordinator.start()
    await recover(served)
    expect(await findRotation()).toEqual(NOTHING)
    const again = await rotate(key, 1)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, null])
    expect(await findRotation()).toEqual(ALL)
  })

  test('a rotation of keys is whole when the coordinator is lost after it has committed', async () => {
    const key = randomUUID()
    const { coordinator } = served.cluster
    const { rotating } = await startHeldRotation(key, coordinator, 'SyncRep')
    await forgetStandby(coordinator)
    await coordinator.kill()
    expect((await rotating).status).toBe(503)
    await coordinator.start()
    await recover(served)
    expect(await findRotation()).toEqual(ALL)
    const again = await rotate(key, 1)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
  })

  test('a rotation of keys is undone when its worker is lost, which may have committed and cannot say so', async () => {
    const key = randomUUID()
    const { rotating } = await startHeldRotation(key, worker, 'SyncRep')
    await forgetStandby(worker)
    await worker.kill()
    expect((await rotating).status).toBe(503)
    await worker.start()
    await recover(served)
    expect(await findRotation()).toEqual(NOTHING)
    expect((await rotate(key, 1)).status).toBe(200)
    expect(await findRotation()).toEqual(ALL)
  })
})

describe('in two phases', () => {
  /** A record of the coordinator's for each transaction that a worker has prepared. */
  async function countPrepared(work: () => Promise<unknown>): Promise<number> {
    const count = async () =>
      (await ask<{ count: number }>(served.url, 'SELECT count(*)::int AS count FROM pg_dist_transaction'))[0]!
        .count
    const before = await count()
    await work()
    return (await count()) - before
  }

  const changeBilling = () =>
    caller.send('/v1/account/billing', {
      method: 'PATCH',
      body: { billing_email: 'new@example.com' },
      headers: { 'Service-Factor': owner.code() },
    })

  test.each([
    ['a change of the account is committed', changeBilling, 1],
    ['a change that the operator makes is', () => makeKey(served.service, caller.tenantId), 1],
    ["a change of nothing but the tenant's rows is not", () => makeTemplate(caller.send), 0],
  ])('a transaction commits in two phases only when it must: %s', async (_what, change, prepared) => {
    expect(await countPrepared(change)).toBe(prepared)
  })

  test('two-phase changes of two accounts wait for each other as little as before', async () => {
    const other = await makeCaller(served, worker)
    const { control } = served.service.database
    const setPlan = (tx: Database, tenantId: string) =>
      tx.query({ text: `UPDATE control.tenants SET plan = 'standard' WHERE id = $1` }, [tenantId])
    await control.forTenant(caller.tenantId).transaction(async (tx) => {
      await setPlan(tx, caller.tenantId)
      await control.forTenant(other.tenantId).transaction((beside) => setPlan(beside, other.tenantId))
    })
  })
})

/** A server of the cluster dies without a word while requests run or commit, and comes back. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccountChanges } from '../../runtime/account/account/changes.ts'
import { wipeSpace } from '../../runtime/account/account/wipe-queries.ts'
import { DatabaseUnavailable } from '../../runtime/database/errors.ts'
import { spaceOf } from '../../runtime/database/space.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { type Confirmer, makeConfirmer } from '../account/confirmers.ts'
import { makeTemplate, TEMPLATE } from '../api/fixtures.ts'
import { until } from '../support/programs.ts'
import type { Answer } from '../support/service.ts'
import { ask, type Cluster, type Node } from './cluster.ts'
import {
  type Caller,
  forgetStandby,
  holdCommits,
  letGo,
  makeCaller,
  preparedOn,
  recover,
  type ServedCluster,
  serveCluster,
  startAtTenant,
  stopRecovery,
} from './served-cluster.ts'

let served: ServedCluster
let cluster: Cluster
let url: string

beforeAll(async () => {
  served = await serveCluster()
  cluster = served.cluster
  url = served.url
}, 120_000)

afterAll(() => served.stop())

/** What a caller was answered, and what it was told that there is. */
interface Log {
  readonly answers: Map<string, number>
  readonly made: string[]
}

/** Writes and reads in turn until it is told to stop. */
async function call({ send }: Caller, log: Log, over: () => boolean): Promise<void> {
  while (!over()) {
    served.service.clock.monotonic += 1000
    for (const answer of [await send('/v1/pass_templates', { body: TEMPLATE }), await send('/v1/passes')]) {
      const what = answer.status < 400 ? String(answer.status) : `${answer.status} ${answer.body.error.code}`
      log.answers.set(what, (log.answers.get(what) ?? 0) + 1)
      if (answer.status === 201) log.made.push(answer.body.id)
    }
  }
}

const told = ({ answers }: Log) => [...answers.keys()].toSorted()

test('a worker dies while requests run: its tenants are answered 503, the others as ever, and it comes back', async ({
  task,
}) => {
  const [lost, other] = cluster.workers
  const callers = { lost: await makeCaller(served, lost!), other: await makeCaller(served, other!) }
  const logs: Record<'lost' | 'other', Log> = {
    lost: { answers: new Map(), made: [] },
    other: { answers: new Map(), made: [] },
  }
  let over = false
  const running = (['lost', 'other'] as const).flatMap((which) =>
    [1, 2, 3].map(() => call(callers[which], logs[which], () => over)),
  )
  await until('requests', () => logs.lost.made.length > 20 && logs.other.made.length > 20)
  await lost!.kill()
  await until('refusals', () => (logs.lost.answers.get('503 unavailable') ?? 0) > 20)
  const before = logs.other.made.length
  await until('the others', () => logs.other.made.length > before + 20)
  await lost!.start()
  const back = logs.lost.made.length
  await until('requests again', () => logs.lost.made.length > back + 20)
  over = true
  await Promise.all(running)

  expect(told(logs.lost)).toEqual(['200', '201', '503 unavailable'])
  expect(told(logs.other)).toEqual(['200', '201'])
  for (const which of ['lost', 'other'] as const) {
    const { tenantId } = callers[which]
    const rows = await ask<{ id: string }>(
      url,
      `SELECT id FROM sandbox.pass_templates WHERE tenant_id = '${tenantId}'`,
    )
    const there = new Set(rows.map(({ id }) => id))
    expect(logs[which].made.filter((id) => !there.has(id))).toEqual([])
  }
  task.meta.found = Object.entries(logs).map(
    ([which, { answers }]) =>
      `${which}: ${[...answers].map(([what, count]) => `${what} × ${count}`).join(', ')}`,
  )
})

/** Has the server do nothing more for the transactions that are open. */
async function freezeTransactions(node: Node): Promise<void> {
  const sessions = await ask<{ pid: number }>(
    node.url,
    `SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'`,
  )
  expect(sessions).toHaveLength(1)
  for (const { pid } of sessions) process.kill(pid, 'SIGSTOP')
}

test('a worker dies instead of committing: nobody knows, which is an answer that may come later', async () => {
  const [lost] = cluster.workers as [Node]
  const { tenantId, send } = await makeCaller(served, lost)
  await makeTemplate(send)
  const writing = served.service.database.sandbox.forTenant(tenantId).transaction(async (db) => {
    const text = 'UPDATE event_heads SET sequence = 7 WHERE tenant_id = $1'
    expect(await db.query({ text }, [tenantId])).toMatchObject({ count: 1 })
    await freezeTransactions(lost)
  })
  const failed = expect(writing).rejects.toBeInstanceOf(DatabaseUnavailable)
  await until('the commit', async () => {
    const open = await ask(url, `SELECT FROM pg_stat_activity WHERE state = 'active' AND query = 'COMMIT'`)
    return open.length > 0
  })
  await lost.kill()
  await failed
  await lost.start()
  const text = 'SELECT sequence::int FROM sandbox.event_heads WHERE tenant_id = $1'
  const { rows } = await served.service.database.control.query({ text }, [tenantId])
  expect(rows).toEqual([{ sequence: 1 }])
})

// A wipe writes in the old space, in the new one and in tables of the coordinator's own.
describe('a wipe that two workers prepare', () => {
  /** Has what is wiped. */
  let first: Node
  /** Has what comes after. */
  let second: Node
  let caller: Caller
  let owner: Confirmer

  beforeAll(() => stopRecovery(served))
  beforeEach(async () => {
    served.machine.toNewCodes()
    ;[first, second] = cluster.workers as [Node, Node]
    caller = await makeCaller(served, first, second)
    owner = await makeConfirmer(served.service, served.machine, caller.tenantId)
    await makeTemplate(caller.send)
  })
  afterEach(async () => {
    await letGo(cluster.coordinator)
    expect(await recover(served)).toBe(0)
    expect([await preparedOn(first), await preparedOn(second)]).toEqual([0, 0])
    await verifyAudit(served.service.operator, caller.tenantId, 'sandbox')
  })

  const wipe = (key: string = randomUUID(), steps = 0) =>
    caller.send('/v1/account/wipe_sandbox', {
      body: { confirm: 'wipe' },
      headers: { 'Service-Factor': owner.code(steps), 'Idempotency-Key': key },
    })

  /** Spaces of the tenant and numbers of its events. */
  const events = () =>
    ask(
      url,
      `SELECT tenant_id AS space, sequence::int FROM sandbox.events WHERE tenant_id LIKE '${caller.tenantId}%' ORDER BY sequence`,
    )

  /** Starts a wipe; goes on when both workers have prepared it and the coordinator has not answered. */
  async function startHeldWipe(key?: string): Promise<{ readonly wiping: Promise<Answer> }> {
    const { answer: wiping, free } = await startAtTenant(served, caller.tenantId, () => wipe(key))
    await holdCommits(cluster.coordinator)
    await free()
    await until(
      'both to prepare',
      async () => (await preparedOn(first)) === 1 && (await preparedOn(second)) === 1,
    )
    return { wiping }
  }

  test.each([
    ['before it', () => first],
    ['after it', () => second],
  ])(
    'a wipe that two workers prepare is whole when the worker with the rows of %s is lost before it commits',
    async (_rows, lostOne) => {
      const lost = lostOne()
      const { wiping } = await startHeldWipe()
      await lost.kill()
      await letGo(cluster.coordinator)
      expect((await wiping).body.deleted).toMatchObject({ pass_template: 1, event: 1 })
      await lost.start()
      expect([await preparedOn(first), await preparedOn(second)]).toEqual(lost === first ? [1, 0] : [0, 1])
      // Until the rest is committed nobody takes the sequence or the log anywhere else.
      expect((await caller.send('/v1/pass_templates', { body: TEMPLATE })).status).toBe(503)
      expect(await recover(served)).toBe(1)
      const made = await makeTemplate(caller.send)
      const list = await caller.send('/v1/pass_templates')
      expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([made])
      expect(await events()).toEqual([
        { space: caller.tenantId, sequence: 1 },
        { space: spaceOf(caller.tenantId, 1), sequence: 2 },
      ])
    },
  )

  test('a wipe that two workers prepare is whole when the coordinator is lost after it was committed there, and was answered 503', async () => {
    const key = randomUUID()
    const { wiping } = await startHeldWipe(key)
    await forgetStandby(cluster.coordinator)
    await cluster.coordinator.kill()
    expect((await wiping).status).toBe(503)
    await cluster.coordinator.start()
    expect(await recover(served)).toBe(2)
    const again = await wipe(key, 1)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
    expect((await caller.send('/v1/pass_templates')).body.data).toEqual([])
  })

  test('a wipe that two workers prepare is undone when only one of them had prepared it and both are lost', async () => {
    const { control, pepper } = served.service.database
    const account = createAccountChanges(control, pepper, 'sandbox', served.service.clock).forTenant(
      caller.tenantId,
    )
    const wiping = account.transaction(async (db) => {
      await wipeSpace(db, caller.tenantId, served.service.clock.machine())
      await freezeTransactions(second)
    })
    const failed = expect(wiping).rejects.toBeInstanceOf(DatabaseUnavailable)
    await until('the first to prepare', async () => (await preparedOn(first)) === 1)
    await first.kill()
    await second.kill()
    await failed
    await Promise.all([first.start(), second.start()])
    expect([await preparedOn(first), await preparedOn(second)]).toEqual([1, 0])
    expect(await recover(served)).toBe(1)
    expect((await caller.send('/v1/pass_templates')).body.data).toHaveLength(1)
    await makeTemplate(caller.send)
    expect(await events()).toEqual([
      { space: caller.tenantId, sequence: 1 },
      { space: caller.tenantId, sequence: 2 },
    ])
  })
})

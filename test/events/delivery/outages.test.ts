/** A worker lives through what befalls its database, and goes on unaided. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { openGate } from '../../support/gate.ts'
import { until } from '../../support/programs.ts'
import { openRelay } from '../../support/relay.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { openStage, START, type Stage } from './setup.ts'

let stage: Stage
let receiver: Receiver
let tenantId: string
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  await stage.rows('DELETE FROM webhook_ready')
  stage.clock.now = START
})
afterEach(async () => {
  await stage.dismiss()
  receiver.close()
})

/** Pools of a worker's own, on the stage's database. */
const connect = (url: string, settings: { poolSize?: number; preparedStatements?: boolean } = {}) =>
  openDatabase({
    databaseUrl: url,
    pepper: stage.database.pepper,
    dataDir: '/nowhere',
    poolSize: 4,
    preparedStatements: true,
    ...settings,
  })

async function expectAll(endpoint: Parameters<Stage['attempts']>[0], ids: readonly string[]): Promise<void> {
  await stage.drained(tenantId)
  const attempts = await stage.attempts(endpoint)
  expect(attempts.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'))
  const arrived = new Set(receiver.got.map(({ headers }) => String(headers['service-event-id'])))
  expect([...arrived].toSorted()).toEqual(ids.toSorted())
}

test('the database goes away between sending and writing, and comes back', async () => {
  const relay = await openRelay(stage.database.url)
  const own = await connect(relay.url)
  try {
    let finish = () => {}
    const held = new Promise<void>((resolve) => {
      finish = resolve
    })
    receiver.answer = () => held.then(() => 200)
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    const ids = await stage.emit(tenantId, 20)
    const worker = stage.work({ pool: own.sandbox, pollMs: 100 })
    await until('all to be under way', () => receiver.got.length === 20)
    await until('them to be shown', async () => (await stage.attempts(endpoint)).length === 20)
    await relay.down()
    finish()
    await until('the worker to notice', () => worker.stats().failing)
    expect((await stage.attempts(endpoint)).map(({ status }) => status)).toEqual(ids.map(() => 'pending'))
    await relay.up()
    await expectAll(endpoint, ids)
    // Nothing was sent twice: the answers were kept until they could be written.
    expect(receiver.got.length).toBe(20)
    const more = await stage.emit(tenantId, 5)
    await expectAll(endpoint, [...ids, ...more])
    await until('the worker to be content', () => !worker.stats().failing)
  } finally {
    await stage.dismiss()
    await own.close()
    await relay.down()
  }
})

test('the worker continues when its backends are terminated again and again', async () => {
  const own = await connect(`${stage.database.url}?application_name=terminated`)
  const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'terminated'`
  try {
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    const ids: string[] = []
    stage.work({ pool: own.sandbox })
    for (let round = 0; round < 15; round += 1) {
      ids.push(...(await stage.emit(tenantId, 8)))
      await until('some of them', () => receiver.got.length > ids.length - 8)
      await until(
        'a backend to end',
        async () => (await stage.database.control.query({ text })).rows.length > 0,
      )
      stage.clock.shift += 21_000 // leases of what was claimed and not heard of are over
    }
    await expectAll(endpoint, ids)
  } finally {
    await stage.dismiss()
    await own.close()
  }
})

test('the worker continues when its pool is exhausted for longer than it waits for a connection', async () => {
  const own = await connect(stage.database.url, { poolSize: 1 })
  try {
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    let release = () => {}
    const held = own.sandbox.transaction(
      () =>
        new Promise<void>((resolve) => {
          release = resolve
        }),
    )
    const worker = stage.work({ pool: own.sandbox })
    const ids = await stage.emit(tenantId, 5)
    await until('the worker to notice', () => worker.stats().failing)
    release()
    await held
    await expectAll(endpoint, ids)
  } finally {
    await stage.dismiss()
    await own.close()
  }
})

/** Sessions of workers that have an open transaction and wait for its next statement. */
const listIdle = () =>
  stage.rows(`SELECT pid FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = 'svc sandbox' AND state = 'idle in transaction'`)

test('a worker that hears nothing from its database keeps no other from its tenants', async () => {
  const gate = await openGate(stage.database.url)
  const own = await connect(gate.url)
  try {
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    const first = await stage.emit(tenantId)
    const deaf = stage.work({ pool: own.sandbox, pollMs: 60_000 })
    await expectAll(endpoint, first)
    let claims = -1
    await until('it to rest', async () => {
      const before = claims
      claims = deaf.stats().claims
      await wait(200)
      return claims === before
    })
    gate.close()
    const second = await stage.emit(tenantId)
    deaf.wake(tenantId)
    if (stage.database.sandbox.distributed) {
      // A claim takes several round trips there. The server ends the transaction of the first one after ten seconds.
      await until('its transaction to be open', async () => (await listIdle()).length > 0)
      stage.work()
      await until('what the deaf one has not claimed', () => receiver.got.length === 2)
      expect(receiver.got[1]!.headers['service-event-id']).toBe(second[0])
      gate.open()
      await expectAll(endpoint, [...first, ...second])
      return
    }
    await until('it to be claimed', async () => {
      const [row] = await stage.rows<{ token: string | null }>('SELECT token FROM webhook_ready')
      return row?.token ?? false
    })
    stage.work()
    const third = await stage.emit(tenantId)
    await until('what the deaf one has not claimed', () => receiver.got.length === 2)
    expect(receiver.got[1]!.headers['service-event-id']).toBe(third[0])
    expect(deaf.stats().claims).toBeLessThanOrEqual(claims + 1)
    gate.open()
    await expectAll(endpoint, [...first, ...second, ...third])
    expect(receiver.got.length).toBe(3)
  } finally {
    gate.open()
    await stage.dismiss()
    await own.close()
    gate.end()
  }
})

test('statements without names, as behind a pooler in transaction mode', async () => {
  const own = await connect(stage.database.url, { preparedStatements: false })
  try {
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    stage.work({ pool: own.sandbox })
    await expectAll(endpoint, await stage.emit(tenantId, 50))
  } finally {
    await stage.dismiss()
    await own.close()
  }
})

test('a worker whose lease ran out while it sent writes nothing', async () => {
  let finish = (_status: number) => {}
  receiver.answer = () =>
    new Promise((resolve) => {
      finish = resolve
    })
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  const slow = stage.work()
  await stage.emit(tenantId)
  await until('the delivery', () => receiver.got.length === 1)
  const answerLate = finish
  receiver.answer = () => 201
  stage.clock.shift += 21_000
  await stage.drained(tenantId)
  answerLate(500)
  await until('the late answer', () => slow.stats().attempts.stale === 1)
  expect(await stage.attempts(endpoint)).toMatchObject([{ status: 'succeeded', response_status: 201 }])
  expect(await stage.count('webhook_waiting', tenantId)).toBe(0)
})

test('a late answer does not end the attempt that is being made again meanwhile', async () => {
  const answers: ((status: number) => void)[] = []
  receiver.answer = () =>
    new Promise((resolve) => {
      answers.push(resolve)
    })
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  const slow = stage.work()
  await stage.emit(tenantId)
  await until('the delivery', () => answers.length === 1)
  stage.clock.shift += 21_000
  await until('the second delivery', () => answers.length === 2)
  answers[0]!(200)
  await until('the late answer', () => slow.stats().attempts.stale === 1)
  await until('the attempt to be shown', async () => (await stage.attempts(endpoint)).length === 1)
  expect(await stage.attempts(endpoint)).toMatchObject([{ status: 'pending' }])
  answers[1]!(404)
  await stage.drained(tenantId)
  expect(await stage.attempts(endpoint)).toMatchObject([{ status: 'failed', response_status: 404 }])
})

test('a worker that stops lets what is under way end, and claims nothing more', async () => {
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  receiver.answer = () => held.then(() => 200)
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  const worker = stage.work({ drainMs: 10_000 })
  const ids = await stage.emit(tenantId, 3)
  await until('all to be under way', () => receiver.got.length === 3)
  const stopped = worker.stop()
  await stage.emit(tenantId)
  worker.wake()
  finish()
  await stopped
  expect(receiver.got.length).toBe(3)
  const ended = (await stage.attempts(endpoint)).filter(({ status }) => status === 'succeeded')
  expect(ended.map(({ event_id }) => event_id).toSorted()).toEqual(ids.toSorted())
})

test('a worker that stops does not wait longer than it is told to', async () => {
  receiver.answer = () => 'hang'
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  const worker = stage.work({ drainMs: 100 })
  await stage.emit(tenantId)
  await until('it to be under way', () => receiver.got.length === 1)
  await worker.stop()
  // Not yet given up: the deadline of the exchange is much later.
  expect(await stage.attempts(endpoint)).toMatchObject([{ status: 'pending' }])
})

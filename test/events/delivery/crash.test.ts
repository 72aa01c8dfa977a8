/** Workers that are killed, or stopped and woken, in processes of their own: nothing is lost and little is sent twice. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '../../../runtime/platform/ids.ts'
import { endPrograms, type Program, startProgram, until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { openStage, START, type Stage } from './setup.ts'

const LEASE_MS = 1500
const POLL_MS = 50

let stage: Stage
let receiver: Receiver
let tenantId: string
beforeAll(async () => {
  stage = await openStage()
})
afterAll(async () => {
  await endPrograms()
  await stage.close()
})
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  await stage.rows('DELETE FROM webhook_ready')
})
afterEach(async () => {
  await stage.dismiss()
  await endPrograms()
  receiver.close()
})

async function startWorker(env: Readonly<Record<string, string>> = {}): Promise<Program> {
  const { url, pepper } = stage.database
  const program = startProgram(process.execPath, ['test/events/delivery/program.ts'], {
    DATABASE_URL: url,
    SVC_PEPPER: pepper,
    LEASE_MS: String(LEASE_MS),
    SERVICE_NOW: String(START),
    ...env,
  })
  await program.ready()
  return program
}

const told = (program: Program, word: string) =>
  until(`"${word}"`, () => program.stdout().includes(`"${word}"`))

/** How often each event arrived. */
const times = () =>
  receiver.got.reduce((counts, { headers }) => {
    const id = String(headers['service-event-id'])
    return counts.set(id, (counts.get(id) ?? 0) + 1)
  }, new Map<string, number>())

test.each([
  { point: 'claimed', sent: 0 },
  { point: 'answered', sent: 1 },
  { point: 'uncommitted', sent: 1 },
  { point: 'committed', sent: 1 },
])(
  'a delivery whose worker is killed when $point is sent again within lease and poll, or not at all',
  async ({ point, sent }) => {
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    const ids = await stage.emit(tenantId, 3)
    const program = await startWorker({ POINT: point })
    await told(program, 'halted')
    await until('what is under way', () => receiver.got.length === 3 * sent)
    await program.end('SIGKILL')
    const before = new Map(receiver.got.map(({ headers, body }) => [headers['service-event-id'], body]))
    stage.work({ leaseMs: LEASE_MS, pollMs: POLL_MS })
    await stage.drained(tenantId)
    const counts = times()
    expect([...counts.keys()].toSorted()).toEqual(ids.toSorted())
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(sent + 1)
    const again = receiver.got.slice(3 * sent)
    if (point === 'committed') expect(again.length).toBeLessThan(3)
    else expect(again.length).toBe(3)
    if (sent > 0) {
      for (const { headers, body } of again) expect(body).toBe(before.get(headers['service-event-id']))
    }
    for (const attempt of await stage.attempts(endpoint)) {
      expect(attempt).toMatchObject({ attempt: 1, status: 'succeeded', response_status: 204 })
    }
  },
)

test('a worker killed in the middle of many deliveries loses none, and repeats none that were written', async () => {
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  const ids = await stage.emit(tenantId, 150)
  const program = await startWorker()
  await until('some deliveries', () => receiver.got.length >= 40)
  await program.end('SIGKILL')
  await until('all that was sent to be read', () => receiver.connections() === 0)
  const written = (await stage.attempts(endpoint)).filter(({ status }) => status === 'succeeded').length
  const sent = receiver.got.length
  stage.work({ leaseMs: LEASE_MS, pollMs: POLL_MS })
  await stage.drained(tenantId)
  expect(new Set(times().keys())).toEqual(new Set(ids))
  expect(receiver.got.length - ids.length).toBeLessThanOrEqual(sent - written)
  expect((await stage.attempts(endpoint)).map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'))
})

test('stopped for longer than its lease a worker writes nothing and sends nothing more', async () => {
  let finish = (_status: number) => {}
  receiver.answer = () =>
    new Promise((resolve) => {
      finish = resolve
    })
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  const program = await startWorker()
  await until('the delivery', () => receiver.got.length === 1)
  program.child.kill('SIGSTOP')
  const answerLate = finish
  receiver.answer = () => 201
  stage.work({ leaseMs: LEASE_MS, pollMs: POLL_MS })
  await stage.drained(tenantId)
  expect(receiver.got.length).toBe(2)
  answerLate(500)
  program.child.kill('SIGCONT')
  await told(program, 'stale')
  expect(await stage.attempts(endpoint)).toMatchObject([
    { status: 'succeeded', response_status: 201, next_attempt_at: null },
  ])
  expect(await stage.count('webhook_waiting', tenantId)).toBe(0)
  expect(receiver.got.length).toBe(2)
})

test('stopped between claim and sending for longer than its lease a worker gives it back, and claims again before it sends', async () => {
  await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  // Finding what is due and the claim ask for the time first; whoever asks then has been stopped meanwhile.
  let asked = 0
  const late = { now: () => stage.leaseClock.now() + (asked++ < 2 ? 0 : 30_000), refresh: async () => {} }
  const worker = stage.work({ leaseClock: late })
  await stage.drained(tenantId)
  // Others see the end of an attempt before the worker knows that it is on disk, and counts it.
  await until('the success to be counted', () => worker.stats().attempts.succeeded > 0)
  expect(worker.stats().attempts).toMatchObject({ lost: 0, succeeded: 1 })
  expect(receiver.got.length).toBe(1)
})

test.each(['endpoint', 'object'] as const)(
  'an endpoint ordered by %s whose worker is killed gets every event, and none of a key before the one that was lost',
  async (fifo_key) => {
    await stage.addEndpoint(tenantId, receiver.url, ['*'], { delivery: 'fifo', fifo_key })
    const keyOf = (body: string) =>
      fifo_key === 'object' ? (JSON.parse(body).data.pass.id as string) : 'all'
    const gotOf = (key: string) =>
      receiver.got
        .filter(({ body }) => keyOf(body) === key)
        .map(({ headers }) => String(headers['service-event-id']))
    // The second event of each key is sent, and not settled.
    receiver.answer = ({ body }) => (gotOf(keyOf(body)).length === 2 ? 'hang' : 204)
    const rounds: string[][] = []
    for (let round = 0; round < 4; round += 1) rounds.push(await stage.emit(tenantId, 3))
    const keys = fifo_key === 'object' ? ['pass_0', 'pass_1', 'pass_2'] : ['all']
    const sentOf = (key: string) =>
      key === 'all' ? rounds.flat() : rounds.map((ids) => ids[Number(key.at(-1))]!)
    const program = await startWorker()
    await until('the second event of each key', () => receiver.got.length === 2 * keys.length)
    await program.end('SIGKILL')
    stage.work({ leaseMs: LEASE_MS, pollMs: POLL_MS })
    await until('all events', () => times().size === 12)
    await stage.drained(tenantId)
    for (const key of keys) {
      const ids = sentOf(key)
      expect([key, gotOf(key)]).toEqual([key, [...ids.slice(0, 2), ...ids.slice(1)]])
    }
  },
)

test('a recovery whose process is killed continues in the next one, and loses no event', async () => {
  const endpoint = await stage.addEndpoint(tenantId, receiver.url, ['pass.revoked'])
  receiver.answer = () => 410
  const ids = await stage.emit(tenantId, 60)
  stage.work({ pollMs: POLL_MS })
  await until('the failures', () => receiver.got.length === 60)
  await stage.drained(tenantId)
  await stage.dismiss()
  receiver.got.length = 0
  receiver.answer = () => (receiver.got.length === 33 ? 'hang' : 204)
  const id = newId('whr')
  await stage.rows(
    `INSERT INTO webhook_recoveries (tenant_id, id, endpoint_id, since, until, scope, rate, status, before, last, reached, next_at, created, updated)
     SELECT $1, $2, $3, min(created), max(created), 'failed', 30, 'counting', 0, max(sequence), 0, now(), max(created), max(created)
       FROM events WHERE tenant_id = $1`,
    [tenantId, id, endpoint.id],
  )
  const first = await startWorker()
  await until('the second batch', () => receiver.got.length >= 33)
  await first.end('SIGKILL')
  await startWorker()
  const read = () =>
    stage.rows<{ status: string; total: number; sent: number; failed: number }>(
      'SELECT status, total, sent, failed FROM webhook_recoveries WHERE tenant_id = $1 AND id = $2',
      [tenantId, id],
    )
  await until('the end', async () => (await read())[0]?.status === 'completed')
  expect(await read()).toEqual([{ status: 'completed', total: 60, sent: 60, failed: 0 }])
  expect([...times().keys()].toSorted()).toEqual(ids.toSorted())
})

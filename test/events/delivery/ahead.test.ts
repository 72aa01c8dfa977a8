/** Attempts that are asked for by hand while the schedule is still to make them. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { promoteAttempts } from '../../../runtime/events/delivery/queries/due.ts'
import { lockAttempt, lockWaiting, retryAttempt } from '../../../runtime/events/delivery-attempts/queries.ts'
import { cancelAttempts } from '../../../runtime/events/webhook-endpoints/cancel-attempts.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Endpoint, MINUTE, openStage, START, type Stage } from './setup.ts'

let stage: Stage
let receiver: Receiver
let tenantId: string
let endpoint: Endpoint
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  stage.clock.now = START
  receiver.answer = () => 500
  endpoint = await stage.addEndpoint(tenantId, receiver.url)
})
afterEach(async () => {
  await stage.dismiss()
  receiver.close()
})

const DUE = START + 5 * MINUTE

async function arrived(number: number): Promise<void> {
  await until(`${number} deliveries`, () => receiver.got.length >= number)
  await stage.drained(tenantId)
  expect(receiver.got.length).toBe(number)
}

/** The first attempt has failed; gives the second one, which waits. */
async function failFirst(): Promise<string> {
  await stage.emit(tenantId)
  await arrived(1)
  const second = (await stage.attempts(endpoint))[1]!
  expect(second).toMatchObject({ attempt: 2, status: 'pending', trigger: 'schedule', scheduled_at: DUE })
  stage.clock.now += 1000
  return second.id
}

/** As the API does; false where it leaves the attempt to who makes it already. */
const retry = (id: string) =>
  stage.database.sandbox.transaction(async (tx) => {
    const isWaiting = await lockWaiting(tx, tenantId, id)
    const row = (await lockAttempt(tx, tenantId, endpoint.id, id))!
    if (row.status === 'pending' && !isWaiting) return false
    await retryAttempt(tx, tenantId, id, stage.clock.now)
    return true
  })

const waiting = () =>
  stage.rows<{ attempt_id: string; due_at: number }>(
    'SELECT attempt_id, due_at FROM webhook_waiting WHERE tenant_id = $1',
    [tenantId],
  )

test('success ends the schedule, and nothing says any more that something follows', async () => {
  stage.work()
  const second = await failFirst()
  receiver.answer = () => 200
  expect(await retry(second)).toBe(true)
  await arrived(2)
  expect(await stage.attempts(endpoint)).toMatchObject([
    { attempt: 1, status: 'failed', next_attempt_at: null },
    { id: second, attempt: 2, status: 'succeeded', trigger: 'manual', attempted_at: START + 1000 },
  ])
  expect(await waiting()).toEqual([])
})

test('failure leaves the schedule as it was: the attempt waits again, and shows the answer', async () => {
  stage.work()
  const second = await failFirst()
  receiver.answer = () => 418
  await retry(second)
  await arrived(2)
  const expected = [
    { attempt: 1, status: 'failed', next_attempt_at: DUE },
    {
      id: second,
      attempt: 2,
      status: 'pending',
      trigger: 'schedule',
      scheduled_at: DUE,
      response_status: 418,
    },
  ]
  expect(await stage.attempts(endpoint)).toMatchObject(expected)
  await retry(second)
  await arrived(3)
  expect(await stage.attempts(endpoint)).toMatchObject(expected)
  expect(await waiting()).toEqual([{ attempt_id: second, due_at: DUE }])
  receiver.answer = () => 500
  stage.clock.now = DUE
  await arrived(4)
  expect(await stage.attempts(endpoint)).toMatchObject([
    { attempt: 1, next_attempt_at: DUE },
    {
      attempt: 2,
      status: 'failed',
      trigger: 'schedule',
      attempted_at: DUE,
      next_attempt_at: START + 30 * MINUTE,
    },
    { attempt: 3, status: 'pending', scheduled_at: START + 30 * MINUTE },
  ])
})

test('asked for twice it is sent once; while it is under way too', async () => {
  const answers: ((status: number) => void)[] = []
  stage.work()
  const second = await failFirst()
  receiver.answer = () =>
    new Promise((resolve) => {
      answers.push(resolve)
    })
  expect(await retry(second)).toBe(true)
  expect(await retry(second)).toBe(false)
  await until('the delivery', () => answers.length === 1)
  expect(await retry(second)).toBe(false)
  // Its time comes meanwhile: nobody makes it a second time.
  stage.clock.now = DUE
  const { claims } = stage.workers[0]!.stats()
  await until('some looks', () => stage.workers[0]!.stats().claims > claims + 3)
  expect(receiver.got.length).toBe(2)
  answers[0]!(200)
  await arrived(2)
  expect((await stage.attempts(endpoint))[1]).toMatchObject({ status: 'succeeded', trigger: 'manual' })
})

test('an attempt that the schedule is making at the moment is left to it', async () => {
  let finish = (_status: number) => {}
  stage.work()
  const second = await failFirst()
  receiver.answer = () =>
    new Promise((resolve) => {
      finish = resolve
    })
  stage.clock.now = DUE
  await until('the delivery', () => receiver.got.length === 2)
  expect(await retry(second)).toBe(false)
  finish(200)
  await arrived(2)
  expect((await stage.attempts(endpoint))[1]).toMatchObject({ status: 'succeeded', trigger: 'schedule' })
})

test('disabled meanwhile: it is sent all the same, and its failure is the end', async () => {
  const worker = stage.work()
  const second = await failFirst()
  await worker.stop()
  await retry(second)
  await stage.changeEndpoint(endpoint, 'disable')
  await stage.database.sandbox.transaction((tx) =>
    cancelAttempts(tx, tenantId, endpoint.id, stage.clock.now, stage.leaseClock.now()),
  )
  stage.work()
  await arrived(2)
  expect(await stage.attempts(endpoint)).toMatchObject([
    { status: 'failed', next_attempt_at: null },
    { id: second, status: 'failed', trigger: 'manual' },
  ])
  expect(await waiting()).toEqual([])
})

test('a series from before the endpoint was enabled again does not come back with it', async () => {
  const worker = stage.work()
  const second = await failFirst()
  await worker.stop()
  await retry(second)
  await stage.changeEndpoint(endpoint, 'disable')
  await stage.changeEndpoint(endpoint, 'enable')
  stage.work()
  await arrived(2)
  expect((await stage.attempts(endpoint))[1]).toMatchObject({ status: 'failed', trigger: 'manual' })
  expect(await waiting()).toEqual([])
})

test('an earlier attempt that succeeds by hand ends the schedule too', async () => {
  stage.work()
  await failFirst()
  receiver.answer = () => 200
  const [first] = await stage.attempts(endpoint)
  await retry(first!.id)
  await arrived(2)
  expect(await stage.attempts(endpoint)).toMatchObject([
    { attempt: 1, status: 'succeeded', trigger: 'manual', next_attempt_at: null },
    { attempt: 2, status: 'canceled' },
  ])
  expect(await waiting()).toEqual([])
})

test('an attempt by hand and by the schedule at the same moment is made once, and the schedule continues', async () => {
  const worker = stage.work()
  const seconds: string[] = []
  await stage.emit(tenantId, 40)
  await arrived(40)
  await worker.stop()
  for (const { id, attempt } of await stage.attempts(endpoint)) if (attempt === 2) seconds.push(id)
  stage.clock.now = DUE
  const [byHand] = await Promise.all([
    Promise.all(seconds.map(retry)),
    ...Array.from({ length: 10 }, () => promoteAttempts(stage.database.sandbox, stage.clock.now, 5)),
  ])
  expect(byHand.length).toBe(40)
  stage.work()
  await until('the schedule to be done with them', async () => {
    const made = await stage.attempts(endpoint)
    return made.filter(({ attempt }) => attempt === 3).length === 40
  })
  await stage.drained(tenantId)
  const attempts = await stage.attempts(endpoint)
  expect(attempts.filter(({ attempt }) => attempt === 2).map(({ status }) => status)).toEqual(
    Array(40).fill('failed'),
  )
  expect(attempts.filter(({ attempt }) => attempt === 3).length).toBe(40)
  const manual = byHand.filter((each) => each).length
  expect(receiver.got.length).toBe(80 + manual)
})

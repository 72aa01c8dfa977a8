/** What happens when the last attempt fails. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '../../../runtime/platform/ids.ts'
import { until } from '../../support/programs.ts'
import { type Answer, openReceiver, type Receiver } from './receiver.ts'
import { MINUTE, openStage, START, type Stage } from './setup.ts'

let stage: Stage
let receiver: Receiver
let tenantId: string
/** Of whom workers have emitted something. */
const woken: string[] = []
beforeAll(async () => {
  stage = await openStage()
  const deliveriesDue = (space: string) => void woken.push(space)
  stage.work({ deliveriesDue })
  stage.work({ deliveriesDue })
})
afterAll(() => stage.close())
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  stage.clock.now = START
})
afterEach(() => receiver.close())

const disabledEvents = () =>
  stage.rows<{ id: string; body: string }>(
    `SELECT id, body FROM events WHERE tenant_id = $1 AND type = 'webhook_endpoint.disabled' ORDER BY sequence`,
    [tenantId],
  )

const audit = () =>
  stage.rows<{ action: string; actor_type: string; target_id: string }>(
    'SELECT action, actor_type, target_id FROM audit_log WHERE tenant_id = $1 ORDER BY sequence',
    [tenantId],
  )

/** Holds all answers back until so many requests wait for one, then gives them at once. */
function answerTogether(number: number, answer: Answer): void {
  const waiting: ((answer: Answer) => void)[] = []
  receiver.answer = () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === number) for (const each of waiting) each(answer)
    })
}

test('one of several deliveries that fail for the last time together disables the endpoint and tells', async () => {
  const failing = await stage.addEndpoint(tenantId, receiver.url)
  answerTogether(5, 500)
  await stage.emit(tenantId, 5, { attempt: 5 })
  await until('all to be under way', () => receiver.got.length === 5)
  await stage.drained(tenantId)
  expect(await stage.endpoint(failing)).toMatchObject({
    status: 'disabled',
    disabled_reason: 'retry_exhausted',
  })
  expect((await disabledEvents()).length).toBe(1)
  expect(woken).toEqual([tenantId])
  expect(await audit()).toEqual([
    { action: 'webhook_endpoint.disabled', actor_type: 'system', target_id: failing.id },
  ])
  expect((await stage.attempts(failing)).map(({ status }) => status)).toEqual(Array(5).fill('failed'))
})

test('every other enabled endpoint is told, subscribed or not', async () => {
  receiver.answer = ({ path }) => (path === '/failing' ? 500 : 200)
  const failing = await stage.addEndpoint(tenantId, `${receiver.url}/failing`)
  await stage.addEndpoint(tenantId, `${receiver.url}/all`)
  await stage.addEndpoint(tenantId, `${receiver.url}/few`, ['pass.created'])
  const off = await stage.addEndpoint(tenantId, `${receiver.url}/off`, ['webhook_endpoint.disabled'])
  await stage.changeEndpoint(off, 'disable')
  await stage.emit(tenantId, 1, { attempt: 5 })
  await until('the news', () => receiver.on('/few').length === 1 && receiver.on('/all').length === 2)
  await stage.drained(tenantId)
  expect(receiver.on('/off')).toEqual([])
  expect(receiver.on('/failing').length).toBe(1)
  const [event] = await disabledEvents()
  const news = receiver.on('/few')[0]!
  expect(news.body).toBe(event!.body)
  expect(JSON.parse(news.body)).toMatchObject({
    type: 'webhook_endpoint.disabled',
    data: { webhook_endpoint: { id: failing.id, status: 'disabled', disabled_reason: 'retry_exhausted' } },
  })
})

test('attempts that wait or are due are canceled; one that runs ends as it ends', async () => {
  let finish = (_status: number) => {}
  receiver.answer = ({ headers }) =>
    headers['service-delivery-attempt'] === '5'
      ? 500
      : headers['service-delivery-attempt'] === '4'
        ? new Promise((resolve) => {
            finish = resolve
          })
        : 503
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  await stage.drained(tenantId)
  await stage.emit(tenantId, 1, { attempt: 4 })
  await until('the fourth attempt', () => receiver.got.length === 2)
  await stage.emit(tenantId, 1, { attempt: 5 })
  await until('the end', async () => (await stage.endpoint(endpoint)).status === 'disabled')
  finish(500)
  await stage.drained(tenantId)
  const attempts = await stage.attempts(endpoint)
  expect(attempts.map(({ attempt, status }) => `${attempt} ${status}`).toSorted()).toEqual([
    '1 failed',
    '2 canceled',
    '4 failed',
    '5 failed',
  ])
  // Nothing follows any more, and none says that something would.
  expect(attempts.filter(({ next_attempt_at }) => next_attempt_at !== null)).toEqual([])
  expect(await stage.count('webhook_waiting', tenantId)).toBe(0)
})

test('a failure from before the endpoint was enabled again disables nothing', async () => {
  let finish = (_status: number) => {}
  receiver.answer = () =>
    new Promise((resolve) => {
      finish = resolve
    })
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId, 1, { attempt: 5 })
  await until('the delivery', () => receiver.got.length === 1)
  await stage.changeEndpoint(endpoint, 'disable')
  await stage.changeEndpoint(endpoint, 'enable')
  finish(500)
  await stage.drained(tenantId)
  expect((await stage.endpoint(endpoint)).status).toBe('enabled')
  expect(await disabledEvents()).toEqual([])
  expect((await stage.attempts(endpoint)).map(({ status }) => status)).toEqual(['failed'])
})

test('disabling goes from endpoint to endpoint and ends', async () => {
  receiver.answer = () => 500
  const endpoints = await Promise.all(
    ['/a', '/b', '/c'].map((path) => stage.addEndpoint(tenantId, receiver.url + path, ['pass.created'])),
  )
  const first = await stage.addEndpoint(tenantId, `${receiver.url}/first`)
  await stage.emit(tenantId, 1, { attempt: 5 })
  for (let rounds = 0; ; rounds += 1) {
    await stage.drained(tenantId)
    const [next] = await stage.rows<{ due_at: number | null }>(
      'SELECT min(due_at) AS due_at FROM webhook_waiting WHERE tenant_id = $1',
      [tenantId],
    )
    if (next!.due_at === null) break
    expect(rounds).toBeLessThan(30)
    stage.clock.now = Math.max(stage.clock.now, next!.due_at) + MINUTE
    await until('them to be taken', async () => {
      const left = 'SELECT FROM webhook_waiting WHERE tenant_id = $1 AND due_at <= $2'
      return (await stage.rows(left, [tenantId, new Date(stage.clock.now).toISOString()])).length === 0
    })
  }
  for (const endpoint of [first, ...endpoints]) {
    expect((await stage.endpoint(endpoint)).disabled_reason).toBe('retry_exhausted')
  }
  expect((await disabledEvents()).length).toBe(4)
  expect((await audit()).length).toBe(4)
})

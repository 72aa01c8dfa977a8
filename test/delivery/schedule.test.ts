/** What is sent, when it is sent again, and what the attempts tell of it. */
import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '../../runtime/ids.ts'
import { until } from '../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { MINUTE, openStage, START, type Stage } from './stage.ts'

let stage: Stage
let receiver: Receiver
let tenantId: string
beforeAll(async () => {
  stage = await openStage()
  stage.work()
})
afterAll(() => stage.close())
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  stage.clock.now = START
})
afterEach(() => receiver.close())

test('an event is sent as it was rendered, signed, and its attempt tells the answer', async () => {
  const endpoint = await stage.addEndpoint(tenantId, `${receiver.url}/hook`)
  const [eventId] = await stage.emit(tenantId)
  await until('the delivery', () => receiver.got.length === 1)
  await stage.drained(tenantId)
  const { body, headers, path } = receiver.got[0]!
  const [stored] = await stage.rows<{ body: string }>('SELECT body FROM events WHERE id = $1', [eventId])
  expect({ path, body }).toEqual({ path: '/hook', body: stored!.body })
  expect(headers).toMatchObject({
    'service-event-id': eventId,
    'service-delivery-attempt': '1',
    'content-type': 'application/json',
  })
  const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['service-signature']))!
  expect(digest).toBe(createHmac('sha256', endpoint.secret).update(`${seconds}.${body}`).digest('hex'))
  expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(5)
  expect(await stage.attempts(endpoint)).toMatchObject([
    { attempt: 1, status: 'succeeded', trigger: 'schedule', response_status: 204, attempted_at: START },
  ])
})

/** The network gets an answer before the deadline: from a slow endpoint, under load and at a stop. */
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { connect } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Network } from '../../../runtime/cards/network/network.ts'
import { until } from '../../support/programs.ts'
import { approving, authorization, startDoor, type TestDoor } from './door.ts'

const DEADLINE_MS = 1000

let door: TestDoor

beforeAll(async () => {
  door = await startDoor({
    SVC_NETWORK_DEADLINE_MS: String(DEADLINE_MS),
    SVC_MAX_REQUESTS: '10',
  })
})
afterAll(() => door.stop())
afterEach(() => {
  door.network = approving
  door.overloaded = undefined
  door.lines.length = 0
})

/** Returns by how many milliseconds a timer is late: a busy machine delays the service and its test alike. */
async function lateness(afterMs: number): Promise<number> {
  const began = performance.now()
  await wait(afterMs)
  return performance.now() - began - afterMs
}

/** Decides when the returned function is called. */
function holding(): { readonly network: Network; readonly decide: () => void } {
  const gate = Promise.withResolvers<void>()
  return {
    network: {
      exchange: async (...call) => {
        await gate.promise
        return approving.exchange(...call)
      },
    },
    decide: gate.resolve,
  }
}

test('a message that is not decided in time is answered with unavailable before the deadline', async () => {
  // The time counts from the arrival of a request, without the TLS handshake.
  await Promise.all([1, 2].map(() => door.processor.send('/v1/authorizations', authorization())))
  const { network, decide } = holding()
  door.network = network
  const message = authorization()
  const lateBy = lateness(DEADLINE_MS * 0.95)
  const [decision, acknowledgement] = await Promise.all([
    door.processor.send('/v1/authorizations', message),
    door.processor.send('/v1/reversals', {
      message_id: 'r-1',
      transaction_id: 't-1',
      sent_at: message.sent_at,
      card_number: message.card_number,
    }),
  ])
  expect(decision.body).toEqual({ message_id: message.message_id, decision: 'unavailable' })
  expect(acknowledgement.body).toEqual({ message_id: 'r-1', outcome: 'unavailable' })
  for (const { ms } of [decision, acknowledgement]) {
    expect(ms - (await lateBy)).toBeLessThan(DEADLINE_MS)
    expect(ms).toBeGreaterThan(DEADLINE_MS * 0.9)
  }
  expect(door.calls.at(-1)?.leftMs).toBeLessThanOrEqual(DEADLINE_MS * 0.9)
  decide()
  await until('the late decision in the log', () =>
    door.lines.some((line) => /after its deadline/.test(line)),
  )
})

test('a slow message of one tenant does not delay the messages of others', async () => {
  const { network, decide } = holding()
  const slow = authorization({ card_number: '4000009999999991' })
  door.network = {
    exchange: (environment, kind, message, deadline) =>
      (message.message_id === slow.message_id ? network : approving).exchange(
        environment,
        kind,
        message,
        deadline,
      ),
  }
  const first = door.processor.send('/v1/authorizations', slow)
  await until('the slow message', () => door.calls.at(-1)?.message.message_id === slow.message_id)
  const others = await Promise.all(
    Array.from({ length: 5 }, () => door.processor.send('/v1/authorizations', authorization())),
  )
  expect(others.map(({ body }) => body.decision)).toEqual(Array(5).fill('approved'))
  decide()
  await first
})

test('answered messages leave no timer behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  await door.processor.send('/v1/authorizations', authorization())
  const before = timers()
  await Promise.all(
    Array.from({ length: 50 }, () => door.processor.send('/v1/authorizations', authorization())),
  )
  // Each open connection may have timers; far fewer than messages are left.
  expect(timers() - before).toBeLessThan(25)
  expect(door.counter.underWay()).toBe(0)
})

test('a body that does not arrive in time is refused before the deadline', async () => {
  const lateBy = lateness(DEADLINE_MS * 0.9)
  const { status, body, ms } = await door.processor.send('/v1/authorizations', authorization(), {
    unfinished: '{"message_id":',
  })
  expect([status, body.error.code]).toEqual([408, 'message_too_slow'])
  expect(ms - (await lateBy)).toBeLessThan(DEADLINE_MS)
})

test('an exchange that fails is answered with unavailable, and the log has no part of the message', async () => {
  door.network = { exchange: () => Promise.reject(new Error('a statement is wrong')) }
  const message = authorization()
  const { body } = await door.processor.send('/v1/authorizations', message)
  expect(body).toEqual({ message_id: message.message_id, decision: 'unavailable' })
  expect(door.counter.unavailable.get('failed')).toBe(1)
  expect(door.lines.join()).toMatch(/a statement is wrong/)
  for (const secret of [message.card_number, 'Harbour', message.message_id])
    expect(door.lines.join()).not.toContain(secret)
})

test('an overloaded process answers with unavailable at once', async () => {
  door.overloaded = 'event_loop'
  const before = door.calls.length
  const { body } = await door.processor.send('/v1/authorizations', authorization())
  expect([body.decision, door.calls.length]).toEqual(['unavailable', before])
  door.overloaded = undefined
  const { network, decide } = holding()
  door.network = network
  const all = Array.from({ length: 14 }, () => door.processor.send('/v1/authorizations', authorization()))
  // Ten are in progress; the network does not see the others.
  await until('all messages', () => (door.counter.unavailable.get('overload') ?? 0) === 5)
  expect(door.calls.length).toBe(before + 10)
  decide()
  await Promise.all(all)
})

test('a client that disconnects costs nothing', async () => {
  const { network, decide } = holding()
  door.network = network
  const socket = connect({ port: Number(new URL(door.port.url).port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  socket.write('POST /v1/authorizations HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{')
  socket.destroy()
  await until('the end of the request', () => door.counter.underWay() === 0)
  decide()
})

// Last, because it ends the listener.
test('a listener that stops answers the messages in progress, and accepts no further connection', async () => {
  const { network, decide } = holding()
  door.network = network
  const message = authorization()
  const sent = door.processor.send('/v1/authorizations', message)
  await until('the message', () => door.calls.at(-1)?.message.message_id === message.message_id)
  const drained = door.port.drain(5000)
  const late = door.processor.with(undefined)
  await expect(late.send('/livez', {}, { method: 'GET' })).rejects.toThrow(/ECONNREFUSED/)
  decide()
  const { body, signature } = await sent
  expect([body.decision, typeof signature]).toEqual(['approved', 'string'])
  await drained
})

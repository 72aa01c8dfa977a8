/** When the client tries again, for how long it waits, and what stops it. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { type RetryClock, systemClock } from '../../generators/client-runtime/clock.ts'
import { ConnectionError, ResponseError, TimeoutError } from '../../generators/client-runtime/errors.ts'
import type { Attempt } from '../../generators/client-runtime/transport.ts'
import { type Client, clientOf, notedClock, type Scripted, serve } from './scripted.ts'

const OK: Scripted = { status: 200, body: { id: 'a' } }
const cut = (response: ServerResponse) => void response.destroy()
const hang = () => {}

const calls = {
  get: (client: Client) => client.getThing({ path: { id: 'a' } }),
  create: (client: Client) => client.createThing({ body: {} }),
  unkeyed: (client: Client) => client.pingThing(),
  update: (client: Client) => client.updateThing({ path: { id: 'a' }, body: {} }),
  remove: (client: Client) => client.deleteThing({ path: { id: 'a' } }),
}

const wish = (ms: number) => ({ error: { type: 'rate_limited', retry_after_ms: ms } })

// Chance is always a half, so the pauses are 250, 500, 1000 … on top of what the service asks for.
test.each<{
  given: [keyof typeof calls, ...Scripted[]]
  want: { sent: number; slept: number[]; error?: number }
}>([
  { given: ['get', { status: 500 }, OK], want: { sent: 2, slept: [250] } },
  {
    given: ['get', { status: 502 }, { status: 503 }, { status: 504 }, OK],
    want: { sent: 4, slept: [250, 500, 1000] },
  },
  { given: ['get', { status: 408 }, OK], want: { sent: 2, slept: [250] } },
  { given: ['get', cut, OK], want: { sent: 2, slept: [250] } },
  { given: ['remove', { status: 500 }, OK], want: { sent: 2, slept: [250] } },
  { given: ['create', { status: 500 }, OK], want: { sent: 2, slept: [250] } },
  { given: ['create', cut, OK], want: { sent: 2, slept: [250] } },
  { given: ['get', { status: 503, headers: { 'Retry-After': '2' } }, OK], want: { sent: 2, slept: [2250] } },
  {
    given: ['get', { status: 429, headers: { 'Retry-After': 'Tue, 01 Jan 2030 00:00:05 GMT' } }, OK],
    want: { sent: 2, slept: [5250] },
  },
  {
    given: ['create', { status: 429, headers: { 'Retry-After': '2' }, body: wish(1200) }, OK],
    want: { sent: 2, slept: [1450] },
  },
  {
    given: ['create', { status: 409, headers: { 'Retry-After': '1' } }, OK],
    want: { sent: 2, slept: [1250] },
  },
  { given: ['create', { status: 409 }, OK], want: { sent: 1, slept: [], error: 409 } },
  { given: ['unkeyed', { status: 503 }, OK], want: { sent: 1, slept: [], error: 503 } },
  { given: ['unkeyed', { status: 429 }, OK], want: { sent: 1, slept: [], error: 429 } },
  { given: ['update', { status: 503 }, OK], want: { sent: 1, slept: [], error: 503 } },
  {
    given: ['update', { status: 429, headers: { 'Retry-After': '1' } }, OK],
    want: { sent: 2, slept: [1250] },
  },
  { given: ['get', { status: 501 }, OK], want: { sent: 1, slept: [], error: 501 } },
  { given: ['get', { status: 404 }, OK], want: { sent: 1, slept: [], error: 404 } },
  {
    given: ['get', { status: 429, headers: { 'Retry-After': '3600' } }, OK],
    want: { sent: 1, slept: [], error: 429 },
  },
  { given: ['get', { status: 500 }], want: { sent: 4, slept: [250, 500, 1000], error: 500 } },
])('the client retries: $given → $want', async ({ given: [call, ...script], want }) => {
  const server = await serve(...script)
  const clock = notedClock()
  const result = await calls[call](clientOf(server, { clock })).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect({ sent: server.received.length, slept: clock.slept }).toEqual({ sent: want.sent, slept: want.slept })
  expect(result instanceof ResponseError ? result.status : result).toBe(want.error)
})

test('the pauses between retries stop growing', async () => {
  const server = await serve({ status: 500 })
  const clock = notedClock()
  await expect(calls.get(clientOf(server, { clock, maxRetries: 7 }))).rejects.toThrow(ResponseError)
  expect(clock.slept).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000])
})

test('one key and one body serve all attempts of a call', async () => {
  const server = await serve({ status: 500 }, cut, { status: 503 }, OK)
  await clientOf(server).createThing({ body: { name: 'n' } })
  const sent = server.received.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`)
  expect(sent).toHaveLength(4)
  expect(new Set(sent).size).toBe(1)
})

test('each attempt is told of after its end', async () => {
  const server = await serve({ status: 503, headers: { 'Request-Id': 'req_1' } }, cut, OK)
  const told: Attempt[] = []
  await calls.get(clientOf(server, { onAttempt: (attempt) => told.push(attempt) }))
  const common = { method: 'GET', url: `${server.baseUrl}/things/a`, durationMs: 0 }
  expect(told).toEqual([
    { ...common, attempt: 1, status: 503, headers: expect.any(Headers), retryInMs: 250 },
    { ...common, attempt: 2, error: expect.any(ConnectionError), retryInMs: 500 },
    { ...common, attempt: 3, status: 200, headers: expect.any(Headers) },
  ])
  expect(told[0]?.headers?.get('Request-Id')).toBe('req_1')
})

test('maxRetries of a call stands over that of the client', async () => {
  const server = await serve({ status: 500 })
  const client = clientOf(server, { maxRetries: 1 })
  await expect(client.getThing({ path: { id: 'a' } })).rejects.toThrow(ResponseError)
  await expect(client.getThing({ path: { id: 'a' }, maxRetries: 0 })).rejects.toThrow(ResponseError)
  expect(server.received).toHaveLength(3)
})

test('a service that cannot be reached is a ConnectionError with its cause', async () => {
  const server = await serve(cut)
  const failed = calls.get(clientOf(server))
  await expect(failed).rejects.toThrow(ConnectionError)
  await expect(failed).rejects.toMatchObject({ cause: expect.any(TypeError) })
  expect(server.received).toHaveLength(4)
})

test('an answer that breaks off in its body counts as none', async () => {
  const half = (response: ServerResponse) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
    response.write('{"id"', () => response.destroy())
  }
  const server = await serve(half, OK)
  expect(await calls.get(clientOf(server))).toEqual({ id: 'a' })
})

test('a head that does not come in time is a TimeoutError', async () => {
  const server = await serve(hang)
  const failed = calls.get(clientOf(server, { timeoutMs: 40, maxRetries: 1 }))
  await expect(failed).rejects.toThrow(TimeoutError)
  expect(server.received).toHaveLength(2)
})

test('the timeout covers the body: one that drips is cut off, however steadily it drips', async () => {
  let closed = false
  const server = await serve((response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    const drip = setInterval(() => response.write(' '), 5)
    response.on('close', () => {
      closed = true
      clearInterval(drip)
    })
  }, OK)
  await expect(calls.get(clientOf(server, { timeoutMs: 60, maxRetries: 0 }))).rejects.toThrow(TimeoutError)
  await expect.poll(() => closed).toBe(true)
  expect(await calls.get(clientOf(server, { timeoutMs: 2000 }))).toEqual({ id: 'a' })
})

test('a call aborted beforehand sends nothing and rejects with its reason', async () => {
  const server = await serve(OK)
  const signal = AbortSignal.abort(new Error('no longer wanted'))
  await expect(clientOf(server).getThing({ path: { id: 'a' }, signal })).rejects.toThrow('no longer wanted')
  expect(server.received).toEqual([])
})

test('a call aborted under way is not tried again', async () => {
  const controller = new AbortController()
  const server = await serve(() => controller.abort(new Error('no longer wanted')))
  const call = clientOf(server).getThing({ path: { id: 'a' }, signal: controller.signal })
  await expect(call).rejects.toThrow('no longer wanted')
  expect(server.received).toHaveLength(1)
})

test('an abort ends the pause between attempts', async () => {
  const controller = new AbortController()
  const server = await serve({ status: 503, headers: { 'Retry-After': '60' } })
  // The system's own pause, and an abort as soon as it has begun: deaf, it would take a minute.
  const clock: RetryClock = {
    ...systemClock,
    sleep(ms, signal) {
      const pause = systemClock.sleep(ms, signal)
      controller.abort(new Error('no longer wanted'))
      return pause
    },
  }
  const call = clientOf(server, { clock }).getThing({ path: { id: 'a' }, signal: controller.signal })
  await expect(call).rejects.toThrow('no longer wanted')
  expect(server.received).toHaveLength(1)
})

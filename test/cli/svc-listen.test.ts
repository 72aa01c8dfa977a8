/** What `svc listen` sends to the developer's endpoint, and how it holds on to the stream. */
import type { Socket } from 'node:net'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import * as oldClient from '../../generated/client/src/2025-11-01/index.ts'
import * as client from '../../generated/client/src/2026-05-19/index.ts'
import { ConnectionLostError } from '../../runtime/cli/keep-reading.ts'
import { deriveSecret, type ListenOptions, listen } from '../../runtime/cli/svc-listen.ts'
import { openSession } from '../../runtime/cli/svc-session.ts'
import { plain } from '../../runtime/cli/terminal/colours.ts'
import { BEFORE_EVENTS } from '../../runtime/events/emit/queries.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/programs.ts'
import { KEY, makeEvent, type StreamServer, serveEndpoint, serveHttp, serveStreams } from './stream-server.ts'

interface Listening {
  readonly printed: readonly string[]
  readonly said: readonly string[]
  /** Lines of JSON. */
  results(): unknown[]
  /** Rejects when listening failed. */
  readonly done: Promise<void>
  stop(): Promise<void>
}

/** In this process, with pauses that a test can afford. Ends with the test. */
function start(
  server: Pick<StreamServer, 'baseUrl'>,
  to: string,
  options: Partial<ListenOptions> = {},
): Listening {
  const controller = new AbortController()
  const printed: string[] = []
  const said: string[] = []
  const terminal = {
    json: true,
    print: (line: string) => void printed.push(line),
    say: (line: string) => void said.push(line),
    paint: plain,
  }
  const session = openSession({ apiKey: KEY, baseUrl: server.baseUrl })
  const done = listen(
    session,
    { to: new URL(to), giveUpMs: 5000, pauseMs: 10, signal: controller.signal, ...options },
    terminal,
  )
  done.catch(() => undefined) // most tests look at it later, or never
  const stop = () => {
    controller.abort()
    return done
  }
  onTestFinished(() => stop().catch(() => undefined))
  return { printed, said, results: () => printed.map((line) => JSON.parse(line)), done, stop }
}

test('an event is posted as its delivery would be, under the names of its version', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  start(server, endpoint.url)
  const events = [
    makeEvent(1),
    makeEvent(2, 'pass.created', '2025-11-01'),
    makeEvent(3, 'not.listed', '2027-01-01'),
  ]
  ;(await server.stream(1)).send(...events)
  expect(await endpoint.ids(3)).toEqual(events.map(({ id }) => id))
  const [first, second, third] = endpoint.delivered.map(({ headers }) => headers)
  expect(endpoint.delivered[0]).toMatchObject({ method: 'POST', url: '/hooks?from=svc' })
  expect(endpoint.delivered.map(({ body }) => body.toString())).toEqual(
    events.map((event) => JSON.stringify(event)),
  )
  expect(first).toMatchObject({
    'content-type': 'application/json',
    'service-event-id': events[0]?.id,
    'service-delivery-attempt': '1',
    'service-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    'accept-encoding': 'identity',
  })
  expect(first).not.toHaveProperty('authorization')
  expect(second).toHaveProperty('x-service-signature')
  expect(second).not.toHaveProperty('service-signature')
  expect(third).toMatchObject({ 'service-event-id': events[2]?.id, 'service-signature': expect.any(String) })

  const secret = deriveSecret(KEY)
  const [one, two] = endpoint.delivered
  expect(await client.unwrap(one!.body, one!.headers, secret)).toEqual(events[0])
  expect(await oldClient.unwrap(two!.body, two!.headers, secret)).toEqual(events[1])
})

test('the secret follows from the key, is said once, and does not give the key away', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  const { said, printed } = start(server, endpoint.url)
  ;(await server.stream(1)).send(makeEvent(1))
  await endpoint.ids(1)
  const secret = deriveSecret(KEY)
  expect(secret).toMatch(/^whsec_[\w-]{43}$/)
  expect(deriveSecret(KEY)).toBe(secret)
  expect(deriveSecret(`${KEY}x`)).not.toBe(secret)
  expect(said.filter((line) => line.includes(secret))).toHaveLength(1)
  expect([...said, ...printed].join('\n')).not.toContain(KEY)
})

test('a secret of the developer’s own signs, and is not repeated', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  const { said } = start(server, endpoint.url, { secret: 'whsec_mine' })
  ;(await server.stream(1)).send(makeEvent(1))
  await endpoint.ids(1)
  const [{ body, headers }] = endpoint.delivered as [(typeof endpoint.delivered)[number]]
  expect(await client.unwrap(body, headers, 'whsec_mine')).toMatchObject({ type: 'pass.created' })
  expect(said.join('\n')).not.toContain('whsec_')
})

test('each event has a line with what the endpoint made of it', async () => {
  const server = await serveStreams()
  const endpoint = await serveEndpoint((n, response) => {
    if (n === 2) response.destroy()
    else if (n === 3) response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()
    else if (n === 4)
      response.writeHead(200).write('x'.repeat(1 << 20)) // and no end
    else if (n === 5)
      response.writeHead(200).flushHeaders() // and no body
    else response.writeHead(n === 1 ? 204 : 500).end()
  })
  const { results } = start(server, endpoint.url, { timeoutMs: 300 })
  ;(await server.stream(1)).send(...[1, 2, 3, 4, 5, 6].map((n) => makeEvent(n)))
  await until('six results', () => results().length === 6)
  expect(results()).toMatchObject([
    { id: makeEvent(1).id, type: 'pass.created', version: '2026-05-19', status: 204 },
    { error: 'connection reset' },
    { status: 302 },
    { status: 200 },
    { error: 'no response within 0.3 s' },
    { status: 500 },
  ])
  expect(results()[0]).toMatchObject({ created: expect.any(String), duration_ms: expect.any(Number) })
})

test('an endpoint that is not there is told of, and missed by no later event', async () => {
  const [server, away] = [await serveStreams(), await freePort()]
  const { results } = start(server, `http://localhost:${away}/`)
  ;(await server.stream(1)).send(makeEvent(1))
  await until('the result', () => results().length === 1)
  expect(results()).toMatchObject([{ error: 'connection refused' }])
})

test('svc listen forwards only the types that are asked for, and passes over the others', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  start(server, endpoint.url, { types: new Set(['pass.revoked']) })
  const stream = await server.stream(1)
  stream.send(makeEvent(1), makeEvent(2, 'pass.revoked'), makeEvent(3))
  expect(await endpoint.ids(1)).toEqual([makeEvent(2).id])
  await until('the last one is behind', () => {
    stream.end()
    return server.streams.length === 2
  })
  expect((await server.stream(2)).headers['last-event-id']).toBe(makeEvent(3).id)
})

test('svc listen begins with now, or behind the event that it is told', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  server.events.push(makeEvent(1), makeEvent(2))
  start(server, endpoint.url)
  expect((await server.stream(1)).headers['last-event-id']).toBeUndefined()
  start(server, endpoint.url, { since: makeEvent(1).id })
  expect((await server.stream(2)).headers['last-event-id']).toBe(makeEvent(1).id)
})

test('svc listen continues behind the last event after a break, without loss and without repeating', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  const { said } = start(server, endpoint.url)
  const first = await server.stream(1)
  expect(first.headers['last-event-id']).toBeUndefined()
  first.send(makeEvent(1), makeEvent(2))
  first.write(
    `id: ${makeEvent(3).id}\nevent: pass.created\ndata: ${JSON.stringify(makeEvent(3)).slice(0, 40)}`,
  )
  await endpoint.ids(2)
  first.cut()
  const second = await server.stream(2)
  expect(second.headers['last-event-id']).toBe(makeEvent(2).id)
  second.send(makeEvent(3))
  await endpoint.ids(3)
  second.end()
  const third = await server.stream(3)
  expect(third.headers['last-event-id']).toBe(makeEvent(3).id)
  third.send(makeEvent(4))
  expect(await endpoint.ids(4)).toEqual([1, 2, 3, 4].map((n) => makeEvent(n).id))
  expect(said.filter((line) => line.startsWith('Not connected'))).toHaveLength(2)
})

test.each([
  ['of an account in which nothing has happened yet', []],
  ['of another', [makeEvent(1), makeEvent(2)]],
])('an event between the first two connections %s is not lost', async (_, events) => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  server.events.push(...events)
  const { said } = start(server, endpoint.url)
  const first = await server.stream(1)
  await until('the client to know where it is', () => said.some((line) => line.startsWith('Connected')))
  server.events.push(makeEvent(3))
  first.cut()
  const second = await server.stream(2)
  expect(second.headers['last-event-id']).toBe(events.at(-1)?.id ?? BEFORE_EVENTS)
})

test('a slow endpoint loses nothing: what it cannot take yet waits, in order', async () => {
  const server = await serveStreams()
  const held: (() => void)[] = []
  const endpoint = await serveEndpoint((_, response) => void held.push(() => response.writeHead(200).end()))
  start(server, endpoint.url, { silenceMs: 200 })
  const first = await server.stream(1)
  first.send(...[1, 2, 3].map((n) => makeEvent(n)))
  await endpoint.ids(1)
  // The stream breaks, and longer passes than a silence may last, while the first event is still being dealt with.
  first.cut()
  await wait(400)
  expect(endpoint.delivered).toHaveLength(1)
  held.shift()?.()
  const seen = new Set<string>()
  await until('all have come', async () => {
    held.shift()?.()
    for (const [index, stream] of server.streams.entries()) {
      const after = Number(/\d+$/.exec(String(stream.headers['last-event-id']))?.[0])
      if (index > 0 && !seen.has(`${index}`)) {
        seen.add(`${index}`)
        stream.send(...[1, 2, 3].filter((n) => n > after).map((n) => makeEvent(n)))
      }
    }
    return endpoint.delivered.length === 3
  })
  expect(await endpoint.ids(3)).toEqual([1, 2, 3].map((n) => makeEvent(n).id))
})

test('a stream that says nothing counts as broken, one that comments does not', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  const { said } = start(server, endpoint.url, { silenceMs: 300 })
  const first = await server.stream(1)
  let comments = 0
  const commenting = setInterval(() => {
    comments += 1
    first.write(':\n\n')
  }, 50)
  await until('comments for longer than a silence', () => comments >= 10)
  clearInterval(commenting)
  expect(server.streams).toHaveLength(1)
  await server.stream(2)
  expect(said).toContain('Not connected: no data received for 0.3 s. Retrying …')
  await until('the silent one was let go', () => first.closed)
})

test('an answer that does not begin counts as broken too', async () => {
  const sockets: Socket[] = []
  const baseUrl = await serveHttp((request) => void sockets.push(request.socket))
  const { done } = start({ baseUrl }, 'http://127.0.0.1:1/', {
    since: makeEvent(1).id,
    silenceMs: 50,
    giveUpMs: 400,
  })
  await expect(done).rejects.toThrow(/^no connection for 0.4 s: /)
  expect(sockets.length).toBeGreaterThan(1)
})

test.each([
  [400, 'an event that is not kept'],
  [401, 'a revoked key'],
  [403, 'a key that may not read'],
  [404, 'no stream'],
  [410, 'a version that is gone'],
  [302, 'elsewhere'],
])('%s ends svc listen at once: %s', async (status, code) => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  server.refusals.push({ status, code, headers: { Location: 'http://127.0.0.1:1/' } })
  const { done } = start(server, endpoint.url)
  await expect(done).rejects.toThrow(ConnectionLostError)
  await expect(done).rejects.toThrow(
    status === 302 ? 'redirects to a different address' : `the API returned ${status}: It is ${code}.`,
  )
  expect(server.streams).toHaveLength(0)
})

test('a refusal on the way ends it too, after what came before has been dealt with', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  const { done, said } = start(server, endpoint.url)
  const first = await server.stream(1)
  server.refusals.push({ status: 401, code: 'revoked' })
  first.send(makeEvent(1), makeEvent(2))
  first.end()
  await expect(done).rejects.toThrow('the API returned 401: It is revoked.')
  expect(await endpoint.ids(2)).toHaveLength(2)
  expect(said).toContain(`To resume after the last event: --since ${makeEvent(2).id}`)
})

test('svc listen waits as long as it is asked to for a refusal that passes', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  server.refusals.push({ status: 503 }, { status: 429, headers: { 'Retry-After': '1' } }, { status: 500 })
  const startedAt = performance.now()
  const { said } = start(server, endpoint.url)
  ;(await server.stream(1)).send(makeEvent(1))
  await endpoint.ids(1)
  expect(performance.now() - startedAt).toBeGreaterThan(1000)
  expect(said.filter((line) => line.startsWith('Not connected'))).toHaveLength(3)
})

test('svc listen without a connection gives up, and says why', async () => {
  const away = await freePort()
  const { done } = start({ baseUrl: `http://127.0.0.1:${away}` }, 'http://127.0.0.1:1/', { giveUpMs: 300 })
  await expect(done).rejects.toThrow(
    `no connection for 0.3 s: cannot reach http://127.0.0.1:${away}: connection refused`,
  )
})

test('svc listen does not take another server that answers with a page for the stream', async () => {
  const baseUrl = await serveHttp(
    (_, response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('hi'),
  )
  const { done } = start({ baseUrl }, 'http://127.0.0.1:1/', { since: makeEvent(1).id })
  await expect(done).rejects.toThrow('the API did not return an event stream: the content type is text/html')
})

test('svc listen stops at once when it is told to, even while the endpoint thinks', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint(() => {})]
  const { stop, said, printed } = start(server, endpoint.url, { since: makeEvent(1).id })
  const stream = await server.stream(1)
  stream.send(makeEvent(2))
  await endpoint.ids(1)
  await stop()
  expect(printed).toEqual([])
  // The one under way may not have been dealt with.
  expect(said.at(-1)).toBe(`To resume after the last event: --since ${makeEvent(1).id}`)
  await until('the stream is let go', () => stream.closed)
})

test('svc listen stops at once when nothing comes, whatever was collected since it connected', async () => {
  const server = await serveStreams()
  const { said, stop } = start(server, 'http://127.0.0.1:1/')
  const stream = await server.stream(1)
  await until('the connection', () => said.some((line) => line.startsWith('Connected')))
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  for (let times = 0; times < 3; times++) {
    collect()
    await turn() // what is registered as gone is dealt with in turns of its own
  }
  const stopped = stop()
  await until('the stream is let go', () => stream.closed)
  await stopped
  expect(said.filter((line) => line.startsWith('Not connected'))).toEqual([])
})

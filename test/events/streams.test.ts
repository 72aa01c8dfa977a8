/** Live streams of events over HTTP: nothing lost, nothing twice, ended when they have to end. */
import { EventEmitter } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEventStreams, type EventStreams } from '../../runtime/events/emit/streams.ts'
import { createWakeUps } from '../../runtime/events/emit/wake-ups.ts'
import { revokeKey } from '../../runtime/tenants/admin/keys.ts'
import { makeTemplate, refusal, speakFor, TEMPLATE } from '../api/fixtures.ts'
import { until } from '../support/programs.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const service = useService({ watched: true })
let tenantId: string
let send: Send
let secret: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  secret = (await makeKey(service, tenantId, { scope: 'read' })).secret
})

const opened: AbortController[] = []
afterEach(() => {
  for (const each of opened.splice(0)) each.abort()
})

/** Opens a stream and gathers what it says. */
async function watch(headers: Record<string, string> = {}, key = secret, url = service.urls.sandbox) {
  const closing = new AbortController()
  opened.push(closing)
  const response = await fetch(`${url}/v1/events/stream`, {
    headers: { Authorization: `Bearer ${key}`, ...headers },
    signal: closing.signal,
  })
  let text = ''
  let ended = false
  const reading = (async () => {
    if (!response.ok) return
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  })()
    .catch(() => {}) // closed by the test
    .finally(() => {
      ended = true
    })
  return {
    response,
    text: () => text,
    ids: () => [...text.matchAll(/^id: (.*)\nevent: /gm)].map(([, id]) => id),
    hasEnded: () => ended,
    close: async () => {
      closing.abort()
      await reading
    },
  }
}

/** Ids of everything that happened, in the order of the commits. */
async function happened(): Promise<string[]> {
  const { rows } = await service.database.control.query<{ id: string }>(
    { text: 'SELECT id FROM sandbox.events WHERE tenant_id = $1 ORDER BY sequence' },
    [tenantId],
  )
  return rows.map(({ id }) => id)
}

test('a stream says each event as it happens, as it was rendered', async () => {
  const stream = await watch()
  expect(stream.response.status).toBe(200)
  expect(stream.response.headers.get('Content-Type')).toBe('text/event-stream')
  expect(stream.response.headers.get('X-RateLimit-Resource')).toBe('read')
  const greeting = 'id: evt_00000000000000000000000000\n:\n\n'
  await until('the stream to begin', () => stream.text() === greeting)
  await makeTemplate(send)
  await until('the event', () => stream.ids().length === 1)
  const [event] = (await send('/v1/events')).body.data
  expect(stream.text()).toBe(
    `${greeting}id: ${event.id}\nevent: pass_template.created\ndata: ${JSON.stringify(event)}\n\n`,
  )
})

test('a stream resumes after the last event seen, without loss or repeat, also over what came in between', async () => {
  const before = (await happened()).length
  const first = await watch()
  await until('the stream to begin', () => first.text() !== '')
  await Promise.all(Array.from({ length: 20 }, () => makeTemplate(send)))
  await until('some events', () => first.ids().length > 3)
  await first.close()
  const seen = first.ids()
  await Promise.all(Array.from({ length: 20 }, () => makeTemplate(send)))
  const second = await watch({ 'Last-Event-ID': seen.at(-1)! })
  await until('the rest', () => seen.length + second.ids().length >= 40)
  expect([...seen, ...second.ids()]).toEqual((await happened()).slice(before))
})

test('a stream says where it starts, for a client that loses it before the first event', async () => {
  const newest = (await happened()).at(-1)!
  const stream = await watch()
  await until('the stream to begin', () => stream.text() !== '')
  expect(stream.text()).toBe(`id: ${newest}\n:\n\n`)
  const fresh = await watch({ 'Last-Event-ID': 'evt_00000000000000000000000000' })
  await until('everything', () => fresh.ids().at(-1) === newest)
  expect(fresh.ids()).toEqual(await happened())
})

test('a stream reads on through more than it takes at once', async () => {
  const templateId = await makeTemplate(send)
  const [last] = (await happened()).slice(-1)
  const passes = Array(100).fill({ template_id: templateId })
  await send('/v1/passes/batch', { body: { passes } })
  await send('/v1/passes/batch', { body: { passes } })
  await send('/v1/passes/batch', { body: { passes: passes.slice(0, 50) } })
  const stream = await watch({ 'Last-Event-ID': last! })
  await until('all of them', () => stream.ids().length >= 250)
  expect(stream.ids()).toEqual((await happened()).slice(-250))
})

describe('refuses', () => {
  test('an event that is not kept', async () => {
    const { response } = await watch({ 'Last-Event-ID': 'evt_00000000000000000000000001' })
    const { error } = (await response.json()) as { error: { code: string; param: string } }
    expect([response.status, error.param]).toEqual([400, 'Last-Event-ID'])
  })

  test('a stream refuses another tenant’s event in the same words', async () => {
    const other = await speakFor(service, await makeTenant(service))
    await makeTemplate(other)
    const [event] = (await other('/v1/events')).body.data
    const { response } = await watch({ 'Last-Event-ID': event.id })
    expect(response.status).toBe(400)
  })

  test('the fifth at once, until one has gone', async () => {
    const streams = await Promise.all(Array.from({ length: 4 }, () => watch()))
    const fifth = await speak(service.urls.sandbox, { secret })('/v1/events/stream')
    expect(refusal(fifth)).toEqual([429, 'rate_limited', 'tenant_limit'])
    await streams[0]!.close()
    await until('a place', async () => (await watch()).response.status === 200)
  })

  test('a live environment has no event stream', async () => {
    const { secret: live } = await makeKey(service, tenantId, { environment: 'live' })
    expect((await watch({}, live, service.urls.live)).response.status).toBe(404)
  })
})

test('a stream counts as no concurrent request', async () => {
  await watch()
  const templateId = await makeTemplate(send)
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => send(`/v1/pass_templates/${templateId}`)),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(64).fill(200))
})

test('a stream ends when its key is revoked', async () => {
  const key = await makeKey(service, tenantId, { scope: 'read' })
  const stream = await watch({}, key.secret)
  await until('the stream to begin', () => stream.text() !== '')
  await revokeKey(service.operator, key.id)
  service.forget()
  await until('the end', stream.hasEnded, 3000)
})

test('a stream continues while the database is away, and misses nothing', async () => {
  const stream = await watch()
  await until('the stream to begin', () => stream.text() !== '')
  await service.database.control.query({
    text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  })
  // A connection that was idle may be found dead by the first who wants it.
  await until('a write', async () => (await send('/v1/pass_templates', { body: TEMPLATE })).status === 201)
  const [last] = (await happened()).slice(-1)
  await until('the event', () => stream.ids().includes(last!))
})

describe('by itself', () => {
  type Client = NonNullable<Parameters<EventStreams['open']>[0]['response']>
  const open = (isLeaving: () => boolean, response?: Client, pollMs = 20) =>
    createEventStreams({
      database: service.database.sandbox,
      environment: 'sandbox',
      wakeUps: createWakeUps(),
      isLeaving,
      pollMs,
      commentMs: pollMs * 2.5,
    }).open({
      ...(response && { response }),
      after: { sequence: 1_000_000, id: 'evt_last' },
      types: new Set(),
      findSpace: async () => tenantId,
    })

  test('a stream says something now and then, so that it is not taken for dead', async () => {
    let leaving = false
    const said: string[] = []
    const began = performance.now()
    for await (const text of open(() => leaving)) {
      said.push(text)
      leaving = said.length === 3
    }
    expect(said).toEqual(['id: evt_last\n:\n\n', ':\n\n', ':\n\n'])
    expect(performance.now() - began).toBeGreaterThan(90)
  })

  test('a stream ends when the process does', async () => {
    let leaving = false
    const iterator = open(() => leaving)[Symbol.asyncIterator]()
    await iterator.next()
    const next = iterator.next()
    await wait(0)
    leaving = true
    expect((await next).done).toBe(true)
  })

  test('a stream without events ends when its client goes, not at its next word', async () => {
    const response = Object.assign(new EventEmitter(), { destroyed: false })
    const iterator = open(() => false, response, 600_000)[Symbol.asyncIterator]()
    await iterator.next()
    const next = iterator.next()
    await wait(0)
    response.destroyed = true
    response.emit('close')
    expect((await next).done).toBe(true)
  })
})

/** `svc logs`: the requests of the account, against the service itself, and how `svc logs tail` holds on to it. */
import type { ServerResponse } from 'node:http'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { followLogs } from '../../runtime/cli/follow-logs.ts'
import { ConnectionLostError } from '../../runtime/cli/keep-reading.ts'
import { openSession } from '../../runtime/cli/svc-session.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { endPrograms, startProgram, until } from '../support/programs.ts'
import { makeKey, makeTenant, speak, useService } from '../support/service.ts'
import { KEY, serveHttp } from './stream-server.ts'

const service = useService({ logsRequests: true, keepsTime: true })
afterEach(endPrograms)

async function makeMerchant() {
  const { secret } = await makeKey(service, await makeTenant(service), { scope: 'admin' })
  const env = { SVC_API_KEY: secret, SVC_BASE_URL: service.urls.sandbox, TZ: 'UTC' }
  const start = (...words: readonly string[]) =>
    startProgram(process.execPath, ['runtime/cli/svc.ts', 'logs', ...words], env)
  return {
    send: speak(service.urls.sandbox, { secret }),
    start,
    run: (...words: string[]) => start(...words).ended,
  }
}

const requestId = ({ headers }: { headers: Headers }) => headers.get('Request-Id')!

const readLines = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('the list is a table, newest first, or lines of JSON, and is narrowed by options', async () => {
  const { send, run } = await makeMerchant()
  expect(await run('list')).toMatchObject({ code: 0, stdout: '', stderr: 'No requests found.\n' })
  const missing = requestId(await send('/v1/passes/pass_00000000000000000000000000'))
  const refused = requestId(await send('/v1/scans?x', { body: {} }))
  const me = requestId(await send('/v1/me'))
  await service.flush()
  const [head, ...rows] = (await run('list')).stdout.trimEnd().split('\n')
  expect(head).toMatch(/^CREATED +STATUS +METHOD +PATH +REQUEST +DURATION +ERROR$/)
  expect(rows.map((row) => row.split(/ {2,}/).toSpliced(5, 1))).toEqual([
    ['2026-06-01T12:00:00.000Z', '200', 'GET', '/v1/me', me],
    ['2026-06-01T12:00:00.000Z', '400', 'POST', '/v1/scans?x', refused, 'unknown_parameter'],
    [
      '2026-06-01T12:00:00.000Z',
      '404',
      'GET',
      '/v1/passes/pass_00000000000000000000000000',
      missing,
      'not_found',
    ],
  ])
  const { body } = await send('/v1/request_logs')
  expect(readLines((await run('list', '--json')).stdout)).toEqual(body.data)
  for (const [words, wanted] of [
    [
      ['--status', '4xx'],
      [refused, missing],
    ],
    [['--method', 'post'], [refused]],
    [['--path', '/v1/me'], [me]],
    [['--operation', 'getPass'], [missing]],
    [['--request-id', me], [me]],
    [['--limit', '1'], [me]],
  ] as const) {
    const { stdout } = await run('list', ...words, '--json')
    expect([words, readLines(stdout).map(({ id }) => id)]).toEqual([words, wanted])
  }
})

test('a tail prints requests as they come, each once, and none of its own', async () => {
  const { send, start } = await makeMerchant()
  await send('/v1/me')
  await service.flush()
  service.clock.now += 1000
  const lines = start('tail')
  const json = start('tail', '--json', '--status', '4xx')
  for (const tail of [lines, json]) await until('the tail', () => tail.stderr().includes('Press Ctrl-C'))
  const first = await send('/v1/passes?limit=1')
  const second = await send('/v1/nothing')
  await until('two lines', () => lines.stdout().split('\n').length === 3)
  await until('one line of JSON', () => json.stdout().includes('\n'))
  const third = await send('/v1/me')
  await until('three lines', () => lines.stdout().split('\n').length === 4)
  const shown = await lines.end('SIGINT')
  expect(shown.code).toBe(0)
  expect(shown.stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(
      new RegExp(`^12:00:\\d\\d  200  GET     /v1/passes\\?limit=1 +${requestId(first)} +[\\d.]+ ms$`),
    ),
    expect.stringMatching(
      new RegExp(`^12:00:\\d\\d  404  GET     /v1/nothing +${requestId(second)} +[\\d.]+ ms  not_found$`),
    ),
    expect.stringMatching(new RegExp(`^12:00:\\d\\d  200  GET     /v1/me +${requestId(third)} +[\\d.]+ ms$`)),
  ])
  const { code, stdout } = await json.end('SIGTERM')
  expect([code, readLines(stdout).map(({ id, object }) => [id, object])]).toEqual([
    0,
    [[requestId(second), 'request_log']],
  ])
})

test.each([
  [['tail', '--status', '9xx'], '--status <status>'],
  [['tail', '--method', 'FETCH'], '--method <method>'],
  [['list', '--request-id', 'pass_1'], '--request-id <id>'],
  [['list', '--path', 'passes'], '--path <path>'],
])('%j is refused before anything is asked', async (words, option) => {
  const { run } = await makeMerchant()
  const { code, stdout, stderr } = await run(...words)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(`option '${option}' argument '${words.at(-1)}' is invalid`)
})

test('a key without the scope is told which one it takes', async () => {
  const { secret } = await makeKey(service, await makeTenant(service), { scope: 'read' })
  const env = { SVC_API_KEY: secret, SVC_BASE_URL: service.urls.sandbox }
  const words = ['runtime/cli/svc.ts', 'logs', 'tail', '--json']
  const { code, stderr } = await startProgram(process.execPath, words, env).ended
  expect(code).toBe(1)
  expect(JSON.parse(stderr.trimEnd().split('\n').at(-1)!).error.message).toContain('scope admin')
})

interface Log {
  readonly id: string
  readonly created: string
  readonly operation: string
}

type Refusal = (response: ServerResponse) => void

/** A service whose log a test writes. Its clock stands at `now`. */
async function serveLogs() {
  const logs: Log[] = []
  const refusals: Refusal[] = []
  const asked: URLSearchParams[] = []
  const clock = { now: Date.parse('2026-06-01T12:00:00Z') }
  const baseUrl = await serveHttp((request, response) => {
    const { searchParams } = new URL(request.url!, 'http://localhost')
    asked.push(searchParams)
    const refuse = refusals.shift()
    if (refuse) return refuse(response)
    const since = searchParams.get('created[gte]') ?? ''
    const from = Number(searchParams.get('starting_after') ?? 0)
    const found = logs
      .filter(({ created }) => created >= since)
      .sort((a, b) => (a.created + a.id < b.created + b.id ? 1 : -1))
    const data = found.slice(from, from + 100)
    const next_cursor = found.length > from + 100 ? String(from + 100) : null
    response.writeHead(200, { 'Content-Type': 'application/json', 'Request-Id': newId('req', clock.now) })
    response.end(JSON.stringify({ data, has_more: next_cursor !== null, next_cursor }))
  })
  const add = (secondsAgo = 0, operation = 'getPass') => {
    const created = clock.now - secondsAgo * 1000
    const log = { id: newId('req', created), created: new Date(created).toISOString(), operation }
    logs.push(log)
    return log.id
  }
  return { baseUrl, clock, add, refusals, asked }
}

/** Follows in this process, with pauses that a test can afford. Ends with the test. */
function follow({ baseUrl }: { baseUrl: string }, giveUpMs = 5000) {
  const controller = new AbortController()
  const { client } = openSession({ apiKey: KEY, baseUrl })
  const ids: string[] = []
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  const { signal } = controller
  const run = async () => {
    const options = { client, baseUrl, filter: {}, giveUpMs, pauseMs: 10, pollMs: 5, signal, say }
    for await (const { id } of followLogs(options)) ids.push(id)
  }
  const done = run()
  done.catch(() => undefined) // most tests look at it later, or never
  onTestFinished(() => controller.abort())
  const connected = () => until('the connection', () => said.some((line) => line.startsWith('Connected')))
  const shown = (count: number) => until(`${count} requests`, () => ids.length >= count)
  return { ids, said, done, connected, shown }
}

/** Lets a few polls go by. */
const pollsOf = async ({ asked }: { asked: readonly unknown[] }, count = 3) => {
  const before = asked.length
  await until('further polls', () => asked.length >= before + count)
}

test('svc logs --follow does not show earlier requests, and shows those written late once', async () => {
  const server = await serveLogs()
  server.add(1)
  const tail = follow(server)
  await tail.connected()
  server.clock.now += 5000
  const second = server.add(1)
  await tail.shown(1)
  const late = server.add(3)
  await tail.shown(2)
  await pollsOf(server)
  expect(tail.ids).toEqual([second, late])
})

test('more requests than a page has are shown in order', async () => {
  const server = await serveLogs()
  const tail = follow(server)
  await tail.connected()
  server.clock.now += 5000
  const ids = Array.from({ length: 250 }, (_, index) => server.add(4 - index / 100))
  await tail.shown(250)
  await pollsOf(server)
  expect(tail.ids).toEqual(ids)
})

test('refusals that pass and lost connections leave nothing out and show nothing twice', async () => {
  const server = await serveLogs()
  const tail = follow(server)
  await tail.connected()
  server.clock.now += 1000
  const before = server.add()
  await tail.shown(1)
  const error = { type: 'rate_limited', code: 'tenant_limit', message: 'Too many.' }
  server.refusals.push(
    (response) => {
      response.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '0' })
      response.end(JSON.stringify({ error }))
    },
    (response) => void response.destroy(),
    (response) => void response.writeHead(503).end(),
  )
  await until('the refusals', () => server.refusals.length === 0)
  server.add(0, 'listRequestLogs') // the poll that was refused, which the service logs
  // The connection was away for longer than the tail looks back.
  server.clock.now += 600_000
  const meanwhile = server.add(500)
  const after = server.add()
  await tail.shown(3)
  await pollsOf(server)
  expect(tail.ids).toEqual([before, meanwhile, after])
  expect(tail.said.filter((line) => line.startsWith('Not connected'))).toHaveLength(3)
  expect(tail.said.filter((line) => line.startsWith('Connected'))).toHaveLength(2)
})

test('svc logs waits as long as the service asks', async () => {
  const server = await serveLogs()
  const tail = follow(server)
  await tail.connected()
  let refusedAt = 0
  server.refusals.push((response) => {
    refusedAt = performance.now()
    response.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '1' }).end('{}')
  })
  await until('the refusal', () => refusedAt > 0)
  const count = server.asked.length
  await until('the next poll', () => server.asked.length > count)
  expect(performance.now() - refusedAt).toBeGreaterThan(990)
})

test('a last refusal ends it, and so does a service that stays away', async () => {
  const server = await serveLogs()
  server.refusals.push((response) => void response.writeHead(403).end())
  await expect(follow(server).done).rejects.toThrow(ConnectionLostError)
  const away = follow({ baseUrl: 'http://127.0.0.1:1' }, 100)
  await expect(away.done).rejects.toThrow(/no connection for 0\.1 s/)
})

test('svc logs tail names the header that a proxy removes', async () => {
  const server = await serveLogs()
  server.refusals.push((response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ data: [], has_more: false, next_cursor: null }))
  })
  const refused = await follow(server).done.catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ConnectionLostError)
  expect(String(refused)).toContain('no Request-Id header')
})

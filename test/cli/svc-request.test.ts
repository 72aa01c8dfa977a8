/** `svc get` and its like: what is sent, what is shown of the answer, and what is said of a refusal. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { readPath } from '../../runtime/cli/svc-request.ts'
import { wantsColours } from '../../runtime/cli/terminal/colours.ts'
import { COMPILED, ROOT } from '../support/programs.ts'
import { KEY, serveHttp } from './stream-server.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

interface Asked {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const reply =
  (status: number, body: unknown, headers = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

/** Answers in turn, the last one again and again. */
async function serve(...answers: readonly Answer[]) {
  const asked: Asked[] = []
  const url = await serveHttp(async (request, response) => {
    const { method, url, headers } = request
    asked.push({ method, url, headers, body: await text(request) })
    const answer = answers[Math.min(asked.length, answers.length) - 1]
    answer?.(request, response)
  })
  return { url, asked }
}

async function run(url: string, words: readonly string[], { input = '', env = {} } = {}) {
  const ours = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: COMPILED }
  const variables = { ...ours, SVC_API_KEY: KEY, SVC_BASE_URL: url, ...env }
  const child = spawn(process.execPath, ['runtime/cli/svc.ts', ...words], { cwd: ROOT, env: variables })
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  expect(stdout + stderr).not.toContain(KEY)
  return { code: child.exitCode, stdout, stderr }
}

const DONE = { id: 'pass_1' }

test('a list is a table for people, with how to go on; for programs it is what the service answered', async () => {
  const record = (id: string, name: string | null) => ({
    id,
    object: 'pass_template',
    name,
    fields: [],
    note: null,
    created: '2026-06-01T12:00:00.000Z',
    updated: '2026-06-01T12:00:00.000Z',
  })
  const page = {
    data: [record('tpl_1', 'Coffee'), record('tpl_22', null)],
    has_more: true,
    next_cursor: 'c/1',
  }
  const { url } = await serve(reply(200, page))
  expect(await run(url, ['get', '/v1/pass_templates?limit=2'])).toEqual({
    code: 0,
    stdout: [
      'ID      NAME    CREATED',
      'tpl_1   Coffee  2026-06-01T12:00:00.000Z',
      'tpl_22  –       2026-06-01T12:00:00.000Z',
      '',
    ].join('\n'),
    stderr: "Next page: svc get '/v1/pass_templates?limit=2&starting_after=c%2F1'\n",
  })
  const { stdout, stderr } = await run(url, ['get', '/v1/pass_templates?limit=2', '--json'])
  expect([JSON.parse(stdout), stderr]).toEqual([page, ''])
})

test('an empty list is said to be one', async () => {
  const { url } = await serve(reply(200, { data: [], has_more: false, next_cursor: null }))
  expect(await run(url, ['get', '/v1/passes'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'The list is empty.\n',
  })
})

test('a POST is tried again under the one key that was shown', async () => {
  const { url, asked } = await serve(
    reply(503, {}),
    (_, response) => void response.destroy(),
    reply(201, DONE),
  )
  const { code, stdout, stderr } = await run(url, ['post', '/v1/passes', '-d', '{"a":1}', '--json'])
  expect([code, stdout]).toEqual([0, '{"id":"pass_1"}\n'])
  const keys = asked.map(({ headers }) => headers['idempotency-key'])
  expect([keys.length, new Set(keys).size]).toEqual([3, 1])
  expect(stderr).toBe(`Idempotency-Key: ${keys[0]}\n`)
})

test('svc sends the data that it is given', async () => {
  const { url, asked } = await serve(reply(200, DONE))
  const key = '0197a1f2-0000-7000-8000-000000000001'
  const words = ['post', '/v1/passes?a=b', '-d', '-', '--idempotency-key', key, '--factor', '123456']
  await run(url, [...words, '--version', '2026-02-01'], { input: '{"a": 1}' })
  expect(asked).toMatchObject([
    {
      method: 'POST',
      url: '/v1/passes?a=b',
      body: '{"a": 1}',
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'idempotency-key': key,
        'service-factor': '123456',
        'service-version': '2026-02-01',
      },
    },
  ])
})

test('svc sends no body without data, lets the account’s version answer, and repeats no PATCH', async () => {
  const { url, asked } = await serve(reply(200, DONE), reply(503, {}))
  await run(url, ['get', '/v1/me'])
  expect(asked[0]).toMatchObject({ body: '' })
  expect(asked[0]?.headers).not.toHaveProperty('content-type')
  expect(asked[0]?.headers).not.toHaveProperty('service-version')
  expect((await run(url, ['patch', '/v1/passes/pass_1', '-d', '{}'])).code).toBe(1)
  expect(asked.length).toBe(2)
})

const refused = (code: string, more = {}) => ({
  error: { type: 't', code, message: `It is ${code}.`, ...more },
})

test.each([
  {
    status: 403,
    error: refused('insufficient_scope', { required_scope: 'write' }),
    say: 'Use a key with this scope, or run svc login --scope write.',
    code: 1,
  },
  {
    status: 403,
    error: refused('factor_required', { challenge_url: 'http://c/1' }),
    say: 'Open http://c/1, then repeat the command with --factor',
    code: 1,
  },
  { status: 401, error: refused('environment_mismatch'), say: 'a different --profile', code: 3 },
  {
    status: 410,
    error: refused('version_gone', { successor_version: '2026-02-01', guide_url: 'http://g' }),
    say: 'Use --version 2026-02-01',
    code: 1,
  },
  {
    status: 404,
    error: refused('not_found', { doc_url: 'http://d' }),
    say: 'Documentation: http://d',
    code: 1,
  },
  {
    status: 400,
    error: refused('validation_failed', {
      details: [{ field: 'holdr', issue: 'is unknown (did you mean holder?)' }],
    }),
    say: '\n  holdr: is unknown (did you mean holder?)\n',
    code: 1,
  },
  { status: 302, error: {}, say: 'redirects to a different address', code: 1 },
])('$status $error.error.code: what to do is said', async ({ status, error, say, code }) => {
  const { url } = await serve(reply(status, error))
  const said = await run(url, ['get', '/v1/me'])
  expect(said).toEqual({ code, stdout: '', stderr: expect.stringContaining(say) })
})

test('text from elsewhere gives a terminal no orders', async () => {
  const evil = 'a\u001b]0;x\u0007\u009b2J'
  const { url } = await serve(reply(200, { name: evil }), reply(404, refused('x', { message: evil })))
  const shown = await run(url, ['get', '/v1/me'], { env: { FORCE_COLOR: '1' } })
  const coloured = '\u001b[36m"name"\u001b[0m: \u001b[32m"a\\u001b]0;x\\u0007\\u009b2J"\u001b[0m'
  expect(shown.stdout).toBe(`{\n  ${coloured}\n}\n`)
  expect((await run(url, ['get', '/v1/me'])).stderr).toContain('a\\u001b]0;x\\u0007\\u009b2J')
})

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: true }, { NO_COLOR: '1' }, false],
  [{ isTTY: true }, { NO_COLOR: '' }, true],
  [{ isTTY: true }, { TERM: 'dumb' }, false],
  [{}, {}, false],
  [{}, { FORCE_COLOR: '1' }, true],
  [{}, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  [{ isTTY: true }, { FORCE_COLOR: '0' }, false],
])('svc decides on colors for %j with %j: %s', (output, env, wanted) => {
  expect(wantsColours(output, env)).toBe(wanted)
})

test.each([
  'http://elsewhere/v1/me',
  '//elsewhere/v1/me',
  '/v2/me',
  '/v1/../admin',
  '/v1',
  '/v1/me#x',
  '/\\elsewhere/v1/x',
])('the path %s is refused', (path) => {
  expect(() => readPath(path)).toThrow('must begin with /v1/')
})

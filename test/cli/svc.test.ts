/** `svc` as a program: its words, its exit codes, and what goes to which output. */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { current } from '../../generated/versions.ts'
import { deriveSecret } from '../../runtime/cli/svc-listen.ts'
import { runSvc } from '../../runtime/cli/svc-run.ts'
import { makeKey } from '../../runtime/tenants/keys/keys.ts'
import { freePort } from '../support/ports.ts'
import { endPrograms, type Program, startProgram, until } from '../support/programs.ts'
import { KEY, makeEvent, serveEndpoint, serveHttp, serveStreams } from './stream-server.ts'

afterEach(endPrograms)

const NOWHERE = 'http://127.0.0.1:9'

function startSvc(
  words: readonly string[],
  env: Readonly<Record<string, string>> = { SVC_API_KEY: KEY },
): Program {
  return startProgram(process.execPath, ['runtime/cli/svc.ts', ...words], env)
}

interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** In this process. The key may not be seen, whatever happens. */
async function run(
  words: readonly string[],
  env: Readonly<Record<string, string>> = { SVC_API_KEY: KEY },
): Promise<Said> {
  for (const name of ['SVC_API_KEY', 'SVC_BASE_URL', 'SVC_PROFILE', 'SVC_WEBHOOK_SECRET'])
    vi.stubEnv(name, env[name])
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent')
  let stdout = ''
  let stderr = ''
  const code = await runSvc(words, {
    print: (text) => {
      stdout += `${text}\n`
    },
    say: (line) => {
      stderr += `${line}\n`
    },
    interruption: () => AbortSignal.abort(),
  })
  vi.unstubAllEnvs()
  expect(stdout + stderr).not.toMatch(/svc_[sp]k_(sandbox|live)_[0-9A-Za-z]/)
  return { code, stdout, stderr }
}

test('svc --version says which it is, and which version of the API it speaks', async () => {
  const { version } = JSON.parse(readFileSync('runtime/cli/package/package.json', 'utf8'))
  expect(await run(['--version'])).toEqual({
    code: 0,
    stdout: expect.stringMatching(`^svc ${version} \\(commit [0-9a-f]{12}\\), API ${current}\n$`),
    stderr: '',
  })
  const { stdout } = await run(['--json', '--version'])
  expect(JSON.parse(stdout)).toEqual({
    version,
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    api_version: current,
  })
})

describe('a program is told of errors in JSON', () => {
  const errorOf = async (words: readonly string[], env?: Record<string, string>) => {
    const { code, stdout, stderr } = await run([...words, '--json'], env)
    expect([stdout, stderr.split('\n').length]).toEqual(['', 2])
    return { code, error: JSON.parse(stderr).error }
  }

  test('svc tells a refusal of the service as the service says it', async () => {
    const error = { type: 'not_found', code: 'not_found', message: 'There is no pass.', request_id: 'req_1' }
    const url = await serveHttp((_, response) => {
      response.writeHead(404, { 'Content-Type': 'application/json', 'Request-Id': 'req_1' })
      response.end(JSON.stringify({ error }))
    })
    expect(await errorOf(['events', 'evt_1', '--base-url', url])).toEqual({
      code: 1,
      error: { ...error, status: 404 },
    })
  })

  test.each([
    ['a word that there is not', ['liste'], 2, 'misused', "unknown command 'liste'"],
    [
      'an option that makes no sense',
      ['events', '--limit', 'many'],
      2,
      'misused',
      'Expected a whole number greater than 0.',
    ],
    ['an address where nobody listens', ['events', '--base-url', NOWHERE], 4, 'unreachable', 'cannot reach'],
  ] as const)('svc tells programs of an error in JSON: %s', async (_name, words, code, type, message) => {
    expect(await errorOf(words)).toEqual({
      code,
      error: { type, message: expect.stringContaining(message) },
    })
  })

  test('a sign-in that is missing', async () => {
    expect(await errorOf(['events'], {})).toMatchObject({ code: 3, error: { type: 'not_signed_in' } })
  })
})

const live = makeKey('secret', 'live')
const publishable = makeKey('publishable', 'sandbox')

test.each<{ words: string; env?: Record<string, string>; say: string }>([
  { words: '', say: 'Usage: svc' },
  { words: 'liste', say: "unknown command 'liste'" },
  { words: 'listen', say: "required option '--forward-to <url>' not specified" },
  { words: 'listen --forward-to localhost:3000', say: '--forward-to must be an http:// or https:// address' },
  { words: 'listen --forward-to http://u:p@localhost/', say: 'must not contain a user name or password' },
  {
    words: `listen --forward-to ${NOWHERE} --events pass.creatde`,
    say: 'unknown event type pass.creatde',
  },
  { words: `listen --forward-to ${NOWHERE} --secret ${KEY}`, say: 'whsec_…' },
  { words: `listen --forward-to ${NOWHERE} --give-up-after soon`, say: 'Expected a number of seconds.' },
  { words: `listen --forward-to ${NOWHERE}`, env: { SVC_API_KEY: live }, say: 'this is a live key' },
  { words: 'events', env: { SVC_API_KEY: KEY.slice(0, -1) }, say: 'the API key is not valid' },
  { words: 'events', env: { SVC_API_KEY: publishable }, say: 'the API key is a publishable key' },
  { words: 'events --limit 0', say: 'Expected a whole number greater than 0.' },
  { words: 'events --type pass.creatde', say: 'unknown event type pass.creatde' },
  { words: 'events evt_1 --type pass.created', say: '--type cannot be combined with an event identifier' },
  { words: 'events --base-url ftp://127.0.0.1', say: '--base-url must be an http:// or https:// address' },
  { words: 'trigger', say: "missing required argument 'event'" },
  { words: 'trigger pass.created', env: { SVC_API_KEY: live }, say: 'this is a live key' },
  {
    words: 'trigger pass.creatde',
    say: 'unknown event type pass.creatde; expected one of:\n  pass_template.created',
  },
  {
    words: 'trigger treasury_report.failed',
    say: 'treasury_report.failed cannot be triggered yet; expected one of:',
  },
  {
    words: 'trigger pass.created --endpoint whe_1',
    say: '--endpoint can be used only with webhook_endpoint.test',
  },
])('svc $words exits with 2: $say', async ({ words, env, say }) => {
  const { code, stdout, stderr } = await run(words.split(' ').filter(Boolean), env)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(say)
})

test('help is no fault, and names what it reads from the surroundings', async () => {
  const { code, stdout, stderr } = await run(['listen', '--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const name of ['SVC_API_KEY', 'SVC_BASE_URL', '--since', '--json']) expect(stdout).toContain(name)
})

test('neither a key nor a sign-in: exit code 3', async () => {
  const said = await run(['events'], {})
  expect(said).toEqual({
    code: 3,
    stdout: '',
    stderr: 'error: not signed in: run svc login, or set SVC_API_KEY\n',
  })
})

test('svc exits with 4 when no server answers', async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const { code, stdout, stderr } = await run(['events', '--base-url', baseUrl])
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
  expect(stderr).toBe(`error: cannot reach ${baseUrl}: connection refused\n`)
})

test('a refusal: exit code 3 where it is about the key, with what the service says and what to do', async () => {
  const baseUrl = await serveHttp((_, response) => {
    response.writeHead(401, { 'Content-Type': 'application/json', 'Request-Id': 'req_1' })
    response.end(
      JSON.stringify({
        error: { type: 'authentication_error', code: 'revoked_api_key', message: 'Revoked.' },
      }),
    )
  })
  const { code, stderr } = await run(['--base-url', baseUrl, 'events'])
  const advice = 'Sign in with svc login, or use a different API key.'
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: `error: the API returned 401: Revoked. (req_1)\n${advice}\n`,
  })
})

test('svc that is misused as a program exits with 2', async () => {
  expect(await startSvc(['trigger', 'pass.creatde']).ended).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('error: unknown event type pass.creatde; expected one of:'),
  })
})

test('svc listen writes results for programs on stdout alone; an interruption ends it well', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  const env = { SVC_API_KEY: KEY, SVC_BASE_URL: server.baseUrl }
  const program = startSvc(['listen', '--json', '--forward-to', endpoint.url], env)
  const events = [makeEvent(1), makeEvent(2)]
  ;(await server.stream(1)).send(...events)
  await until('two lines', () => program.stdout().split('\n').length === 3)
  const { code, signal, stdout, stderr } = await program.end('SIGINT')
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  const results = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(results).toMatchObject(events.map(({ id, type }) => ({ id, type, status: 204 })))
  expect(stderr.split('\n')).toEqual([
    `Forwarding all events from ${server.baseUrl} to ${endpoint.url}`,
    `Signing secret (the same each time): ${deriveSecret(KEY)}`,
    'Connected.',
    `To resume after the last event: --since ${events[1]?.id}`,
    '',
  ])
  expect(stdout + stderr).not.toContain(KEY)
})

test('listen: a line an event for people; the stream lost for good is exit code 1', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  const words = [
    'listen',
    '--base-url',
    server.baseUrl,
    '--forward-to',
    endpoint.url,
    '--events',
    'pass.created',
  ]
  const program = startSvc(words)
  const stream = await server.stream(1)
  stream.send(makeEvent(1))
  await endpoint.ids(1)
  server.refusals.push({ status: 401, code: 'revoked' })
  stream.end()
  const { code, stdout, stderr } = await program.ended
  expect(code).toBe(1)
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}pass\.created {2}evt_0{25}1 {2}→ 204 \(\d+ ms\)\n$/)
  expect(stderr).toContain('error: the API returned 401: It is revoked.\n')
})

test('svc exits well when its reader has read enough', async () => {
  const [server, endpoint] = [await serveStreams(), await serveEndpoint()]
  const program = startSvc(['listen', '--base-url', server.baseUrl, '--forward-to', endpoint.url])
  const stream = await server.stream(1)
  program.child.stdout?.destroy()
  stream.send(makeEvent(1), makeEvent(2), makeEvent(3))
  expect(await program.ended).toMatchObject({ code: 0 })
})

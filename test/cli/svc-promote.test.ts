/** `svc promote`, against the service: what it shows, asks, does and leaves alone, and how it ends. */
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { current } from '../../generated/versions.ts'
import { runSvc } from '../../runtime/cli/svc-run.ts'
import { makeKey as makeText } from '../../runtime/tenants/keys/keys.ts'
import { ENDPOINT, make, openPromoter, type Promoter, TEMPLATE } from '../account/promotions/setup.ts'
import { freePort } from '../support/ports.ts'
import { endPrograms, startProgram } from '../support/programs.ts'
import { makeKey, makeTenant, useService } from '../support/service.ts'

const service = useService()
let promoter: Promoter
let env: Record<string, string>
let templateId: string

afterAll(async () => {
  await endPrograms()
})
beforeEach(async () => {
  promoter = await openPromoter(service, await makeTenant(service), current)
  templateId = await make(promoter.sandbox, '/v1/pass_templates', TEMPLATE)
  const live = await makeKey(service, promoter.tenantId, { environment: 'live', scope: 'admin' })
  env = {
    SVC_API_KEY: promoter.sandboxKey.secret,
    SVC_LIVE_API_KEY: live.secret,
    SVC_LIVE_BASE_URL: service.urls.live,
  }
})

/** In this process; `answer` is what the person at the terminal says, absent where there is none. */
async function run(words: readonly string[], answer?: string | (() => Promise<string>)) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const [printed, said, asked]: [string[], string[], string[]] = [[], [], []]
  const ask = async (question: string) => {
    asked.push(question)
    return typeof answer === 'function' ? answer() : answer
  }
  const code = await runSvc(['promote', ...words], {
    print: (text) => void printed.push(text),
    say: (line) => void said.push(line),
    interruption: () => new AbortController().signal,
    ...(answer === undefined ? {} : { ask }),
  })
  vi.unstubAllEnvs()
  const all = [...printed, ...said].join('\n')
  expect(all).not.toMatch(/svc_[sp]k_(sandbox|live)_[0-9A-Za-z]/)
  return { code, stdout: printed.join('\n'), stderr: said.join('\n'), asked }
}

const templates = async () => (await promoter.live('/v1/pass_templates')).body.data
const change = (name: string) =>
  promoter.sandbox(`/v1/pass_templates/${templateId}`, { method: 'PATCH', body: { name } })

test('svc promote shows the plan, asks, copies; the second time there is nothing to do', async () => {
  const first = await run(['templates', templateId], 'y')
  const [{ id }] = await templates()
  expect(first).toEqual({
    code: 0,
    stdout: `+ ${templateId}  create\n\n${templateId} → ${id}`,
    stderr: '',
    asked: [`Copy 1 object to live at ${service.urls.live}? [y/N] `],
  })
  const stdout = `= ${templateId}  unchanged as ${id}`
  expect(await run(['templates', templateId], 'y')).toEqual({ code: 0, stdout, stderr: '', asked: [] })
})

test.each(['', 'n', 'yeah'])('copies nothing when the answer is "%s"', async (answer) => {
  const { code, stderr } = await run(['templates', templateId], answer)
  expect([code, stderr]).toEqual([1, 'error: not confirmed: nothing was copied'])
  expect(await templates()).toEqual([])
})

test('svc promote shows where live differs, and fails', async () => {
  await run(['templates', templateId, '--yes'])
  const [{ id }] = await templates()
  await change('Tea club')
  const { code, stdout, stderr } = await run(['templates', templateId, '--yes'])
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: [
      `~ ${templateId}  differs from ${id}`,
      '    name',
      '      sandbox  "Tea club"',
      '      live     "Coffee club"',
    ].join('\n'),
    stderr: 'error: 1 object differs from live: existing copies are never changed',
  })
})

test('svc promote shows what live refuses, and copies none', async () => {
  const good = await make(promoter.sandbox, '/v1/webhook-endpoints', ENDPOINT)
  const bad = await make(promoter.sandbox, '/v1/webhook-endpoints', {
    ...ENDPOINT,
    url: 'http://93.184.215.14/',
  })
  const { code, stdout, stderr } = await run(['webhook-endpoints', good, bad, '--yes'])
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`^\\+ ${good}  create\n! ${bad}  refused\n    url .*https`))
  expect(stderr).toBe('error: live refuses 1 object: nothing is copied unless all objects can be copied')
  expect((await promoter.live('/v1/webhook-endpoints')).body.data).toEqual([])
  expect((await run(['webhook-endpoints', good, '--yes'])).stderr).toMatch(/rotate_secret/)
})

test('a change while svc promote asks is said, and not copied', async () => {
  const { code, stderr } = await run(['templates', templateId], async () => {
    await change('Tea club')
    return 'yes'
  })
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /409: Nothing was promoted.*\n {2}sandbox_ids\[0\]: has changed in the sandbox since the dry run/,
  )
  expect(await templates()).toEqual([])
})

test('svc promote --json prints one line, the promotion as the service shows it', async () => {
  const planned = await run(['templates', templateId, '--dry-run', '--json'])
  expect(JSON.parse(planned.stdout)).toMatchObject({
    dry_run: true,
    plan: [{ action: 'create' }],
    created: [],
  })
  expect(await templates()).toEqual([])
  const made = await run(['templates', templateId, templateId, '--yes', '--json'])
  const [{ id }] = await templates()
  expect([made.code, made.stdout.includes('\n'), JSON.parse(made.stdout).created]).toEqual([
    0,
    false,
    [{ sandbox_id: templateId, live_id: id }],
  ])
})

test.each<{ words: string; env?: Record<string, string>; say: string }>([
  { words: '', say: "missing required argument 'what'" },
  { words: 'templates', say: "missing required argument 'id'" },
  { words: 'passes pass_1', say: 'Allowed choices are templates, card-programs, webhook-endpoints.' },
  {
    words: 'templates tpl_1',
    say: 'cannot ask for confirmation without a terminal: use --yes, or --dry-run to see the plan',
  },
  {
    words: 'templates tpl_1 --yes',
    env: { SVC_LIVE_API_KEY: '' },
    say: 'use --live-api-key, or set SVC_LIVE_API_KEY',
  },
  {
    words: 'templates tpl_1 --yes',
    env: { SVC_LIVE_API_KEY: makeText('secret', 'sandbox') },
    say: '--live-api-key is a sandbox key',
  },
  {
    words: 'templates tpl_1 --yes',
    env: { SVC_API_KEY: makeText('secret', 'live') },
    say: '--api-key is a live key',
  },
  {
    words: 'templates tpl_1 --yes --live-base-url nowhere',
    say: '--live-base-url must be an http:// or https://',
  },
])('svc promote $words exits with 2: $say', async ({ words, env: more, say }) => {
  env = { ...env, ...more }
  const { code, stdout, stderr } = await run(words.split(' ').filter(Boolean))
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(say)
})

test('live that does not answer is named by its own address', async () => {
  env = { ...env, SVC_LIVE_BASE_URL: `http://127.0.0.1:${await freePort()}` }
  const { code, stderr } = await run(['templates', templateId, '--yes'])
  expect([code, stderr]).toEqual([4, `error: cannot reach ${env.SVC_LIVE_BASE_URL}: connection refused`])
})

test('svc promote in a pipe asks no question', async () => {
  const program = startProgram(
    process.execPath,
    ['runtime/cli/svc.ts', 'promote', 'templates', templateId],
    env,
  )
  const { code, stdout, stderr } = await program.ended
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('use --yes')
})

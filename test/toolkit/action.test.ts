/** The GitHub Action: its shell steps run as GitHub runs them, against a repository with a pull request and a GitHub on loopback. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { main } from '../../generators/cli.ts'

interface Step {
  readonly id?: string
  readonly if?: string
  readonly run: string
  readonly env: Readonly<Record<string, string>>
}

const action = parse(readFileSync('action/action.yml', 'utf8')) as {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: { readonly steps: readonly Step[] }
}

interface Comment {
  readonly id: number
  body: string
}

interface Sent {
  readonly method: string
  readonly url: string
  readonly token: string | undefined
}

let folder: string
let comments: Comment[]
let sent: Sent[]
let refused: boolean
let api: string
const server = createServer((message, response) => {
  answer(message).then(
    ([status, body]) => response.writeHead(status).end(JSON.stringify(body)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
})

async function answer(message: IncomingMessage): Promise<readonly [number, unknown]> {
  const { method = '', url = '', headers } = message
  sent.push({ method, url, token: headers.authorization })
  if (method === 'GET') {
    const page = Number(new URL(url, api).searchParams.get('page'))
    return [200, comments.slice((page - 1) * 100, page * 100)]
  }
  if (refused) return [403, { message: 'Resource not accessible by integration' }]
  const { body } = JSON.parse(await text(message)) as { body: string }
  if (body.length > 65_536) return [422, { message: 'body is too long (maximum is 65536 characters)' }]
  const own = comments.find(({ id }) => url.endsWith(`/comments/${id}`))
  if (own) own.body = body
  else comments.push({ id: comments.length + 1, body })
  return [own ? 200 : 201, {}]
}

const git = (...words: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...words], {
    cwd: folder,
    encoding: 'utf8',
  }).trim()

const documentOf = (property: string, more = '') => `openapi: 3.1.0
info: { title: Library, version: "2030-01-01" }
paths:
  /books:
    get:
      operationId: listBooks
      responses: { '200': { description: Books, content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } } }
components:
  schemas:
    Book:
      type: object
      required: [${property}]
      properties: { ${property}: { type: string }${more} }
`

const ROOT = process.cwd()
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'action-'))
  comments = [{ id: 1, body: 'Looks good to me.' }]
  sent = []
  refused = false
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  mkdirSync(join(folder, 'openapi'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{}')
  writeFileSync(join(folder, '.gitignore'), 'node_modules\n.cache\n')
  const config = { documents: './openapi', versions: './versions', out: './out', emit: ['types'] }
  writeFileSync(join(folder, 'dateline.config.json'), JSON.stringify(config))
  save(documentOf('title'))
  git('init', '--quiet')
  await commit()
})
afterEach(async () => {
  server.close()
  await once(server, 'close')
  rmSync(folder, { recursive: true })
})

const save = (document: string, name = '2030-01-01') =>
  writeFileSync(join(folder, `openapi/${name}.yaml`), document.replace('2030-01-01', name))

async function commit(): Promise<void> {
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  process.chdir(folder)
  const code = await main(['generate'], { out: say, error: say }).finally(() => process.chdir(ROOT))
  expect(code, said.join('\n')).toBe(0)
  git('add', '.')
  git('commit', '--quiet', '--message', 'Edit')
}

/** Runs the steps of the action, as for the pull request from the first commit to the files that are there. */
async function runAction(event: 'pull_request' | 'push' = 'pull_request') {
  const [outputFile, outputs] = [join(folder, '.cache/output'), new Map<string, string>()]
  mkdirSync(dirname(outputFile), { recursive: true })
  const values = new Map<string, string>([
    ['github.event_name', event],
    ['github.event.pull_request.base.sha', git('rev-list', '--max-parents=0', 'HEAD')],
    ['github.event.pull_request.number', '7'],
    ['github.token', 'secret'],
  ])
  const resolved = (expression: string): string =>
    expression.replaceAll(/\$\{\{ (.+?) \}\}/g, (_, name: string) => values.get(name) ?? '')
  for (const [name, input] of Object.entries(action.inputs))
    values.set(`inputs.${name}`, resolved(input.default))
  const holds = (condition: string) =>
    condition.split(' && ').every((each) => {
      const [, name, value] = /^(\S+) == '(.*)'$/.exec(each)!
      return values.get(name!) === value
    })
  let said = ''
  for (const step of action.runs.steps) {
    if (step.if !== undefined && !holds(step.if)) continue
    writeFileSync(outputFile, '')
    const env = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, resolved(value)]))
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
      cwd: folder,
      env: {
        PATH,
        HOME: process.env.HOME,
        GITHUB_ACTIONS: 'true',
        GITHUB_OUTPUT: outputFile,
        GITHUB_ACTION_PATH: resolve('action'),
        GITHUB_API_URL: api,
        GITHUB_REPOSITORY: 'ada/library',
        RUNNER_TEMP: join(folder, '.cache'),
        ...env,
      },
    })
    const [out, error, [exit]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    said += out + error
    for (const [, name, value] of readFileSync(outputFile, 'utf8').matchAll(/^(\w+)=(.*)$/gm))
      values.set(`steps.${step.id}.outputs.${name}`, value!)
    if (exit === 0) continue
    return { exit, said, outputs }
  }
  for (const [name, { value }] of Object.entries(action.outputs)) outputs.set(name, resolved(value))
  return { exit: 0, said, outputs }
}

test('a pull request gets one comment, which later runs update', { timeout: 60_000 }, async () => {
  save(documentOf('title', ', pages: { type: integer }'))
  await commit()
  const { exit, outputs } = await runAction()
  expect([exit, outputs.get('check'), outputs.get('breaking')]).toEqual([0, '0', 'false'])
  const base = git('rev-list', '--max-parents=0', '--abbrev-commit', '--abbrev=7', 'HEAD')
  expect(comments[1]?.body).toBe(`<!-- dateline -->
\`dateline check\` found no errors.

# 2030-01-01 → 2030-01-01

${base}:openapi/2030-01-01.yaml → openapi/2030-01-01.yaml: 0 breaking, 1 additive

## Additive

| Difference | Location | Lines | Change |
|---|---|---|---|
| \`property-added\` pages was added | Book.pages | ${base}:openapi/2030-01-01.yaml:10:5 → openapi/2030-01-01.yaml:13:46 |  |`)
  save(documentOf('title'))
  await commit()
  await runAction()
  expect(comments).toHaveLength(2)
  expect(comments[1]?.body).toContain(`no document differs from ${base}`)
  expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /repos/ada/library/issues/7/comments?per_page=100&page=1',
    'POST /repos/ada/library/issues/7/comments',
    'GET /repos/ada/library/issues/7/comments?per_page=100&page=1',
    'PATCH /repos/ada/library/issues/comments/2',
  ])
  expect(new Set(sent.map(({ token }) => token))).toEqual(new Set(['Bearer secret']))
})

test('a break fails the job after the comment says so', { timeout: 60_000 }, async () => {
  save(documentOf('name'), '2030-06-01')
  const { exit, said } = await runAction()
  expect(exit).toBe(1)
  expect(said).toMatch(/^::error file=openapi\/2030-06-01\.yaml,line=\d+,col=\d+,title=break-unclaimed::/m)
  expect(comments[1]?.body).toContain('**`dateline check` failed.**')
  expect(comments[1]?.body).toMatch(/## Breaking[\s\S]*`property-removed`.*\| \*\*none\*\* \|/)
})

test('a long comment is cut at a line, and the own comment is found on a later page', {
  timeout: 60_000,
}, async () => {
  comments = Array.from({ length: 130 }, (_, index) => ({ id: index + 1, body: 'Looks good to me.' }))
  comments[120]!.body = '<!-- dateline -->\nBefore.'
  const many = Array.from({ length: 1500 }, (_, index) => `, property_${index}: { type: string }`)
  save(documentOf('title', many.join('')))
  await commit()
  expect((await runAction()).exit).toBe(0)
  expect(comments).toHaveLength(130)
  const { body } = comments[120]!
  expect(body.length).toBeLessThan(65_536)
  expect(body).toMatch(
    /\|\n\n\*\*\d+ more lines are not shown\.\*\* `dateline diff --since BASE --markdown` prints all\.$/,
  )
})

test('a token that may not write is a warning, and a push has no comment', { timeout: 60_000 }, async () => {
  refused = true
  const { exit, said } = await runAction()
  expect([exit, said]).toEqual([0, expect.stringContaining('::warning title=dateline::The comment was not')])
  sent = []
  expect((await runAction('push')).exit).toBe(0)
  expect(sent).toEqual([])
})

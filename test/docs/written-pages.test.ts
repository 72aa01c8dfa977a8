/**
 * The quick start and every guide that people write, followed from the first page to the last as a reader would: each sample
 * is run in its order, as it is printed, by the program that it is for, against the service.
 */
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { ROOT } from '../support/programs.ts'
import { makeKey, makeTenant, useService } from '../support/service.ts'

const SITE = join(ROOT, 'generated/site')
const SANDBOX = 'http://127.0.0.1:4010'

interface Block {
  /** `quick-start 3`: the third block of the page. */
  readonly where: string
  readonly language: string
  /** What the page calls it: `curl`; empty for code beside requests. */
  readonly title: string
  readonly code: string
}

/** Pages in the order of their numbers, which is that of the navigation. */
const slugs = readdirSync(join(ROOT, 'docs/site'))
  .toSorted()
  .flatMap((file) => /^\d+-(.+)\.md\.hbs$/.exec(file)?.[1] ?? [])

/** Pages whose commands install programs on the reader's machine: `test/client` and `test/foreign` follow them. */
const INSTALLATIONS = ['clients', 'other-languages']

const blocks: readonly Block[] = slugs
  .filter((slug) => !INSTALLATIONS.includes(slug))
  .flatMap((slug) => {
    const found = readFileSync(join(SITE, `${slug}.md`), 'utf8').matchAll(
      /^```(\w+)(?: (.+))?\n([\s\S]*?)^```$/gm,
    )
    return [...found].map(([, language = '', title = '', code = ''], index) => ({
      where: `${slug} ${index + 1}`,
      language,
      title,
      code,
    }))
  })

/** Commands that wait for events until they are stopped (`test/cli/svc-listen.test.ts`), and functions of `signatures.test.ts`. */
const runs = ({ code, title }: Block) =>
  !code.startsWith('npx svc listen') && !/^\W*verify|openssl/.test(title)

const commands = blocks.filter((block) => block.language === 'sh' && runs(block))

const service = useService({ guarded: false })
let secret: string
let folder: string
/** The shell's variables after the last command. */
let shell: Readonly<Record<string, string>>

beforeAll(async () => {
  folder = mkdtempSync(join('test/docs', '.written-'))
  ;({ secret } = await makeKey(service, await makeTenant(service), { scope: 'admin' }))
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true }))

/** As the reader's service and key are: nothing else of a sample is changed. */
const placed = (code: string) =>
  code.replaceAll(SANDBOX, service.urls.sandbox).replace(/svc_sk_sandbox_…/, secret)

test('every page has commands to follow, and requests have keys of their own', () => {
  expect(slugs.length).toBeGreaterThan(12)
  expect(commands.length).toBeGreaterThan(12)
  const fixed = blocks.filter(({ code }) => /Idempotency-Key\W+[\da-f]{8}-/.test(code))
  expect(fixed.map(({ where }) => where)).toEqual([])
})

test('the shell follows all pages, and each request succeeds', { timeout: 60_000 }, async () => {
  const script = [
    'set -eu',
    // Where a request is made is said beside its status, apart from what the samples print.
    `curl() { command curl -sS --max-time 20 -w "%{stderr}\\n$where\\t%{http_code}\\n" "$@"; }`,
    ...commands.map(({ where, code }) => `where='${where}'\n${placed(code)}`),
    `env -0 > ${folder}/shell`,
  ].join('\n')
  const options = { env: { PATH: '/usr/bin:/bin' } }
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], options)
  const answers = [...stderr.matchAll(/^(.+ \d+)\t(\d+)$/gm)].map(([, where, status]) => [where, status])
  const failed = answers.filter(([, status]) => !status?.startsWith('2'))
  expect(failed, stdout).toEqual([])
  const asked = commands.filter(({ code }) => code.includes('curl '))
  expect(answers.map(([where]) => where)).toEqual(asked.map(({ where }) => where))
  // As the page of cards says of its last sample.
  expect(stdout).toMatch(/"object":"card_transaction",.*"status":"authorized"/)
  const lines = readFileSync(join(folder, 'shell'), 'utf8').split('\0')
  shell = Object.fromEntries(lines.map((line) => line.split(/=([\s\S]*)/).slice(0, 2)))
  expect(shell).toMatchObject({
    TEMPLATE_ID: expect.stringMatching(/^tpl_[0-9a-z]{26}$/),
    PASS_ID: expect.stringMatching(/^pass_[0-9a-z]{26}$/),
  })
})

/** What pages take as given in code that is no whole program. */
function given(): string {
  const body = JSON.stringify({ id: 'evt_1', type: 'pass.updated' })
  const seconds = Math.floor(Date.now() / 1000)
  const digest = createHmac('sha256', 'whsec_given').update(`${seconds}.${body}`).digest('hex')
  return `
import { createClient } from '@dateline/passes/${current}'
const client = createClient({ baseUrl: '${SANDBOX}', apiKey: process.env.API_KEY ?? '' })
const [body, secret] = [${JSON.stringify(body)}, 'whsec_given']
const request = new Request('http://receiver/', { headers: { 'Service-Signature': 't=${seconds},v1=${digest}' } })
`
}

test('Node runs what is written in TypeScript', { timeout: 60_000 }, async () => {
  const programs = blocks.filter((block) => block.language === 'ts' && runs(block))
  expect(programs.length).toBeGreaterThan(10)
  const client = join(ROOT, `generated/client/src/${current}/index.ts`)
  const files = programs.map(({ where, code, title }) => {
    const text = placed(title === '' ? given() + code : code)
    const file = join(folder, `${where.replace(' ', '-')}.ts`)
    writeFileSync(file, text.replaceAll(`@dateline/passes/${current}`, client))
    return file
  })
  const all = join(folder, 'all.ts')
  writeFileSync(all, files.map((file) => `await import(${JSON.stringify(join(ROOT, file))})\n`).join(''))
  await promisify(execFile)(process.execPath, [all], { env: { ...process.env, ...shell } })
})

/** Runs each program that it reads as one of its own. */
const PYTHON = `
import json, sys
for where, source in json.load(sys.stdin):
    try:
        exec(compile(source, where, "exec"), {})
    except Exception as error:
        raise SystemExit(f"{where}: {error} {getattr(getattr(error, 'response', None), 'text', '')}")
`

/** The part of the package \`requests\` that samples use, where it is not installed. */
const REQUESTS = `
import json as parser, urllib.request
class Answer:
    def __init__(self, text): self.text = text
    def raise_for_status(self): pass
    def json(self): return parser.loads(self.text)
def request(method, url, headers=None, json=None, timeout=None):
    body = None if json is None else parser.dumps(json).encode()
    kind = {} if json is None else {"Content-Type": "application/json"}
    asked = urllib.request.Request(url, data=body, method=method, headers={**kind, **(headers or {})})
    with urllib.request.urlopen(asked, timeout=timeout) as answer:
        return Answer(answer.read().decode())
`

test('Python runs what is written in it', { timeout: 60_000 }, async () => {
  const programs = blocks
    .filter(({ title }) => title === 'Python')
    .filter(({ code }) => /requests/.test(code))
  expect(programs.length).toBeGreaterThan(8)
  writeFileSync(join(folder, 'requests.py'), REQUESTS)
  writeFileSync(join(folder, 'run.py'), PYTHON)
  const input = JSON.stringify(programs.map(({ where, code }) => [where, placed(code)]))
  const env = { ...process.env, ...shell, PYTHONPATH: folder }
  const child = promisify(execFile)('python3', ['-B', join(folder, 'run.py')], { env })
  child.child.stdin?.end(input)
  await child
})

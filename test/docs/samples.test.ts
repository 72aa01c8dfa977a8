/**
 * The requests that pages show in three languages: they are one request, the compiler takes it, and the service, asked by a
 * shell, finds nothing wrong with it.
 */
import { execFile, execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { ROOT } from '../support/programs.ts'
import { makeKey, makeTenant, useService } from '../support/service.ts'
import { compile } from './compile.ts'

const SITE = join(ROOT, 'generated/site')
const SANDBOX = 'http://127.0.0.1:4010'
const LIVE = 'http://127.0.0.1:4020'

interface Shown {
  /** `2026-05-19/passes.html 3`: the third request of the page. */
  readonly where: string
  readonly curl: string
  readonly typescript: string
  readonly python: string
}

const SAMPLE =
  /<details class="sample" data-language="(\w+)"[^>]*>\n<summary>[^<]*<\/summary>\n<pre><code>([\s\S]*?)<\/code><\/pre>/g

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" }

function textOf(html: string): string {
  return html
    .replace(/<\/?\w[^>]*>/g, '')
    .replace(/&([#\w]+);/g, (whole, name: string) => ENTITIES[name] ?? expect.fail(`what is ${whole}?`))
}

/** Requests of all pages; what several show alike is there once. */
function readPages(): Shown[] {
  const found = new Map<string, Shown>()
  for (const file of globSync('**/*.html', { cwd: SITE }).toSorted()) {
    const all = [...readFileSync(join(SITE, file), 'utf8').matchAll(SAMPLE)]
    const blocks = all.filter(([, language = '']) => ['curl', 'TypeScript', 'Python'].includes(language))
    for (let at = 0; at + 2 < blocks.length; ) {
      const [curl, typescript, python] = blocks.slice(at, at + 3)
      const isRequest = `${curl![1]} ${typescript![1]} ${python![1]}` === 'curl TypeScript Python'
      at += isRequest ? 3 : 1
      if (!isRequest) continue
      const texts = {
        curl: textOf(curl![2]!),
        typescript: textOf(typescript![2]!),
        python: textOf(python![2]!),
      }
      found.set(texts.curl, { where: `${file} ${found.size}`, ...texts })
    }
  }
  return [...found.values()]
}

const shown = readPages()

const service = useService({ guarded: false })
let keys: Readonly<Record<string, string>>
beforeAll(async () => {
  const tenantId = await makeTenant(service)
  const keyOf = async (environment: 'sandbox' | 'live') =>
    (await makeKey(service, tenantId, { environment, scope: 'admin' })).secret
  keys = { [SANDBOX]: await keyOf('sandbox'), [LIVE]: await keyOf('live') }
}, 60_000)

test('every version shows its operations', () => {
  expect(shown.length).toBeGreaterThan(300)
  for (const { name } of versions)
    expect(shown.filter(({ where }) => where.startsWith(name)).length).toBeGreaterThan(20)
})

/** What guides take as given in code that is no whole program. */
const GIVEN = `import { createClient } from '@dateline/passes/${current}'
declare const client: ReturnType<typeof createClient>
declare const body: string
declare const secret: string
declare const request: Request
`

/** Code of guides beside requests. */
const codeIn = (language: string): string[] =>
  globSync('*.md', { cwd: SITE })
    .filter((file) => file !== 'changelog.md')
    .flatMap((file) => {
      const fences = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')
      return [...readFileSync(join(SITE, file), 'utf8').matchAll(fences)].map(([, text = '']) => text)
    })

test('TypeScript compiles against the version that it imports', { timeout: 120_000 }, () => {
  const guides = codeIn('ts').map((text, index) => [`guide-${index}.ts`, `${GIVEN}${text}`] as const)
  expect(guides.length).toBeGreaterThan(1)
  const samples = shown.map(
    ({ typescript }, index) => [`sample-${index}.ts`, `${typescript}\nexport {}\n`] as const,
  )
  const errors = [...compile([...guides, ...samples])]
  const whereIs = (name: string) => shown[Number(/^sample-(\d+)/.exec(name)?.[1])]?.where ?? name
  expect(errors.map(([name, messages]) => [whereIs(name), messages])).toEqual([])
})

test('JSON of guides is JSON', () => {
  const examples = codeIn('json')
  expect(examples.length).toBeGreaterThan(30)
  for (const text of examples) JSON.parse(text)
})

/** Runs what it reads, with a `requests` that writes down what it is asked for. */
const PYTHON = `
import io, json, os, sys, types
os.environ["API_KEY"] = "$API_KEY"
sent = []
class Answer:
    text = "{}"
    content = b""
    def raise_for_status(self): pass
    def json(self): return {}
def request(method, url, headers=None, json=None, data=None, timeout=None):
    assert timeout is not None
    body = data.read() if hasattr(data, "read") else data
    sent.append({"method": method, "url": url, "headers": headers or {}, "json": json, "data": repr(body) if body else None})
    return Answer()
sys.modules["requests"] = types.SimpleNamespace(request=request)
out, sys.stdout = sys.stdout, io.StringIO()
for source in json.load(sys.stdin):
    exec(compile(source, "sample", "exec"), {"open": lambda *_: io.BytesIO(b"file")})
out.write(json.dumps(sent))
`

interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** A UUID that is made anew is called one: each has its own. */
const unnamed = (value: string): string =>
  UUID.test(value) || /^\$\(uuidgen\b[^)]*\)$/.test(value) ? 'a UUID' : value

/** What curl would send. */
function sentBy(command: string): Sent & { readonly more: boolean } {
  const [, url = '', ...words] = [...command.matchAll(/'((?:[^']|'\\'')*)'|"([^"]*)"|([^\s\\]+)/g)].map(
    ([, single, double, bare]) => single?.replaceAll("'\\''", "'") ?? double ?? bare ?? '',
  )
  const headers: Record<string, string> = {}
  let method: string | undefined
  let json: unknown = null
  let more = false
  while (words.length > 0) {
    const [option, value = ''] = words.splice(0, 2)
    if (option === '-X') method = value
    else if (option === '-H') headers[value.split(': ')[0]!] = unnamed(value.slice(value.indexOf(': ') + 2))
    else if (option === '--json') json = JSON.parse(value)
    else more = true
  }
  return { method: method ?? (json === null && !more ? 'GET' : 'POST'), url, headers, json, more }
}

test('Python runs, and sends what curl sends', () => {
  const input = JSON.stringify(shown.map(({ python }) => python))
  const answer = execFileSync('python3', ['-c', PYTHON], { input, maxBuffer: 2 ** 26, encoding: 'utf8' })
  const sent = JSON.parse(answer) as Sent[]
  const differing = shown.flatMap(({ where, curl }, index) => {
    const { more, ...wanted } = sentBy(curl)
    const { method, url, json, headers: all } = sent[index]!
    const headers = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, unnamed(value)]))
    const got = more ? { method, url, headers: wanted.headers, json: null } : { method, url, headers, json }
    return JSON.stringify(sorted(got)) === JSON.stringify(sorted(wanted)) ? [] : [{ where, got, wanted }]
  })
  expect(differing).toEqual([])
})

/** Headers in the order of their names. */
const sorted = ({ headers, ...rest }: Sent) => ({ ...rest, headers: Object.entries(headers).toSorted() })

/** What may come of a request that is in order: most of the records that samples name are not there. */
const IN_ORDER = new Set([200, 201, 202, 204, 402, 403, 404, 409, 410, 422])

/** Ends what is printed of an answer: no text has it. */
const END = '\u001e'

/** Words for curl after those of each sample. */
const ENDS = `-sS --max-time 10 -w '\t%{http_code}${END}' --next`

/** Records that are not there, and what wallets send to issuers. */
const MISSING =
  /^does not identify an existing |^is not the ID of |^is not a \w+ \w+ in your sandbox$|^is not an X.509 certificate$/

test('curl is refused by no version for what it sends', { timeout: 120_000 }, async () => {
  const known = new Map<string, string>()
  // An older version is asked where it shows something else.
  const asked = shown.toReversed().filter(({ curl }) => {
    const text = curl.replace(/Service-Version: \S+'/, '')
    if (known.has(text)) return false
    known.set(text, curl)
    return true
  })
  const commands = asked.map(({ curl }) => {
    const origin = curl.includes(LIVE) ? LIVE : SANDBOX
    const url = origin === LIVE ? service.urls.live : service.urls.sandbox
    const typed = curl
      .replace(origin, url)
      .replace('@FILE', '@/dev/null')
      .replace(/svc_sk_sandbox_\w+/, keys[SANDBOX]!)
    return `API_KEY=${keys[origin]}\n${typed}`
  })
  // The shell reads each command. One curl sends them all: starting one for each takes longer than their answers.
  const options = { env: { PATH: '/usr/bin:/bin' } }
  const script = [`curl() { printf '%s\\0' "$@" ${ENDS}; }`, ...commands].join('\n')
  const { stdout: words } = await promisify(execFile)('sh', ['-c', script], options)
  const { stdout } = await promisify(execFile)('curl', words.split('\0').slice(0, -2), options)
  const answers = stdout.split(END).slice(0, -1)
  expect(answers).toHaveLength(asked.length)
  const wrong = asked.flatMap(({ where, curl }, index) => {
    const [body = '', status] = answers[index]!.split('\t')
    const faults = [...body.matchAll(/"issue":"([^"]*)"/g)].map(([, issue = '']) => issue)
    const isInOrder = IN_ORDER.has(Number(status)) && faults.every((issue) => MISSING.test(issue))
    return isInOrder ? [] : [{ status, faults, where, curl }]
  })
  expect(wrong).toEqual([])
  expect(asked.filter(({ curl }) => curl.includes(current)).length).toBeGreaterThan(100)
})

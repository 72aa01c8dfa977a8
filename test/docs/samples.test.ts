/**
 * The requests that pages show in eight languages: they are one request, compilers take it, and the service, asked by each
 * language, finds nothing wrong with it. `npm run prove:samples` also compiles Go and Java, and parses Go, Java and C#.
 */
import { execFile, execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { emitSite } from '../../generators/emit/site/site.ts'
import { read } from '../ir/document.ts'
import { makeKey, makeTenant, useService } from '../support/service.ts'
import { compile } from './compile.ts'
import { findUnparsed } from './samples/grammars.ts'
import { checkGo, checkJava, environmentOf, isInstalled, RECORDERS, RUNNERS } from './samples/programs.ts'
import { readPages, SITE, samplesIn } from './samples/shown.ts'

const SANDBOX = 'http://127.0.0.1:4010'
const LIVE = 'http://127.0.0.1:4020'

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

/** Requests of guides, which keep what they create in variables. Other programs there verify signatures. */
const requestsIn = (fence: string): string[] => codeIn(fence).filter((text) => /http:/.test(text))

test('TypeScript compiles against the version that it imports', { timeout: 120_000 }, () => {
  const guides = codeIn('ts').map((text, index) => [`guide-${index}.ts`, `${GIVEN}${text}`] as const)
  expect(guides.length).toBeGreaterThan(1)
  const samples = shown.map(
    ({ texts }, index) => [`sample-${index}.ts`, `${texts.TypeScript}\nexport {}\n`] as const,
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

interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

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

/** Texts that languages quote differently, and bodies that are no JSON objects. */
const STRANGE = `
servers: [{ url: 'http://127.0.0.1:4010' }]
paths:
  /text/{id}:
    post:
      operationId: sendText
      parameters:
        - { name: id, in: path, required: true, schema: { type: string }, example: "a b/'c" }
        - { name: q, in: query, required: true, schema: { type: string }, example: '#{x}&"' }
      requestBody: { required: true, content: { application/json: { schema: { type: object, examples: [TEXTS] } } } }
      responses: { '204': { description: Done } }
  /list:
    put:
      operationId: sendList
      requestBody: { required: true, content: { application/json: { schema: { type: array, items: {}, examples: [[]] } } } }
      responses: { '204': { description: Done } }
  /form:
    post:
      operationId: sendForm
      requestBody: { required: true, content: { application/x-www-form-urlencoded: { schema: { type: object, examples: [{ a: "1 %'", b: 2 }] } } } }
      responses: { '204': { description: Done } }
  /file:
    put:
      operationId: sendFile
      requestBody: { required: true, content: { image/png: { schema: { type: string, format: binary } } } }
      responses: { '204': { description: Done } }
`
const TEXTS = {
  ruby: '#{exit} #$0 #@a',
  php: "$_ {$_} \\'",
  go: '`raw` \\n',
  java: '""" %s \\u0041 \\',
  csharp: '{{0}} """"',
  python: "'''\\x",
  all: 'é ✓ 🎫\n\t"quoted" \u0001',
  nothing: null,
  none: {},
  numbers: [1.5, -3, true, [], [{}]],
}
const strange = emitSite([read(STRANGE.replace('TEXTS', JSON.stringify(TEXTS))).api])
  .flatMap(({ path, text }) => (path.endsWith('.html') ? samplesIn(text) : []))
  .map((texts, index) => ({ where: `strange ${index}`, texts: Object.fromEntries(texts) }))

test.each(Object.entries(RECORDERS).filter(([, { program }]) => isInstalled(program)))(
  '%s runs, and sends what curl sends',
  (language, { program, file, fence }) => {
    const all = [...shown, ...strange]
    const guides = requestsIn(fence)
    const input = JSON.stringify([...all.map(({ texts }) => texts[language as 'Python']), ...guides])
    const env = { ...process.env, TEMPLATE_ID: 'tpl', PASS_ID: 'pass', CARDHOLDER_ID: 'chd', CARD_ID: 'card' }
    const answer = execFileSync(program, [file], { input, maxBuffer: 2 ** 26, encoding: 'utf8', env })
    const sent = JSON.parse(answer) as Sent[]
    expect(sent).toHaveLength(all.length + guides.length)
    const differing = all.flatMap(({ where, texts }, index) => {
      const { more, ...wanted } = sentBy(texts.curl!)
      const { method, url, json, headers: all } = sent[index]!
      const headers = Object.fromEntries(
        Object.entries(all)
          .filter((header) => String(header) !== 'Content-Type,application/json')
          .map(([name, value]) => [name, unnamed(value)]),
      )
      const got = more ? { method, url, headers: wanted.headers, json: null } : { method, url, headers, json }
      return JSON.stringify(sorted(got)) === JSON.stringify(sorted(wanted)) ? [] : [{ where, got, wanted }]
    })
    expect(differing).toEqual([])
  },
)

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
  const asked = shown.toReversed().filter(({ texts: { curl } }) => {
    const text = curl.replace(/Service-Version: \S+'/, '')
    if (known.has(text)) return false
    known.set(text, curl)
    return true
  })
  // Requests fail on purpose from PUT to DELETE.
  const orderOf = ({ where, texts }: (typeof asked)[number]) =>
    where.includes('test-faults') ? 1 + Number(texts.curl.includes('-X DELETE')) : 0
  asked.sort((one, other) => orderOf(one) - orderOf(other))
  const commands = asked.map(({ texts: { curl } }) => {
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
  const wrong = asked.flatMap(({ where, texts: { curl } }, index) => {
    const [body = '', status] = answers[index]!.split('\t')
    const faults = [...body.matchAll(/"issue":"([^"]*)"/g)].map(([, issue = '']) => issue)
    const isInOrder = IN_ORDER.has(Number(status)) && faults.every((issue) => MISSING.test(issue))
    return isInOrder ? [] : [{ status, faults, where, curl }]
  })
  expect(wrong).toEqual([])
  expect(asked.filter(({ texts }) => texts.curl.includes(current)).length).toBeGreaterThan(100)
})

const everySample = process.env.EVERY_SAMPLE !== undefined
const left = Object.entries(RUNNERS).filter(([, { program }]) => !isInstalled(program))
for (const [language, { program }] of left)
  console.warn(`\nLEFT OUT: samples in ${language} – there is no ${program}\n`)

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join('test/docs', '.samples-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Finds the sample of an operation of the newest version by the start of its curl command. */
const textsOf = (method: string, path: string) =>
  shown.find(({ where, texts }) => {
    const { method: own, url } = sentBy(texts.curl)
    return where.startsWith(current) && own === method && path === url.replace(/_01[0-9a-z]{24}/, '_')
  })?.texts ?? expect.fail(`there is no sample of ${method} ${path}`)

const ENDPOINT = '/v1/webhook-endpoints/whe_'

test.each(
  Object.entries(RUNNERS).filter(
    ([, { program, slow }]) => isInstalled(program) && (everySample || slow !== true),
  ),
)(
  '%s creates, changes and deletes, and fails if the service refuses',
  { timeout: 180_000 },
  async (language, { run }) => {
    const env = environmentOf(keys[SANDBOX]!, folder)
    const perform = async (method: string, path: string, id: string) => {
      const text = textsOf(method, SANDBOX + path)[language as 'curl']
      const typed = text.replace(SANDBOX, service.urls.sandbox).replace(/(\/|')\w+_01[0-9a-z]{24}/, `$1${id}`)
      const [program, words] = run(typed, folder)
      return (await promisify(execFile)(program, words, { env })).stdout
    }
    const chains = everySample ? ['/v1/pass_templates/tpl_', ENDPOINT] : [ENDPOINT]
    for (const path of chains) {
      const { id } = JSON.parse(await perform('POST', path.replace(/\/\w+$/, ''), ''))
      if (everySample) expect(JSON.parse(await perform('GET', path, id)).id).toBe(id)
      expect(JSON.parse(await perform('PATCH', path, id)).id).toBe(id)
      if (path === ENDPOINT) await perform('DELETE', path, id)
      await expect(perform('GET', path, 'none')).rejects.toThrow(/\b404\b|NotFound|not_found/)
    }
  },
)

/** Older versions that send the same differ only in the version's name. */
const distinct = [
  ...new Map(shown.map((each) => [each.texts.curl.replace(/Service-Version: \S+'/, ''), each])).values(),
  ...strange,
]

test.runIf(everySample && isInstalled('go'))('Go compiles, and is formatted', { timeout: 600_000 }, () => {
  const guides = requestsIn('go Go').map((text) => text.trimEnd())
  expect(checkGo([...distinct.map(({ texts }) => texts.Go!), ...guides], folder)).toBe('')
})

test.runIf(everySample && isInstalled('javac'))('Java compiles', { timeout: 600_000 }, () => {
  const guides = requestsIn('java Java')
  expect(guides.length).toBeGreaterThan(10)
  expect(checkJava([...distinct.map(({ texts }) => texts.Java!), ...guides], folder)).toBe('')
})

test.runIf(everySample).each([
  ['Go', 'go'],
  ['Java', 'java'],
  ['C#', 'c-sharp'],
] as const)('%s parses', { timeout: 300_000 }, async (language, grammar) => {
  const texts = distinct.map((each) => each.texts[language]!)
  const broken = texts[0]!.replace('(', '')
  expect(await findUnparsed(grammar, [...texts, broken])).toEqual([broken])
})

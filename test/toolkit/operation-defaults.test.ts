/** What a document says once for many operations is read as if each said it, and found where it is written. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { readValue } from '../../generators/document/read-yaml.ts'
import plugin from '../../generators/document/redocly-plugin.ts'
import { addResource } from '../../generators/scaffold/resource/add-resource.ts'
import { YamlText } from '../../generators/scaffold/yaml-blocks.ts'

const folder = mkdtempSync(join(tmpdir(), 'defaults-'))
afterAll(() => rmSync(folder, { recursive: true }))

const COMPONENTS = `components:
  parameters:
    Trace: { name: Trace, in: header, description: For support., schema: { type: string } }
    Once: { name: Once, in: header, description: Names the call., schema: { type: string } }
  headers:
    Served: { description: By whom., schema: { type: string } }
  responses:
    Wrong: { description: Wrong. }
    Gone: { description: Gone. }
`

const HEAD = `openapi: 3.1.0
info: { title: T, version: "2030-01-01" }
`

const DEFAULTS = `x-operation-defaults:
  - parameters:
      - $ref: "#/components/parameters/Trace"
    responses:
      "400": { $ref: "#/components/responses/Wrong" }
    responseHeaders:
      Served: { $ref: "#/components/headers/Served" }
  - when: { pathParameters: true }
    responses:
      "404": { $ref: "#/components/responses/Gone" }
  - when: { method: [post, put], x-once: true }
    parameters:
      - $ref: "#/components/parameters/Once"
  - when: { in: webhooks }
    responses:
      2XX: { description: Heard. }
      4XX: { description: Not heard. }
`

const SHORT = `${HEAD}${DEFAULTS}paths:
  /books:
    get:
      operationId: listBooks
      responses:
        "200": { description: Books. }
    post:
      operationId: createBook
      x-once: true
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses:
        "201": { description: A book., headers: { Extra: { schema: { type: string } } }, content: {} }
  /books/{id}:
    get:
      operationId: getBook
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
      responses:
        "200": { description: A book. }
webhooks:
  book.created:
    post: { operationId: onBook, requestBody: { content: {} } }
${COMPONENTS}`

const LONG = `${HEAD}paths:
  /books:
    get:
      operationId: listBooks
      parameters:
        - $ref: "#/components/parameters/Trace"
      responses:
        "200": { description: Books., headers: { Served: { $ref: "#/components/headers/Served" } } }
        "400": { $ref: "#/components/responses/Wrong" }
    post:
      operationId: createBook
      x-once: true
      parameters:
        - $ref: "#/components/parameters/Trace"
        - $ref: "#/components/parameters/Once"
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses:
        "201":
          description: A book.
          headers: { Served: { $ref: "#/components/headers/Served" }, Extra: { schema: { type: string } } }
          content: {}
        "400": { $ref: "#/components/responses/Wrong" }
  /books/{id}:
    get:
      operationId: getBook
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - $ref: "#/components/parameters/Trace"
      responses:
        "200": { description: A book., headers: { Served: { $ref: "#/components/headers/Served" } } }
        "400": { $ref: "#/components/responses/Wrong" }
        "404": { $ref: "#/components/responses/Gone" }
webhooks:
  book.created:
    post:
      operationId: onBook
      requestBody: { content: {} }
      responses:
        2XX: { description: Heard. }
        4XX: { description: Not heard. }
${COMPONENTS}`

function read(text: string) {
  const report = createReport()
  const document = parseText('a.yaml', text, report)
  return {
    document,
    report,
    said: report.diagnostics.map(
      ({ code, severity, message, place }) => `${place?.line} ${severity} ${code}: ${message}`,
    ),
  }
}

/** The operation that a text with the defaults above has at `/books`. */
function operation(text: string) {
  const { document, said } = read(`${HEAD}${DEFAULTS}${text}${COMPONENTS}`)
  const paths = document!.json.paths as Record<string, Record<string, Record<string, unknown>>>
  return { node: paths['/books']!.get!, said: said.filter((each) => !each.includes('unused')) }
}

/** Line (1-based) of the only place of a text in another. */
const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split('\n').length

/** Operations that every rule of the defaults holds for. */
const OTHERS = `  /books/{id}:
    post: { x-once: true, responses: { "200": { description: A book. } } }
webhooks: { book.created: { post: {} } }
`

test('the document with defaults is the one with everything written out, in the same order', () => {
  const { document, said } = read(SHORT)
  expect(said).toEqual([])
  expect(JSON.stringify(document!.json, null, 1)).toBe(JSON.stringify(read(LONG).document!.json, null, 1))
})

test('rules of Redocly see the same operations', () => {
  const { value } = readValue(SHORT)!
  plugin()
    .preprocessors.oas3['operation-defaults']()
    .Root.enter(value as Record<string, unknown>)
  expect(value).toEqual(read(LONG).document!.json)
})

test('an operation’s own value wins over a default', () => {
  const own = `paths:
  /books:
    parameters: [{ name: Once, in: header, schema: { type: number } }]
    get:
      x-once: true
      parameters: [{ name: trace, in: header, schema: { type: number } }]
      responses:
        "200": { description: A., headers: { served: { schema: { type: number } } } }
        "400": { description: Of its own. }
        "202": { $ref: "#/components/responses/Wrong" }
${OTHERS}`
  const { node, said } = operation(own)
  expect(said).toEqual([])
  expect(node).toEqual({
    'x-once': true,
    parameters: [{ name: 'trace', in: 'header', schema: { type: 'number' } }],
    responses: {
      200: { description: 'A.', headers: { served: { schema: { type: 'number' } } } },
      202: { $ref: '#/components/responses/Wrong' },
      400: { description: 'Of its own.' },
    },
  })
  const path = own
    .replace('    get:', '    post:')
    .replace('[{ name: trace, in: header', '[{ name: q, in: query')
  const { document } = read(`${HEAD}${DEFAULTS}${path}${COMPONENTS}`)
  const paths = document!.json.paths as Record<string, Record<string, { parameters: unknown[] }>>
  expect(paths['/books']!.post!.parameters).toEqual([
    { name: 'q', in: 'query', schema: { type: 'number' } },
    { $ref: '#/components/parameters/Trace' },
  ])
})

test('the later of two rules that give the same counts', () => {
  const { document } = read(`${HEAD}x-operation-defaults:
  - responses: { "400": { description: First. }, "500": { description: Third. } }
  - responses: { "400": { description: Second. } }
paths: { /books: { get: { responses: { "200": { description: A. } } } } }
`)
  expect(document!.json.paths).toMatchObject({
    '/books': { get: { responses: { 400: { description: 'Second.' }, 500: { description: 'Third.' } } } },
  })
})

test('an operation can leave defaults out', () => {
  const { node, said } = operation(`paths:
  /books:
    get:
      x-without-defaults: { parameters: [Trace], responses: ["400"], responseHeaders: [served] }
      responses:
        "200": { description: Books. }
${OTHERS}`)
  expect(said).toEqual([])
  expect(node).toEqual({ responses: { 200: { description: 'Books.' } } })
})

test('a default is found where it is written, what stands beside it too', () => {
  const { document } = read(SHORT)
  const lineAt = (pointer: string) => document!.place(pointer).line
  expect(lineAt('/paths/~1books/get/responses/400')).toBe(lineOf(SHORT, '"400":'))
  expect(lineAt('/paths/~1books/get/responses/200/headers/Served/$ref')).toBe(lineOf(SHORT, 'Served: { $ref'))
  expect(lineAt('/paths/~1books/post/parameters/1')).toBe(
    lineOf(SHORT, '- $ref: "#/components/parameters/Once"'),
  )
  expect(lineAt('/paths/~1books~1{id}/get/parameters/0')).toBe(lineOf(SHORT, '- { name: id'))
  expect(lineAt('/webhooks/book.created/post/responses/4XX')).toBe(lineOf(SHORT, '4XX:'))
  expect(document!.place('/paths/~1books/get/responses/400').pointer).toBe('/paths/~1books/get/responses/400')
})

const RULES = (rules: string, operation = '') => `${HEAD}x-operation-defaults:
${rules}
paths:
  /books:
    get:
      operationId: listBooks
${operation}      responses: { "200": { description: A. }, "400": { description: Wrong. } }
`

test.each<[string, string, string[]]>([
  [
    'no list',
    RULES('  when: {}'),
    ['3 error operation-defaults-invalid: `x-operation-defaults` is not a list'],
  ],
  [
    'a rule that is none',
    RULES('  - text'),
    ['4 error operation-defaults-invalid: the rule is not a mapping'],
  ],
  [
    'an unknown member',
    RULES('  - responses: { "500": { description: A. } }\n    respones: {}'),
    ['5 error operation-defaults-invalid: `respones` is unknown'],
  ],
  [
    'an unknown condition',
    RULES('  - responses: { "500": { description: A. } }\n    when:\n      methods: get'),
    ['6 error operation-defaults-invalid: `methods` is unknown'],
  ],
  [
    'a method that is none',
    RULES('  - responses: { "500": { description: A. } }\n    when: { method: [get, fetch] }'),
    [
      '5 error operation-defaults-invalid: `method` is not one or several of get, put, post, delete, options, head, patch, trace, query',
    ],
  ],
  [
    'a section that is none',
    RULES('  - responses: { "500": { description: A. } }\n    when: { in: events }'),
    ['5 error operation-defaults-invalid: `in` is not paths or webhooks'],
  ],
  [
    'conditions that are none',
    RULES('  - responses: { "500": {} }\n    when: get'),
    ['5 error operation-defaults-invalid: `when` is not a mapping'],
  ],
  [
    'path parameters that are named',
    RULES('  - responses: { "500": { description: A. } }\n    when: { pathParameters: id }'),
    ['5 error operation-defaults-invalid: `pathParameters` is not true or false'],
  ],
  [
    'parameters that are no list',
    RULES('  - parameters: {}'),
    ['4 error operation-defaults-invalid: `parameters` is not a list'],
  ],
  [
    'responses that are no mapping',
    RULES('  - responses: []'),
    ['4 error operation-defaults-invalid: `responses` is not a mapping'],
  ],
  [
    'a rule without a default',
    RULES('  - when: { method: get }'),
    ['4 error operation-defaults-invalid: the rule has no parameters, responses or response headers'],
  ],
  [
    'a rule for nobody',
    RULES(
      '  - responses: { "500": { description: A. } }\n  - when: { x-none: true }\n    responses: { "501": { description: A. } }',
    ),
    ['5 error operation-defaults-unused: this rule applies to no operation'],
  ],
  [
    'a default that is repeated',
    RULES('  - responses: { "400": { description: Wrong. } }'),
    ['9 warning operation-default-repeated: 400 repeats the default'],
  ],
  [
    'leaving out what nobody gives',
    RULES(
      '  - responses: { "500": { description: A. } }',
      '      x-without-defaults:\n        responses: ["500", "501"]\n        headers: []\n',
    ),
    [
      '11 error operation-defaults-invalid: `headers` is unknown',
      '10 error operation-defaults-invalid: no default adds 501 to this operation',
    ],
  ],
  [
    'leaving out without a name',
    RULES('  - responses: { "500": { description: A. } }', '      x-without-defaults: all\n'),
    ['9 error operation-defaults-invalid: `x-without-defaults` is not a mapping'],
  ],
  [
    'an operation whose responses are null',
    RULES('  - responses: { "500": { description: A. } }').replace(/responses: \{ "200".*/, 'responses:'),
    ['9 error document-shape: `responses` is null, not a mapping'],
  ],
  [
    'a rule whose parameters are null',
    RULES('  - responses: { "500": { description: A. } }\n    parameters:'),
    ['5 error operation-defaults-invalid: `parameters` is not a list'],
  ],
  [
    'a default that is no response',
    RULES('  - responses: { "500": text }'),
    ['4 error document-shape: `500` is a string, not a mapping'],
  ],
])('operation defaults are refused for %s', (_, text, wanted) => {
  const { document, said } = read(text)
  expect(said).toEqual(wanted)
  expect(document === undefined).toBe(wanted.some((each) => each.includes(' error ')))
})

test('a finding says beside what is repeated where the default is', () => {
  const { report } = read(RULES('  - responses: { "400": { description: Wrong. } }'))
  expect(report.diagnostics[0]!.other!.line).toBe(4)
})

function family(name: string, text: string) {
  const root = join(folder, name)
  mkdirSync(join(root, 'openapi'), { recursive: true })
  const file = join(root, 'openapi/2030-01-01.yaml')
  writeFileSync(file, text)
  const config = join(root, 'dateline.config.json')
  writeFileSync(
    config,
    JSON.stringify({ documents: './openapi', out: './out', emit: ['documents', 'types'] }),
  )
  const run = async (...words: string[]) => {
    const said: string[] = []
    const say = (line: string) => void said.push(line)
    return {
      code: await main(['--config', config, ...words], { out: say, error: say }),
      said: said.join('\n'),
    }
  }
  return { root, file, run }
}

const SERVED = SHORT.replaceAll('content: {}', 'content: { application/json: { schema: { type: object } } }')

test('the output with defaults is the output of the document in full', async () => {
  const [short, long] = [SERVED, LONG].map((text, index) =>
    family(
      `written-${index}`,
      text.replaceAll('content: {}', 'content: { application/json: { schema: { type: object } } }'),
    ),
  )
  expect([(await short!.run('generate')).code, (await long!.run('generate')).code]).toEqual([0, 0])
  for (const path of ['out/2030-01-01/openapi.json', 'out/2030-01-01/types.ts'])
    expect(readFileSync(join(short!.root, path), 'utf8')).toBe(readFileSync(join(long!.root, path), 'utf8'))
})

test('findings and drift name the line of the default', async () => {
  const { file, run } = family('drift', SERVED)
  expect((await run('generate')).code).toBe(0)
  writeFileSync(file, SERVED.replace('description: Heard.', 'description: Heard well.'))
  const drifted = await run('check')
  expect([drifted.code, drifted.said]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(
        `2030-01-01\\.yaml:${lineOf(SERVED, '2XX:')}:\\d+ error drift: generated 2030-01-01/openapi\\.json`,
      ),
    ),
  ])
  const missing = SERVED.replace('responses/Gone"', 'responses/Nowhere"')
  writeFileSync(file, missing)
  expect((await run('check')).said).toMatch(
    new RegExp(`2030-01-01\\.yaml:${lineOf(missing, '"404":')}:\\d+ error ref-missing`),
  )
})

test('a new version has the defaults of the one before', async () => {
  const { root, run } = family('version', SERVED)
  expect((await run('new-version', '2030-06-01')).code).toBe(0)
  const next = readFileSync(join(root, 'openapi/2030-06-01.yaml'), 'utf8')
  expect(next).toContain(DEFAULTS)
  expect(read(next).document!.json.paths).toEqual(read(SERVED).document!.json.paths)
})

test('a new resource says no more than its neighbour, be it that only filters are left out', () => {
  const file = 'openapi/2026-05-19.yaml'
  const source = readFileSync(file, 'utf8')
  const at = ['paths', '/v1/pass_templates', 'get', 'parameters']
  const own = new YamlText(source).value(at) as { name?: string; $ref?: string }[]
  const { start, end } = new YamlText(source).range(at)
  const lines = source.slice(start, end).split('\n')
  const first = lines.findIndex((line) => /^ {8}- name:/.test(line))
  expect([own.length > 1, first > 0]).toEqual([true, true])
  const filters = [lines[0]!, ...lines.slice(first)].join('\n')
  const { text } = addResource(source.slice(0, start) + filters + source.slice(end), {
    name: 'gift_offers',
    singular: 'gift_offer',
    prefix: 'gfo',
    like: 'pass_templates',
    operations: ['create', 'list'],
    events: [],
    properties: [],
    extensions: {},
  })
  const { document, said } = read(text)
  expect(said).toEqual([])
  expect(new YamlText(text).value(['paths', '/v1/gift_offers', 'get', 'parameters'])).toBeUndefined()
  const paths = document!.json.paths as Record<string, Record<string, { parameters: unknown[] }>>
  expect(paths['/v1/gift_offers']!.get!.parameters).toEqual([
    { $ref: '#/components/parameters/ServiceVersion' },
  ])
})

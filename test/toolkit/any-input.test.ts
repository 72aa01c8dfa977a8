/** Whatever a document holds, it is generated from or complained about where it is wrong: never a bug, never a guess. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import type { Diagnostic } from '../../generators/diagnostics/diagnostic.ts'
import { readValue } from '../../generators/document/read-yaml.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dateline-input-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs a command over one document. */
async function run(text: string, command: readonly string[] = ['generate'], members: object = {}) {
  writeFileSync(join(folder, '2030.yaml'), text)
  const config = {
    documents: ['./2030.yaml'],
    out: './out',
    client: { package: { name: 'any', version: '1.0.0' } },
  }
  writeFileSync(join(folder, 'dateline.config.json'), JSON.stringify({ ...config, ...members }))
  const lines: string[] = []
  const errors: string[] = []
  const argv = ['--config', join(folder, 'dateline.config.json'), ...command, '--json']
  const code = await main(argv, { out: (line) => lines.push(line), error: (line) => errors.push(line) })
  expect(errors).toEqual([])
  const { findings } = JSON.parse(lines.join('\n')) as { findings: Diagnostic[] }
  const said = findings.map(
    ({ code: of, severity, place, message }) =>
      `${place?.line}:${place?.column} ${severity} ${of}: ${message}`,
  )
  return { code, findings, said: said.join('\n') }
}

const START = 'openapi: 3.1.0\ninfo: { title: T, version: "1" }\n'
const EMPTY = `${START}paths: {}\n`
const schemas = (text: string) => `${EMPTY}components:\n  schemas:\n${text}`
const chain = (length: number, last: string, link: (next: string) => string) =>
  schemas(
    Array.from(
      { length },
      (_, n) => `    a${n}: ${n === length - 1 ? last : link(`'#/components/schemas/a${n + 1}'`)}\n`,
    ).join(''),
  )
const bomb = `x-a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  .map(
    (name, index) =>
      `x-${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdefghi'[index]}`).join(', ')}]\n`,
  )
  .join('')}`

describe('is refused where it is wrong', () => {
  test.each<readonly [string, string, RegExp, number]>([
    [
      'a version that is a number',
      EMPTY.replace('3.1.0', '3.1'),
      /^1:1 error openapi-version: `openapi: 3\.1` is a number/,
      1,
    ],
    ['a version of the future', EMPTY.replace('3.1.0', '4.0.0'), /^1:1 error openapi-version/, 1],
    ['no version', EMPTY.replace('openapi: 3.1.0\n', ''), /^1:1 error openapi-version/, 1],
    [
      'Swagger',
      'swagger: "2.0"\ninfo: {}\n',
      /^1:1 error document-swagger: Swagger 2\.0 is not supported/,
      3,
    ],
    [
      'parameters that are null',
      `${START}paths:\n  /a:\n    parameters: null\n    get: { responses: {} }\n`,
      /^5:5 error document-shape: `parameters` is null, not a list/,
      3,
    ],
    [
      'null for a schema',
      schemas('    A: null\n'),
      /^6:5 error document-shape: `A` is null, not a schema/,
      3,
    ],
    [
      'a list of paths',
      `${START}paths: []\n`,
      /^3:1 error document-shape: `paths` is a list, not a mapping/,
      3,
    ],
    [
      'a text for an operation',
      `${START}paths: { /a: { get: x } }\n`,
      /^3:16 error document-shape: `get` is a string, not a mapping/,
      3,
    ],
    [
      'references round in a circle',
      schemas("    A: { $ref: '#/components/schemas/B' }\n    B: { $ref: '#/components/schemas/A' }\n"),
      /error ref-circular/,
      1,
    ],
    [
      'a reference with a bad %',
      schemas("    A: { $ref: '#/components/schemas/%zz' }\n"),
      /^6:10 error ref-missing: #\/components\/schemas\/%zz/,
      1,
    ],
    [
      '4,000 references one after the other',
      chain(4000, '{}', (next) => `{ $ref: ${next} }`),
      /^2006:5 error document-excess: a chain of more than 2000 component references begins at a0/,
      3,
    ],
    [
      '200 references one after the other',
      chain(200, '{}', (next) => `{ $ref: ${next} }`),
      /^6:5 error ref-chain: a chain of more than 100 references/,
      1,
    ],
    [
      '4,000 components, each in the one before',
      chain(4000, '{ type: string }', (next) => `{ type: object, properties: { next: { $ref: ${next} } } }`),
      /^2006:5 error document-excess: a chain of more than 2000 component references begins at a0/,
      3,
    ],
    [
      'an alias of what it is in',
      `${EMPTY}x-a: &a { b: { c: *a } }\n`,
      /^4:16 error document-excess: an alias refers to a value that contains it/,
      3,
    ],
    ['aliases of aliases', `${EMPTY}${bomb}`, /error document-excess: holds more than/, 3],
    [
      'a list in ten thousand lists',
      `${EMPTY}x-a: ${'['.repeat(10_000)}${']'.repeat(10_000)}\n`,
      /error document-syntax: .*nested too deeply/,
      3,
    ],
    [
      '300 levels',
      `${EMPTY}x-a: ${'['.repeat(300)}${']'.repeat(300)}\n`,
      /error document-excess: nested more than 250 levels deep/,
      3,
    ],
    ['nothing', '', /^1:1 error document-syntax/, 3],
    ['a text', 'hello\n', /^1:1 error document-syntax/, 3],
  ])('a document is refused where it is wrong: %s', async (_, text, wanted, exit) => {
    const { code, said } = await run(text)
    expect(said).toMatch(wanted)
    expect(code).toBe(exit)
  })
})

const LEVELS = 700
const nested = (wrap: (inner: unknown) => unknown): string => {
  let value: unknown = {}
  for (let level = 0; level < LEVELS; level++) value = wrap(value)
  return JSON.stringify(value)
}
const aliases = Array.from({ length: LEVELS }, (_, n) => `  a${n}: &a${n} { p: ${n ? `*a${n - 1}` : '1'} }\n`)
const asJson = (members: string) =>
  `{ "openapi": "3.1.0", "info": { "title": "T", "version": "1" }, "paths": {}, ${members} }`
const deepSchemas = (value: string) => asJson(`"components": { "schemas": { "A": ${value} } }`)

const DEEP: readonly (readonly [string, string])[] = [
  ['properties', deepSchemas(nested((inner) => ({ type: 'object', properties: { p: inner } })))],
  ['allOf', deepSchemas(nested((inner) => ({ allOf: [inner] })))],
  ['an example', deepSchemas(`{ "example": ${nested((inner) => ({ a: inner }))} }`)],
  ['an x- member', asJson(`"x-a": ${nested((inner) => [inner])}`)],
  ['an x- member of YAML', `${EMPTY}x-a: ${nested((inner) => ({ a: inner }))}\n`],
  ['aliases, each in the next', `${EMPTY}x-a:\n${aliases.join('')}`],
  [
    'aliases in a schema',
    `${EMPTY}x-a:\n${aliases.join('')}components: { schemas: { A: { const: *a699 } } }\n`,
  ],
]
const COMMANDS: readonly (readonly string[])[] = [['generate'], ['check'], ['prove'], ['diff']]

describe(`${LEVELS} levels are a finding with a line and no stack overflow`, () => {
  test.each(DEEP.flatMap(([what, text]) => COMMANDS.map((command) => [what, command, text] as const)))(
    'nesting too deep in %s is a finding with a line for %j',
    async (_, [name = '', ...rest], text) => {
      const file = join(folder, '2030.yaml')
      const { code, said } = await run(text, name === 'diff' ? ['diff', file, file] : [name, ...rest])
      expect(said).toMatch(/^\d+:\d+ error document-(excess|syntax): (the document is )?nested (too|more)/)
      expect(code).toBe(3)
    },
  )
})

describe('is generated from', () => {
  test.each<readonly [string, string]>([
    [
      'names that every object has',
      schemas(
        '    hasOwnProperty: { type: object, properties: { hasOwnProperty: {}, constructor: {}, __proto__: {} } }\n',
      ),
    ],
    [
      'a % in names',
      schemas("    A%zz: { properties: { 50%: {} } }\n    B: { $ref: '#/components/schemas/A%zz' }\n"),
    ],
  ])('code is generated from %s', async (_, text) => {
    const { code, said } = await run(text)
    expect(said).not.toContain(' error ')
    expect(code).toBe(0)
  })
})

const PLACES = `openapi: 3.1.0
info: { title: T, version: "1" }
paths:
  /a:
    $ref: '#/components/pathItems/Gone'
  /b:
    post:
      operationId: b
      parameters:
        - description: A parameter.
          $ref: '#/components/parameters/Gone'
      requestBody:
        $ref: '#/components/requestBodies/Gone'
      responses:
        '200':
          description: Fine.
          headers:
            X:
              $ref: '#/components/headers/Gone'
          content:
            application/json:
              schema:
                description: A schema.
                $ref: '#/components/schemas/Gone'
              examples:
                one:
                  $ref: '#/components/examples/Gone'
          links:
            one:
              $ref: '#/components/links/Gone'
        '400':
          $ref: '#/components/responses/Gone'
      callbacks:
        one:
          $ref: '#/components/callbacks/Gone'
webhooks:
  one:
    $ref: '#/components/pathItems/Gone'
components:
  parameters:
    Unused:
      $ref: '#/components/parameters/Gone'
  responses:
    Unused:
      $ref: '#/components/responses/Gone'
  securitySchemes:
    one:
      $ref: '#/components/securitySchemes/Gone'
  schemas:
    Chain:
      $ref: '#/components/schemas/Broken'
    Broken:
      $ref: '#/components/schemas/Gone'
    Defs:
      $defs:
        one:
          $ref: './other.yaml#/Gone'
    Dynamic:
      $dynamicRef: '#gone'
`

test('each reference that leads nowhere is a finding at its own line, all in one run', async () => {
  const wanted = PLACES.split('\n').flatMap((line, index) =>
    /Gone'|#gone/.test(line) ? [`${index + 1}:${line.search(/\$/) + 1}`] : [],
  )
  const placesOf = (said: string) =>
    [...said.matchAll(/^(\d+:\d+) error ref-(?:missing|external):/gm)].map(([, place]) => place)
  const { code, said } = await run(PLACES)
  expect(placesOf(said).toSorted()).toEqual(wanted.toSorted())
  expect(code).toBe(1)
  const shapeless = PLACES.replace('securitySchemes:\n', 'securitySchemes:\n    oauth2: null\n')
  const both = await run(shapeless)
  expect(both.said).toMatch(/error document-shape: `oauth2` is null, not a mapping/)
  // Only the reader of schemas looks at `$dynamicRef`, and it reads no document of a wrong shape.
  expect(placesOf(both.said)).toHaveLength(wanted.length - 1)
  expect(both.code).toBe(3)
})

test('a callback may be a reference', async () => {
  const callbacks = "callbacks: { one: { $ref: '#/components/callbacks/One' } }"
  const component = 'components: { callbacks: { One: { "{$url}": { post: { responses: {} } } } } }'
  const text = `${START}paths: { /a: { post: { operationId: a, responses: {}, ${callbacks} } } }\n${component}\n`
  expect((await run(text)).said).not.toContain(' error ')
})

test('an untidy document is left out with a warning, and refused where `strict` says so', async () => {
  const text = `${START}paths:
  /a/{b}:
    get: { operationId: a, summary: 3, deprecated: maybe, responses: { 200: { description: null } } }
components:
  schemas:
    A: { type: object, required: true, properties: { headers: { type: object, description: A property. } }, minProperties: "1" }
`
  const { code, said } = await run(text)
  expect(said.match(/warning document-shape: `\w+`/g)).toEqual(
    ['summary', 'deprecated', 'description', 'required', 'minProperties'].map(
      (name) => `warning document-shape: \`${name}\``,
    ),
  )
  expect(said).toContain('5:5 warning path-parameter: {b} of /a/{b} is not declared')
  expect(code).toBe(0)
  expect(readFileSync(join(folder, 'out/client/src/1/types.ts'), 'utf8')).toMatch(/\bheaders\?:/)
  expect((await run(text, ['generate'], { strict: true })).code).toBe(3)
})

test('diff warns of what a strict family refuses', async () => {
  const text = schemas('    A: { type: text, required: true }\n')
  writeFileSync(join(folder, '2031.yaml'), text)
  const other = join(folder, '2031.yaml')
  const lenient = await run(text, ['diff', '2030', other])
  expect(lenient.code).toBe(0)
  expect(lenient.said).toContain('warning schema-type-unknown')
  const strict = await run(text, ['diff', '2030', other], { strict: true })
  expect([strict.code, strict.said]).toEqual([0, lenient.said])
})

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Every place in a document, as a path of names. */
function placesIn(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, each]) => placesIn(each, [...path, name]))]
}

function replaced(value: Json, [name, ...rest]: readonly string[], by: Json): Json {
  if (name === undefined) return by
  if (Array.isArray(value))
    return value.map((each, index) => (String(index) === name ? replaced(each, rest, by) : each))
  return Object.fromEntries(
    Object.entries(value as object).map(([key, each]) => [
      key,
      key === name ? replaced(each as Json, rest, by) : (each as Json),
    ]),
  )
}

const OTHERS: readonly Json[] = [
  null,
  [],
  [null],
  {},
  { '': null },
  'text',
  '',
  7,
  -1e308,
  true,
  { $ref: '#/paths' },
  { $ref: '#/components/schemas/Nowhere' },
  { $ref: 3 },
  Array.from({ length: 2000 }, () => ({ type: 'object' })),
  { allOf: [{ $ref: '#/info' }, null] },
]

const DOCUMENTS = [
  'test/golden/family-numbered/openapi/v10.json',
  'test/golden/two-versions/openapi/2030-06-01.yaml',
  'test/golden/family-odd/openapi/odd.yaml',
].map((file) => readValue(readFileSync(file, 'utf8'))!.value as Json)

test('the generator survives any node of a document in the place of any other', async () => {
  const places = DOCUMENTS.map((document) => placesIn(document))
  const mutation = fc.nat(DOCUMENTS.length - 1).chain((index) => {
    return fc.record({
      index: fc.constant(index),
      at: fc.constantFrom(...places[index]!),
      by: fc.constantFrom(...OTHERS),
    })
  })
  const check = async ({ index, at, by }: { index: number; at: readonly string[]; by: Json }) => {
    const { code, findings } = await run(JSON.stringify(replaced(DOCUMENTS[index]!, at, by)))
    expect([0, 1, 3]).toContain(code)
    for (const each of findings.filter(({ severity }) => severity === 'error'))
      expect(each).toHaveProperty('place.line')
    expect(code === 0).toBe(findings.every(({ severity }) => severity !== 'error'))
  }
  await fc.assert(fc.asyncProperty(mutation, check), {
    numRuns: Number(process.env.FUZZ_CASES ?? 150),
    interruptAfterTimeLimit: 50_000,
  })
}, 600_000)

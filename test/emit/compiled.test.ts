/** The file of what ajv compiles: complete, small, the same for equal schemas, and never run by what a document says. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { emitValidators } from '../../generators/emit/validators/validators.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Api } from '../../generators/ir/model.ts'
import { explain } from '../../generators/runtime/explain.ts'
import { createTransition } from '../../generators/translate/transition.ts'

const folder = mkdtempSync(join('test/emit', '.compiled-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Json = Readonly<Record<string, unknown>>
type Verdict = (value: unknown) => boolean

/** @returns the IR of a document of these component schemas, and what is said of it. */
function build(schemas: Json, { version = '1', paths = {} as Json, strict = false } = {}) {
  const document = { openapi: '3.1.0', info: { title: 'Test', version }, paths, components: { schemas } }
  const report = createReport()
  const api = buildApi(parseText('test.json', JSON.stringify(document), report)!, report, strict)
  return { api, diagnostics: report.diagnostics }
}

async function load(apis: readonly Api[]) {
  const inside = mkdtempSync(join(folder, 'out-'))
  const files = emitValidators(apis).filter(({ path }) => !path.includes('/'))
  for (const { path, text } of files) writeFileSync(join(inside, path), text)
  const url = pathToFileURL(resolve(inside, 'validators.js')).href
  const compiled = files.find(({ path }) => path === 'validators-compiled.js')?.text ?? ''
  return { compiled, functions: (await import(/* @vite-ignore */ url)) as Record<string, Verdict> }
}

const NEITHER = { not: { required: ['forbidden'] } }

test('no compiled file is written where the printer carries everything', () => {
  const { api } = build({ A: { type: 'string' } })
  expect(emitValidators([api]).map(({ path }) => path)).not.toContain('validators-compiled.js')
})

test('the compiled file has no require, and no constant that nothing uses', async () => {
  const { api } = build({
    A: {
      ...NEITHER,
      properties: { a: { enum: [[1], { b: 1 }] }, b: { minLength: 2, pattern: '^b', format: 'date' } },
    },
    B: { contains: { $ref: '#/components/schemas/A' }, uniqueItems: true, items: { multipleOf: 0.01 } },
  })
  const { compiled, functions } = await load([api])
  expect(compiled).not.toContain('require(')
  for (const [, name] of compiled.matchAll(/^(?:const|function) ([\w$]+)/gm))
    expect(compiled.split(name!).length, name).toBeGreaterThan(2)
  expect(functions.B!([{ a: [1] }])).toBe(true)
  expect(functions.B!([{ forbidden: 1 }])).toBe(false)
})

test('equal schemas of several versions are one function, with all that they refer to', async () => {
  const schemas = (least: number) => ({
    A: { ...NEITHER, properties: { b: { $ref: '#/components/schemas/B' } } },
    B: { minimum: least, properties: { a: { $ref: '#/components/schemas/A' } } },
    C: { not: { const: 1 } },
  })
  const apis = [1, 1, 2].map((least, index) => build(schemas(least), { version: `${index}` }).api)
  const names = (compiled: string) => [...compiled.matchAll(/^export const (\S+) = /gm)].length
  const [same, different] = [await load(apis.slice(0, 2)), await load(apis)]
  expect(names(same.compiled)).toBe(3)
  expect(names(different.compiled)).toBe(5)
  expect(different.functions.A!({ b: { minimum: 0 } })).toBe(true)
})

test('a schema that is nested deeper than the stack is refused', async () => {
  const { api } = build({ A: { ...NEITHER, properties: { a: { $ref: '#/components/schemas/A' } } } })
  const { functions } = await load([api])
  let deep: unknown = {}
  for (let depth = 0; depth < 100_000; depth++) deep = { a: deep }
  expect(functions.A!(deep)).toBe(false)
  expect(functions.A!({ a: { a: {} } })).toBe(true)
})

const RUN = 'globalThis.compiledTextRan=true'

test.each([
  `'+(${RUN})+'`,
  `"+(${RUN})+"`,
  `*/${RUN}/*`,
  `\n${RUN}\n`,
  `\u2028${RUN}\u2029`,
  `\nexport const validate0$ = validate0;\n`,
  `\nconst func0 = require("ajv/dist/runtime/equal").default;\n`,
  'const schema0 = 1;',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '\\',
  '$1$&',
  '\uE000(x)\uE000',
])('text of a document is text: %j', async (text) => {
  const { api } = build({
    A: {
      not: { required: [text] },
      properties: { a: { enum: [text, [text]] }, [`${text}b`]: { const: [text] } },
      dependentRequired: { [`${text}c`]: [`${text}b`] },
      unevaluatedProperties: false,
    },
  })
  const { functions } = await load([api])
  const own = (...members: readonly (readonly [string, unknown])[]) => Object.fromEntries(members)
  const rows: (readonly [Json, boolean])[] = [
    [own(['a', text], [`${text}b`, [text]]), true],
    [own(['a', [text]]), true],
    [own(['a', `${text}?`]), false],
    [own([text, 1]), false],
    [own([`${text}c`, 1]), false],
    [own([`${text}b`, text]), false],
  ]
  for (const [value, want] of rows) {
    expect(functions.A!(value), JSON.stringify(value)).toBe(want)
    expect(explain(api.document, '/components/schemas/A', value, {}).length === 0).toBe(want)
  }
  expect(globalThis).not.toHaveProperty('compiledTextRan')
})

test('a schema that ajv cannot compile is an error where it stands', () => {
  const { api } = build({ A: { ...NEITHER, properties: { '\ud800': { type: 'string' } } } })
  expect(() => emitValidators([api])).toThrow(/^test\.json:1:\d+ error schema-not-compiled: /)
})

test('a tag decides here as it does in printed validators', async () => {
  const { api } = build({
    Cat: { type: 'object', required: ['lives'], properties: { lives: { type: 'integer' } } },
    Dog: { type: 'object', properties: { lives: { const: 1 } } },
    Pet: {
      ...NEITHER,
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
      discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat' } },
    },
  })
  const { functions } = await load([api])
  for (const [value, want] of [
    [{ kind: 'cat', lives: 1 }, true],
    [{ kind: 'Dog', lives: 1 }, true],
    [{ kind: 'Dog', lives: 9 }, false],
    [{ kind: 'cow', lives: 1 }, false],
    [{ lives: 9 }, false],
    [{ kind: 'cat', lives: 9, forbidden: 1 }, false],
    [1, false],
  ] as const) {
    expect(functions.Pet!(value), JSON.stringify(value)).toBe(want)
    expect(explain(api.document, '/components/schemas/Pet', value, {}).length === 0).toBe(want)
  }
})

const operation = (responses: Json, requestBody?: Json) => ({
  '/a': { post: { operationId: 'a', ...(requestBody && { requestBody }), responses } },
})

test.each([
  [false, 'warning'],
  [true, 'error'],
] as const)(
  'a body that is neither JSON, a form, text nor bytes is said to have no validator (strict: %s)',
  (strict, severity) => {
    const content = { 'application/xml': { schema: { type: 'object' } }, 'application/json': { schema: {} } }
    const { diagnostics } = build({}, { paths: operation({}, { content }), strict })
    expect(diagnostics).toMatchObject([{ code: 'body-not-validated', severity, place: { line: 1 } }])
  },
)

test('a further answer of success has a translation of its own', () => {
  const answer = (name: string) => ({
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  })
  const api = (version: string, members: Json) =>
    build(
      {
        First: { type: 'object' },
        Second: { type: 'object', additionalProperties: false, properties: members },
      },
      { version, paths: operation({ 200: answer('First'), 202: answer('Second') }) },
    ).api
  const same = createTransition(api('1', { a: {} }), api('2', { a: {} }), [])
  expect(same.statuses.size).toBe(0)
  const grown = createTransition(api('1', { a: {} }), api('2', { a: {}, b: {} }), [])
  expect([...grown.statuses]).toEqual([['a 202', 'Second Second']])
  expect(grown.missed).toEqual([])
})

test.each([
  [
    'positions of a list',
    { type: 'array', prefixItems: [{ type: 'string' }, { $ref: '#/components/schemas/Part' }] },
  ],
  ['items after them', { type: 'array', prefixItems: [true], items: { $ref: '#/components/schemas/Part' } }],
  [
    'names by pattern',
    { type: 'object', patternProperties: { '^x': { $ref: '#/components/schemas/Part' } } },
  ],
])('%s that would have to be translated are found', (_, holder) => {
  const api = (version: string, members: Json) => {
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Holder' } } }
    const schemas = {
      Holder: holder,
      Part: { type: 'object', additionalProperties: false, properties: members },
    }
    return build(schemas, { version, paths: operation({ 200: { content } }) }).api
  }
  expect(createTransition(api('1', { a: {} }), api('2', { a: {} }), []).missed).toEqual([])
  expect(createTransition(api('1', { a: {} }), api('2', { a: {}, b: {} }), []).missed).toHaveLength(1)
})

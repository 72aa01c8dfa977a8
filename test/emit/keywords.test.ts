/**
 * Every keyword of JSON Schema beside values that it lets pass and that it refuses: the emitted validators say what the
 * specification says, `explain` finds a fault exactly where they refuse, and ajv, compiled at run time, is asked as well.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { afterAll, expect, test } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { emitValidators } from '../../generators/emit/validators/validators.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { explain } from '../../generators/runtime/explain.ts'
import { COMPONENTS, KEYWORD_ROWS, OLDER_ROWS, type Row } from './keywords.table.ts'

const folder = mkdtempSync(join('test/emit', '.keywords-'))
afterAll(() => rmSync(folder, { recursive: true }))

const formats = {
  date: (text: string) => (fullFormats.date as { validate: (text: string) => boolean }).validate(text),
  uuid: (text: string) => (fullFormats.uuid as RegExp).test(text),
}

type Verdict = (value: unknown) => boolean

interface Verdicts {
  readonly validate: Verdict
  readonly explained: Verdict
}

/** @returns what is emitted for schemas of one document, in their order. */
async function emitted(schemas: readonly unknown[], openapi = '3.1.0'): Promise<Verdicts[]> {
  const named = Object.fromEntries(schemas.map((schema, index) => [`Row${index}`, schema]))
  const components = { schemas: { ...(openapi === '3.1.0' ? COMPONENTS : OLDER), ...named } }
  const document = { openapi, info: { title: 'Rows', version: '1' }, paths: {}, components }
  const report = createReport()
  const api = buildApi(parseText('rows.json', JSON.stringify(document), report)!, report, false)
  expect(report.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  const inside = mkdtempSync(join(folder, 'rows-'))
  for (const { path, text } of emitValidators([api]))
    if (!path.includes('/')) writeFileSync(join(inside, path), text)
  const url = pathToFileURL(resolve(inside, 'validators.js')).href
  const functions = (await import(/* @vite-ignore */ url)) as Record<string, Verdict>
  return schemas.map((_, index) => ({
    validate: functions[`Row${index}`]!,
    explained: (value) =>
      explain(api.document, `/components/schemas/Row${index}`, value, formats).length === 0,
  }))
}

const OLDER = { Named: COMPONENTS.Named }

/** With all errors: otherwise ajv 8.20 skips what stands beside `prefixItems` that a list is too short for. */
const OPTIONS = {
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  logger: false,
  validateSchema: false,
  allErrors: true,
} as const

/** Schemas as ajv is asked about them: a document of its own for each, with all that references lead to. */
function oracle(schema: unknown): Verdict {
  const ajv = new Ajv2020(OPTIONS)
  addFormats.default(ajv)
  return ajv.compile({ components: { schemas: COMPONENTS }, allOf: [schema] })
}

/** ajv's answer to each value; none where it does not compile, or does not return. */
function attempted(schema: unknown): (value: unknown) => boolean | undefined {
  return (value) => {
    try {
      return oracle(schema)(value)
    } catch {
      return undefined
    }
  }
}

const shown = (schema: unknown, value: unknown) => `${JSON.stringify(schema)} of ${JSON.stringify(value)}`

async function expectRows(rows: readonly Row[], openapi?: string) {
  const verdicts = await emitted(
    rows.map((row) => row.schema),
    openapi,
  )
  for (const [index, { schema, fits, fails }] of rows.entries()) {
    const { validate, explained } = verdicts[index]!
    for (const [want, value] of [
      ...fits.map((each) => [true, each]),
      ...fails.map((each) => [false, each]),
    ] as const) {
      expect(validate(value), `validators: ${shown(schema, value)}`).toBe(want)
      expect(explained(value), `explain: ${shown(schema, value)}`).toBe(want)
    }
  }
}

test.each(Object.entries(KEYWORD_ROWS))(
  'validators, explain and ajv agree about the keyword %s',
  async (_, rows) => expectRows(rows),
)

test('3.0 says some of it otherwise', () => expectRows(OLDER_ROWS, '3.0.3'))

test('ajv says the same but for what is known of it', () => {
  const rows = Object.values(KEYWORD_ROWS).flat()
  let [asked, agreed] = [0, 0]
  const differing: Row[] = []
  for (const row of rows) {
    const verdict = attempted(row.schema)
    const right = [
      ...row.fits.map((each) => verdict(each) === true),
      ...row.fails.map((each) => verdict(each) === false),
    ]
    asked += right.length
    agreed += right.filter(Boolean).length
    if (right.includes(false)) differing.push(row)
  }
  console.info(
    `${rows.length} schemas, ${asked} values: validators and explain ${asked} right, ajv ${agreed}`,
  )
  expect(asked).toBeGreaterThan(500)
  const known = rows.filter((row) => row.ajv !== undefined)
  const texts = (some: readonly Row[]) => some.map((row) => JSON.stringify(row.schema))
  expect(texts(differing)).toEqual(texts(known))
})

/** One keyword each; any two of them may stand in one schema. */
const FRAGMENTS: readonly Readonly<Record<string, unknown>>[] = [
  { type: 'string' },
  { type: ['integer', 'null'] },
  { type: 'object' },
  { type: ['array', 'object'] },
  { enum: ['a', 1, null, 'abc'] },
  { enum: [{ a: 1 }, 'a'] },
  { const: 'abc' },
  { minLength: 2 },
  { pattern: '^a' },
  { minimum: 1 },
  { exclusiveMaximum: 3 },
  { multipleOf: 2 },
  { minItems: 1 },
  { uniqueItems: true },
  { items: { type: 'integer' } },
  { prefixItems: [{ const: 1 }] },
  { contains: { const: 1 } },
  { required: ['a'] },
  { properties: { a: { type: 'integer' }, b: true } },
  { additionalProperties: { type: 'integer' } },
  { additionalProperties: false },
  { patternProperties: { '^a': { minimum: 1 } } },
  { propertyNames: { maxLength: 1 } },
  { minProperties: 1 },
  { dependentRequired: { a: ['b'] } },
  { dependentSchemas: { a: { required: ['b'] } } },
  { allOf: [{ maxLength: 3 }, { maxProperties: 1 }] },
  { anyOf: [{ type: 'string' }, { minimum: 1 }, { type: 'object' }] },
  { anyOf: [{ type: 'null' }, { type: 'object', required: ['a'] }] },
  { oneOf: [{ type: 'null' }, { type: 'string' }] },
  { oneOf: [{ minimum: 1 }, { type: 'string' }] },
  { not: { required: ['b'] } },
  JSON.parse('{"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"not": {"const": 1}}}'),
  { unevaluatedProperties: false },
  { $ref: '#/components/schemas/Named' },
  { $ref: '#/components/schemas/Tree' },
]
const POOL: readonly unknown[] = [
  null,
  true,
  0,
  1,
  2,
  2.5,
  4,
  '',
  'a',
  'abc',
  'abcd',
  'b',
  [],
  [1],
  [1, 1],
  ['a'],
  [2, 1],
  {},
  { a: 1 },
  { a: 'x' },
  { b: 1 },
  { a: 1, b: 2 },
  { a: 0 },
  { ab: 1 },
  { name: 'a' },
  { name: 1, a: 1 },
]

test('validators and ajv agree about any two keywords beside each other', async () => {
  const pairs = FRAGMENTS.flatMap((one, index) =>
    FRAGMENTS.slice(index + 1)
      .filter((other) => Object.keys(one).every((name) => !(name in other)))
      .map((other) => ({ ...one, ...other })),
  )
  const verdicts = await emitted(pairs)
  const ajv = new Ajv2020(OPTIONS)
  ajv.addSchema({ $id: 'rows', components: { schemas: COMPONENTS }, $defs: { ...pairs } })
  let accepted = 0
  for (const [index, schema] of pairs.entries()) {
    const validate = ajv.compile({ $ref: `rows#/$defs/${index}` })
    for (const value of POOL) {
      const want = validate(value)
      expect(verdicts[index]!.validate(value), `validators: ${shown(schema, value)}`).toBe(want)
      expect(verdicts[index]!.explained(value), `explain: ${shown(schema, value)}`).toBe(want)
      if (want) accepted++
    }
  }
  const asked = pairs.length * POOL.length
  console.info(
    `${pairs.length} pairs of keywords, ${asked} values, of which ajv accepts ${accepted}: no verdict differs`,
  )
  expect(accepted).toBeGreaterThan(asked / 10)
})

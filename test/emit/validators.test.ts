/** The lean validators say what ajv says at run time, and `explain` finds a fault exactly where they refuse. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { toJsonSchema } from '../../generators/emit/validators/json-schema.ts'
import { emitValidators } from '../../generators/emit/validators/validators.ts'
import { explain } from '../../generators/runtime/explain.ts'
import { read } from '../ir/document.ts'

const { api } = read(`
paths: {}
components:
  schemas:
    Name: { type: string, minLength: 1, maxLength: 4, pattern: '^[a-zé😀]*$' }
    Flat:
      type: object
      additionalProperties: false
      required: [name]
      properties:
        name: { $ref: '#/components/schemas/Name' }
        count: { type: integer, minimum: 0, maximum: 3 }
        ratio: { type: number, exclusiveMinimum: 0, multipleOf: 0.5 }
        day: { type: [string, 'null'], format: date }
        at: { type: string, format: date-time }
        mood: { enum: [good, bad, null] }
    Tree:
      type: object
      properties:
        leaf: { $ref: '#/components/schemas/Flat' }
        trees: { type: array, maxItems: 2, items: { $ref: '#/components/schemas/Tree' } }
        tags: { type: array, uniqueItems: true, minItems: 1, items: { type: [string, integer] } }
        notes: { type: object, maxProperties: 2, propertyNames: { maxLength: 3 }, additionalProperties: { type: string } }
    Tagged:
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]
      discriminator: { propertyName: kind, mapping: { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' } }
    Cat: { type: object, required: [kind, lives], properties: { kind: { const: cat }, lives: { type: integer } } }
    Dog: { type: object, required: [kind], properties: { kind: { const: dog }, tree: { $ref: '#/components/schemas/Tree' } } }
    Either: { anyOf: [{ type: string, maxLength: 2 }, { $ref: '#/components/schemas/Flat' }, { type: 'null' }] }
    One: { oneOf: [{ type: integer, minimum: 1 }, { type: number, maximum: 3 }] }
    All: { allOf: [{ type: object, required: [name] }, { type: object, properties: { name: { $ref: '#/components/schemas/Name' } } }] }
`)

const folder = mkdtempSync(join('test/emit', '.validators-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ajv = new Ajv2020({ strict: false, strictNumbers: true, discriminator: true })
addFormats.default(ajv)
for (const [name, schema] of api.schemas)
  ajv.addSchema({ $id: name, ...(toJsonSchema(schema, (each) => each) as object) })

/** Values near the schemas: mostly a fitting one for each property name, now and then anything at all. */
const scalar = fc.constantFrom<unknown>(
  'a',
  'abcde',
  '😀😀😀😀',
  '',
  'X',
  0,
  1,
  2,
  4,
  0.5,
  -1,
  Infinity,
  null,
  true,
)
const value = fc.letrec<Record<'any' | 'object' | 'flat' | 'tree', unknown>>((tie) => {
  const mostly = (...fitting: fc.Arbitrary<unknown>[]) =>
    fc.oneof(
      { depthSize: 'small' },
      { weight: 12, arbitrary: fc.oneof(...fitting) },
      { weight: 1, arbitrary: tie('any') },
    )
  const flat = {
    name: mostly(fc.constantFrom('a', 'é😀', 'abcd')),
    count: mostly(fc.integer({ min: 0, max: 4 })),
    ratio: mostly(fc.constantFrom(0.5, 1, 0.25)),
    day: mostly(fc.constantFrom('2030-01-01', null, '2030-02-30')),
    at: mostly(fc.constantFrom('2030-01-01T00:00:00Z', '2030-01-01')),
    mood: mostly(fc.constantFrom('good', 'bad', null)),
  }
  const tree = {
    leaf: mostly(tie('flat')),
    trees: mostly(fc.array(tie('tree'), { maxLength: 3 })),
    tags: mostly(fc.array(fc.constantFrom('a', 1, 'b', { c: 1 }), { maxLength: 3 })),
    notes: mostly(
      fc.dictionary(fc.constantFrom('abc', 'abcd', '__proto__', 'x'), fc.constant('y'), { maxKeys: 3 }),
    ),
  }
  const tagged = {
    kind: mostly(fc.constantFrom('cat', 'dog', 'cow')),
    lives: mostly(fc.constant(9)),
    tree: mostly(tie('tree')),
  }
  return {
    flat: fc.record(flat, { requiredKeys: [] }),
    tree: fc.record(tree, { requiredKeys: [] }),
    object: fc.record({ ...flat, ...tree, ...tagged }, { requiredKeys: [] }),
    any: fc.oneof(
      { depthSize: 'small' },
      scalar,
      tie('flat'),
      tie('tree'),
      fc.record(tagged, { requiredKeys: [] }),
      tie('object'),
    ),
  }
}).any

test.each([...api.schemas.keys()])('the lean validator of %s agrees with ajv', async (name) => {
  const file = join(folder, `${name}.js`)
  writeFileSync(file, emitValidators([api]).find((each) => each.path === 'validators.js')!.text)
  const lean = ((await import(`../../${file}`)) as Record<string, (value: unknown) => boolean>)[name]!
  const validator = ajv.getSchema(name)!
  let accepted = 0
  fc.assert(
    fc.property(value, (given) => {
      const want = validator(given) as boolean
      accepted += Number(want)
      expect(lean(given)).toBe(want)
      const formats = { date: isFormat('date'), 'date-time': isFormat('date-time') }
      expect(explain(api.document, `/components/schemas/${name}`, given, formats).length === 0).toBe(want)
    }),
    { numRuns: 2000, seed: 20260519 },
  )
  expect(accepted).toBeGreaterThan(0)
})

function isFormat(name: 'date' | 'date-time') {
  const format = fullFormats[name] as { validate: (text: string) => boolean }
  return (text: string) => format.validate(text)
}

test('schemas that validate alike in two versions are one function', () => {
  const older = { ...api, version: '2029-01-01' }
  const files = emitValidators([older, api])
  expect(files.find((each) => each.path === 'validators.js')!.text).toBe(
    emitValidators([api]).find((each) => each.path === 'validators.js')!.text,
  )
  expect(files.find((each) => each.path === '2029-01-01/validators.js')!.text).toContain('  Tree,\n')
})

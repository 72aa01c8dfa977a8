/** What moves into an object and out of one, and what stands for null: emitted and interpreted alike, there and back. */
import { describe, expect, test } from 'vitest'
import type { Lens } from '../../generators/change/change.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { emitTranslations } from '../../generators/emit/translations/translations.ts'
import { checkSteps } from '../../generators/gate/gate.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import type { Api } from '../../generators/ir/model.ts'
import { proveSteps } from '../../generators/prove/family.ts'
import { refute } from '../../generators/prove/law.ts'
import { applyRewrite } from '../../generators/translate/apply.ts'
import { createStep, touchedFunctions } from '../../generators/translate/step.ts'
import { answerOf } from '../../generators/translate/transition.ts'
import { read } from '../ir/document.ts'
import { runEmitted } from './emitted.ts'

const VERSIONS = ['2030-01-01', '2030-06-01']

/** @param schemas of both versions, in flow style; `Root` is what the one operation takes and answers. */
function pairOf(schemas: readonly [string, string], lenses: readonly Lens[]) {
  const content = `content: { application/json: { schema: { $ref: '#/components/schemas/Root' } } }`
  const apis = schemas.map(
    (each, index): Api =>
      read(
        `paths: { /r: { post: { operationId: go, requestBody: { required: true, ${content} }, responses: { '200': { description: ok, ${content} } } } } }
components: { schemas: { ${each} } }\n`,
        `openapi: 3.1.0\ninfo: { title: T, version: ${VERSIONS[index]} }\n`,
      ).api,
  )
  const version = VERSIONS[1]!
  const changes: LoadedChange[] = [
    { id: 'change', why: '', lenses, version, file: `versions/${version}/change.ts` },
  ]
  const translations = emitTranslations(apis, changes, createReport(), 'generated')
  const emitted = runEmitted(translations, changes)
  const [old, next] = [apis[0]!, apis[1]!]
  const operation = old.operations[0]!
  const bindings = translations.bindings.get(VERSIONS[0]!)!
  const run = (direction: 'up' | 'down', value: unknown) => {
    const translate = emitted.find(direction === 'up' ? bindings.upBody(operation) : bindings.down(operation))
    const given = direction === 'up' ? structuredClone(value) : freeze(structuredClone(value))
    const got = json(translate ? translate(given) : given)
    const step = createStep(direction, old, next, changes)
    const rewrite = step.pair(answerOf(operation)!, answerOf(next.operations[0]!)!)
    const functions = touchedFunctions(step)
    expect(json(applyRewrite(rewrite, freeze(structuredClone(value)), { direction, functions }))).toEqual(got)
    return got
  }
  const steps = claimSteps(apis, changes)
  return {
    up: (value: unknown) => run('up', value),
    down: (value: unknown) => run('down', value),
    field: (name: string) => (emitted.find(bindings.downField(operation)) ?? String)(name),
    gate: checkSteps(steps, { versions: 'versions', out: 'generated' }).map(
      ({ code, message }) => `${code} ${message}`,
    ),
    refuted: () =>
      proveSteps(steps).flatMap((claim) => refute(claim, { runs: 100, seed: 1, limit: 5000 })?.code ?? []),
  }
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}

const STRING = '{ type: string }'
const object = (properties: string, required = '', more = ''): string =>
  `{ type: object, required: [${required}], properties: { ${properties} }${more} }`
const root = (properties: string, required = ''): string => `Root: ${object(properties, required)}`
const moved = (from: string, to: string, more: Partial<Lens> = {}): Lens =>
  ({ kind: 'moved', schemas: ['Root'], from: from.split('.'), to: to.split('.'), ...more }) as Lens

/** [what, old, new, lenses, an old value, the new one] */
const ROWS: readonly (readonly [string, string, string, readonly Lens[], unknown, unknown])[] = [
  [
    'into an object that both have',
    root(`city: ${STRING}, at: ${object(`x: ${STRING}`)}`),
    root(`at: ${object(`x: ${STRING}, city: ${STRING}`)}`),
    [moved('city', 'at.city')],
    { city: 'Oslo', at: { x: 'y' } },
    { at: { x: 'y', city: 'Oslo' } },
  ],
  [
    'into an object that comes with it',
    root(`city: ${STRING}, zip: ${STRING}`, 'city, zip'),
    root(`at: ${object(`city: ${STRING}, zip: ${STRING}`, 'city, zip')}`, 'at'),
    [moved('city', 'at.city'), moved('zip', 'at.zip')],
    { city: 'Oslo', zip: '0150' },
    { at: { city: 'Oslo', zip: '0150' } },
  ],
  [
    'out of an object that goes with it',
    root(`at: ${object(`city: ${STRING}, zip: ${STRING}`, 'city, zip')}`, 'at'),
    root(`city: ${STRING}, zip: ${STRING}`, 'city, zip'),
    [moved('at.city', 'city'), moved('at.zip', 'zip')],
    { at: { city: 'Oslo', zip: '0150' } },
    { city: 'Oslo', zip: '0150' },
  ],
  [
    'out of an object of a component, two levels up, to another name',
    `At: ${object(`in: ${object(`city: ${STRING}, y: ${STRING}`)}`)}, ${root("at: { $ref: '#/components/schemas/At' }")}`,
    `At: ${object(`in: ${object(`y: ${STRING}`)}`)}, ${root(`at: { $ref: '#/components/schemas/At' }, town: ${STRING}`)}`,
    [moved('at.in.city', 'town'), { kind: 'accept', code: 'property-removed', at: ['At.in.city'] }],
    { at: { in: { city: 'Oslo', y: '1' } } },
    { at: { in: { y: '1' } }, town: 'Oslo' },
  ],
  [
    'from one object to another',
    root(`a: ${object(`n: ${STRING}, x: ${STRING}`)}, b: ${object(`y: ${STRING}`)}`),
    root(`a: ${object(`x: ${STRING}`)}, b: ${object(`y: ${STRING}, n: ${STRING}`)}`),
    [moved('a.n', 'b.n')],
    { a: { n: '1', x: '2' }, b: { y: '3' } },
    { a: { x: '2' }, b: { y: '3', n: '1' } },
  ],
  [
    'and is written another way',
    root('n: { type: string, pattern: "^(0|[1-9][0-9]{0,2})$" }'),
    root(`at: ${object('n: { type: integer, minimum: 0, maximum: 999 }')}`),
    [moved('n', 'at.n', { up: Number, down: String } as Partial<Lens>)],
    { n: '5' },
    { at: { n: 5 } },
  ],
  [
    'together with what is translated in it',
    `Colour: { enum: [red] }, ${root("c: { $ref: '#/components/schemas/Colour' }")}`,
    `Colour: { enum: [crimson] }, ${root(`at: ${object("c: { $ref: '#/components/schemas/Colour' }")}`)}`,
    [moved('c', 'at.c'), { kind: 'values', schemas: ['Colour'], rename: { red: 'crimson' }, merge: {} }],
    { c: 'red' },
    { at: { c: 'crimson' } },
  ],
]

describe('a property that moves', () => {
  test.each(ROWS)(
    'a property that moves is translated there and back: %s',
    (_, old, next, lenses, one, other) => {
      const run = pairOf([old, next], lenses)
      expect(run.up(one)).toEqual(other)
      expect(run.down(other)).toEqual(one)
      expect(run.gate).toEqual([])
      expect(run.refuted()).toEqual([])
    },
  )

  test('absent stays absent, and null stays null', () => {
    const nullable = '{ type: [string, "null"] }'
    const run = pairOf(
      [root(`city: ${nullable}, x: ${STRING}`), root(`at: ${object(`city: ${nullable}`)}, x: ${STRING}`)],
      [moved('city', 'at.city')],
    )
    expect(run.up({ x: '1' })).toEqual({ x: '1' })
    expect(run.down({ x: '1' })).toEqual({ x: '1' })
    expect(run.down({ x: '1', at: {} })).toEqual({ x: '1' })
    expect(run.up({ city: null })).toEqual({ at: { city: null } })
    expect(run.down({ at: { city: null } })).toEqual({ city: null })
  })

  test('an object on the way that must be there is there without it', () => {
    const at = (more: string) => root(`at: ${object(`city: ${STRING}`)}${more}`, 'at')
    const run = pairOf([at(''), root(`city: ${STRING}`)], [moved('at.city', 'city')])
    expect(run.down({})).toEqual({ at: {} })
    expect(run.up({ at: {} })).toEqual({})
    expect(run.refuted()).toEqual([])
  })

  test('errors name it where the caller has it', () => {
    const run = pairOf(
      [
        root(`city: ${STRING}, at: ${object(`x: ${STRING}`)}`),
        root(`at: ${object(`x: ${STRING}, city: ${STRING}`)}`),
      ],
      [moved('city', 'at.city')],
    )
    expect(run.field('at.city')).toBe('city')
    expect(run.field('at.city.z')).toBe('city.z')
    expect(run.field('at.cityx')).toBe('at.cityx')
    expect(run.field('at.x')).toBe('at.x')
  })

  test('a property that is lost with the object that it leaves is named', () => {
    const old = root(`at: ${object(`city: ${STRING}, zip: ${STRING}`)}`)
    const { gate } = pairOf([old, root(`city: ${STRING}`)], [moved('at.city', 'city')])
    expect(gate).toEqual([
      expect.stringContaining('change-lossy change: Root.at.zip is lost when its parent object is removed'),
    ])
    const drop: Lens = { kind: 'drop', schemas: ['Root'], property: 'at', loss: 'drop' }
    expect(pairOf([old, root(`city: ${STRING}`)], [moved('at.city', 'city'), drop]).gate).toEqual([])
  })

  test('a path that leads nowhere is named', () => {
    const { gate } = pairOf(
      [root(`city: ${STRING}`), root(`at: ${object(`city: ${STRING}`)}`)],
      [moved('city', 'at.town')],
    )
    expect(gate.join()).toContain('change-claims-nothing change: Root.at.town does not exist')
  })
})

describe('null in the place of a whole component', () => {
  const thing = (nullable: boolean) =>
    `Thing: ${object('n: { type: integer }', 'n').replace('type: object', `type: ${nullable ? '[object, "null"]' : 'object'}`)}`
  const use = root(
    "one: { $ref: '#/components/schemas/Thing' }, must: { $ref: '#/components/schemas/Thing' }, all: { type: array, items: { $ref: '#/components/schemas/Thing' } }, map: { type: object, additionalProperties: { $ref: '#/components/schemas/Thing' } }, maybe: { anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }] }",
    'must',
  )
  const full = { one: null, must: null, all: [null, { n: 1 }], map: { a: null }, maybe: null }
  const instead = { n: 0 }
  const filled = { one: instead, must: instead, all: [instead, { n: 1 }], map: { a: instead }, maybe: null }

  test('null for a whole component is shown in answers as something, wherever the component is; null of a place stays null', () => {
    const lens = { kind: 'nullable', schemas: ['Thing'], value: instead } as const
    const run = pairOf([`${thing(false)}, ${use}`, `${thing(true)}, ${use}`], [lens])
    expect(run.down(full)).toEqual(filled)
    expect(run.down({ must: { n: 2 } })).toEqual({ must: { n: 2 } })
    expect(run.up({ must: { n: 2 }, maybe: null })).toEqual({ must: { n: 2 }, maybe: null })
    expect(run.gate).toEqual([])
    expect(run.refuted()).toEqual([])
  })

  test('null for a whole component is taken in requests as something', () => {
    const lens = { kind: 'non-null', schemas: ['Thing'], value: instead } as const
    const run = pairOf([`${thing(true)}, ${use}`, `${thing(false)}, ${use}`], [lens])
    expect(run.up(full)).toEqual(filled)
    expect(run.up({ must: { n: 2 } })).toEqual({ must: { n: 2 } })
    expect(run.gate).toEqual([])
    expect(run.refuted()).toEqual([])
  })

  test('a property: taken as something, and what else changes in it', () => {
    const n = (type: string, more = '') => root(`n: { type: ${type}, properties: { a: ${STRING}${more} } }`)
    const lens = { kind: 'non-null', schemas: ['Root'], property: 'n', value: { a: 'none' } } as const
    const run = pairOf([n('[object, "null"]'), n('object', `, b: ${STRING}`)], [lens])
    expect(run.up({ n: null })).toEqual({ n: { a: 'none' } })
    expect(run.up({ n: { a: 'x' } })).toEqual({ n: { a: 'x' } })
    expect(run.up({})).toEqual({})
    expect(run.down({ n: { a: 'x', b: 'y' } })).toEqual({ n: { a: 'x' } })
    expect(run.gate).toEqual([])
  })
})

describe('a property that is a list in one version', () => {
  const wrapped = (from: string, to: string, list: 'old' | 'new', more: object = {}): Lens => ({
    kind: 'wrapped',
    schemas: ['Root'],
    from,
    to,
    list,
    loss: 'drop',
    ...more,
  })
  const one = "{ $ref: '#/components/schemas/One' }"
  const oneOf = (name: string) => `One: ${object(`${name}: ${STRING}`, name)}`
  const renamed: Lens = { kind: 'rename', schemas: ['One'], from: 'a', to: 'b' }

  test('holds the value, which is translated too; null is the empty list, and errors name the value', () => {
    const run = pairOf(
      [
        `${oneOf('a')}, ${root(`x: { oneOf: [${one}, { type: 'null' }] }`, 'x')}`,
        `${oneOf('b')}, ${root(`xs: { type: array, items: ${one} }`, 'xs')}`,
      ],
      [wrapped('x', 'xs', 'new', { empty: null }), renamed],
    )
    expect(run.up({ x: { a: '1' } })).toEqual({ xs: [{ b: '1' }] })
    expect(run.up({ x: null })).toEqual({ xs: [] })
    expect(run.down({ xs: [{ b: '1' }, { b: '2' }] })).toEqual({ x: { a: '1' } })
    expect(run.down({ xs: [] })).toEqual({ x: null })
    expect(run.field('xs[0].c')).toBe('x.c')
    expect(run.gate).toEqual([])
    expect(run.refuted()).toEqual([])
  })

  test('under the same name; an absent property stays absent', () => {
    const run = pairOf(
      [root(`x: { type: array, items: ${STRING} }`), root(`x: ${STRING}`)],
      [wrapped('x', 'x', 'old')],
    )
    expect(run.up({ x: ['1', '2'] })).toEqual({ x: '1' })
    expect(run.up({ x: [] })).toEqual({})
    expect(run.down({ x: '1' })).toEqual({ x: ['1'] })
    expect(run.down({})).toEqual({})
    expect(run.field('x')).toBe('x[0]')
    expect(run.gate).toEqual([])
    expect(run.refuted()).toEqual([])
  })

  test('a required property needs a value for the empty list', () => {
    const schemas = [root(`x: ${STRING}`, 'x'), root(`xs: { type: array, items: ${STRING} }`, 'xs')] as const
    const run = pairOf(schemas, [wrapped('x', 'xs', 'new')])
    expect(run.gate).toEqual([expect.stringContaining('translation-incomplete')])
    expect(pairOf(schemas, [wrapped('x', 'xs', 'new', { empty: '' })]).gate).toEqual([])
  })
})

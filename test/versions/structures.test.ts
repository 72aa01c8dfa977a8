/** Where a lens reaches: one declared difference, in every structure that a schema can stand in. */
import { describe, expect, test } from 'vitest'
import type { Change } from '../../generators/change/change.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { emitTranslations } from '../../generators/emit/translations/translations.ts'
import type { Api, Schema } from '../../generators/ir/model.ts'
import { applyRewrite } from '../../generators/translate/apply.ts'
import { createStep, touchedFunctions } from '../../generators/translate/step.ts'
import { answerOf, type createTransition } from '../../generators/translate/transition.ts'
import { read } from '../ir/document.ts'
import { runEmitted } from './emitted.ts'

const VERSIONS = ['2030-01-01', '2030-06-01', '2031-01-01']

/** A family whose documents have these component schemas; `Root` is what one operation takes and answers. */
function family(schemas: readonly string[], lenses: Readonly<Record<string, Change['lenses']>> = {}) {
  const apis = schemas.map((each, index): Api => {
    const head = `openapi: 3.1.0\ninfo: { title: T, version: ${VERSIONS[index]} }\n`
    const content = `content: { application/json: { schema: { $ref: '#/components/schemas/Root' } } }`
    return read(
      `paths: { /r: { post: { operationId: go, requestBody: { required: true, ${content} }, responses: { '200': { description: ok, ${content} } } } } }
components: { schemas: { ${each} } }\n`,
      head,
    ).api
  })
  const changes = Object.entries(lenses).map(([version, own]) => ({
    id: `change-${version}`,
    why: '',
    lenses: own,
    version,
    file: `versions/${version}/change-${version}.ts`,
  }))
  const report = createReport()
  const translations = emitTranslations(apis, changes, report, 'generated')
  const emitted = runEmitted(translations, changes)
  const operation = apis[0]!.operations[0]!
  const bindings = translations.bindings.get(VERSIONS[0]!)!
  const run = (direction: 'up' | 'down', value: unknown) => {
    const bound = direction === 'up' ? bindings.upBody(operation) : bindings.down(operation)
    const translate = emitted.find(bound)
    const got = JSON.parse(JSON.stringify(translate ? translate(structuredClone(value)) : value))
    if (apis.length === 2) expect(interpreted(direction, apis, changes, value)).toEqual(got)
    return got
  }
  return {
    up: (value: unknown) => run('up', value),
    down: (value: unknown) => run('down', value),
    field: (name: string) => (emitted.find(bindings.downField(operation)) ?? String)(name),
    texts: translations.files.map(({ text }) => text),
    bindings,
    operation,
    diagnostics: report.diagnostics,
    text: translations.files.map((file) => file.text).join('\n'),
  }
}

/** What the examples of changes are checked by does the same as what is emitted. */
function interpreted(
  direction: 'up' | 'down',
  [old, next]: readonly Api[],
  changes: Parameters<typeof createTransition>[2],
  value: unknown,
): unknown {
  const step = createStep(direction, old!, next!, changes)
  const rewrite = step.pair(answerOf(old!.operations[0]!) as Schema, answerOf(next!.operations[0]!) as Schema)
  const functions = touchedFunctions(step)
  return JSON.parse(JSON.stringify(applyRewrite(rewrite, structuredClone(value), { direction, functions })))
}

const colour = (members: string) => `Colour: { type: string, enum: [${members}] }`
const RED = {
  '2030-06-01': [{ kind: 'values', schemas: ['Colour'], rename: { red: 'crimson' }, merge: {} }],
} as const
const REF = `{ $ref: '#/components/schemas/Colour' }`
const both = (root: string, more = '') =>
  family(
    [`${colour('red, blue')}, Root: ${root}${more}`, `${colour('crimson, blue')}, Root: ${root}${more}`],
    RED,
  )

describe('an enumeration whose member has another name', () => {
  test.each([
    ['the body itself', REF, 'red', 'crimson'],
    ['a property', `{ type: object, properties: { c: ${REF} } }`, { c: 'red', x: 1 }, { c: 'crimson', x: 1 }],
    ['an absent property', `{ type: object, properties: { c: ${REF} } }`, {}, {}],
    [
      'an odd name',
      `{ type: object, properties: { '3d.c': ${REF}, delete: ${REF} } }`,
      { '3d.c': 'red', delete: 'red' },
      { '3d.c': 'crimson', delete: 'crimson' },
    ],
    [
      'a nullable one',
      `{ type: object, properties: { c: { oneOf: [${REF}, { type: 'null' }] } } }`,
      { c: null },
      { c: null },
    ],
    ['a list', `{ type: array, items: ${REF} }`, ['red', 'blue'], ['crimson', 'blue']],
    [
      'a list with nulls',
      `{ type: array, items: { oneOf: [${REF}, { type: 'null' }] } }`,
      ['red', null],
      ['crimson', null],
    ],
    ['a list of lists', `{ type: array, items: { type: array, items: ${REF} } }`, [['red']], [['crimson']]],
    [
      'a map',
      `{ type: object, additionalProperties: ${REF} }`,
      { a: 'red', constructor: 'blue' },
      { a: 'crimson', constructor: 'blue' },
    ],
    [
      'a map beside a property',
      `{ type: object, properties: { n: { type: string } }, additionalProperties: ${REF} }`,
      { n: 'red', a: 'red' },
      { n: 'red', a: 'crimson' },
    ],
    [
      'objects in objects',
      `{ type: object, properties: { a: { type: object, properties: { b: { type: object, properties: { c: ${REF} } } } } } }`,
      { a: { b: { c: 'red' } } },
      { a: { b: { c: 'crimson' } } },
    ],
    [
      'an intersection',
      `{ allOf: [{ type: object, properties: { c: ${REF} } }, { type: object, properties: { d: { type: array, items: ${REF} } } }] }`,
      { c: 'red', d: ['red'] },
      { c: 'crimson', d: ['crimson'] },
    ],
  ])('a renamed value is translated in %s', (_, root, old, next) => {
    const { up, down } = both(root)
    expect(up(old)).toEqual(next)
    expect(down(next)).toEqual(old)
  })

  test('a schema that contains itself', () => {
    const node = `{ type: object, properties: { c: ${REF}, next: { $ref: '#/components/schemas/Root' }, all: { type: array, items: { $ref: '#/components/schemas/Root' } } } }`
    const { up, down } = both(node)
    const old = { c: 'red', next: { c: 'red', all: [{ c: 'blue' }, { c: 'red' }] } }
    const next = { c: 'crimson', next: { c: 'crimson', all: [{ c: 'blue' }, { c: 'crimson' }] } }
    expect(up(old)).toEqual(next)
    expect(down(next)).toEqual(old)
  })

  test('a component that was renamed, or written out in place', () => {
    const old = `${colour('red, blue')}, Inner: { type: object, properties: { c: ${REF} } }, Root: { type: object, properties: { a: { $ref: '#/components/schemas/Inner' }, b: { $ref: '#/components/schemas/Inner' } } }`
    const next = `${colour('crimson, blue')}, Other: { type: object, properties: { c: ${REF} } }, Root: { type: object, properties: { a: { $ref: '#/components/schemas/Other' }, b: { type: object, properties: { c: ${REF} } } } }`
    const { up, down } = family([old, next], RED)
    expect(up({ a: { c: 'red' }, b: { c: 'red' } })).toEqual({ a: { c: 'crimson' }, b: { c: 'crimson' } })
    expect(down({ a: { c: 'crimson' }, b: { c: 'crimson' } })).toEqual({ a: { c: 'red' }, b: { c: 'red' } })
  })
})

describe('unions', () => {
  const members = (kind: string) =>
    `A: { type: object, required: [kind], properties: { kind: { const: ${kind} }, c: ${REF} } }, B: { type: object, required: [kind], properties: { kind: { const: b }, c: { type: string } } }`
  const declared = `{ oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }], discriminator: { propertyName: kind, mapping: { a: '#/components/schemas/A', b: '#/components/schemas/B' } } }`
  const told = `{ oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }] }`

  test.each([
    ['with a discriminator', declared],
    ['told apart by a tag', told],
  ])('a value in a union %s is translated', (_, root) => {
    const { up, down } = both(root, `, ${members('a')}`)
    expect(up({ kind: 'a', c: 'red' })).toEqual({ kind: 'a', c: 'crimson' })
    expect(up({ kind: 'b', c: 'red' })).toEqual({ kind: 'b', c: 'red' })
    expect(down({ kind: 'a', c: 'crimson' })).toEqual({ kind: 'a', c: 'red' })
    expect(down({ kind: 'b', c: 'crimson' })).toEqual({ kind: 'b', c: 'crimson' })
  })
  test('a union is told apart by the kind of value, in lists too', () => {
    const { up } = both(
      `{ type: array, items: { oneOf: [${REF}, { type: object, properties: { c: ${REF} } }, { type: array, items: { type: string } }] } }`,
    )
    expect(up(['red', { c: 'red' }, ['red']])).toEqual(['crimson', { c: 'crimson' }, ['red']])
  })
  test('a union is told apart by a property of its own', () => {
    const { up } = both(
      `{ anyOf: [{ type: object, required: [x], properties: { x: { type: string }, c: ${REF} } }, { type: object, required: [y], properties: { y: { type: string }, c: { type: string } } }] }`,
    )
    expect(up({ x: '', c: 'red' })).toEqual({ x: '', c: 'crimson' })
    expect(up({ y: '', c: 'red' })).toEqual({ y: '', c: 'red' })
  })
  test('the discriminator is read before it is renamed', () => {
    const lens = [
      { kind: 'values', schemas: ['A'], property: 'kind', rename: { a: 'aa' }, merge: {} },
    ] as const
    const root = (mapping: string) => declared.replace('{ a:', `{ ${mapping}:`)
    const { up, down } = family(
      [
        `${colour('red')}, ${members('a')}, Root: ${root('a')}`,
        `${colour('red')}, ${members('aa')}, Root: ${root('aa')}`,
      ],
      { '2030-06-01': lens },
    )
    expect(up({ kind: 'a', c: 'red' })).toEqual({ kind: 'aa', c: 'red' })
    expect(down({ kind: 'aa', c: 'red' })).toEqual({ kind: 'a', c: 'red' })
  })
  test('members that nothing tells apart are refused, with the line', () => {
    const { diagnostics } = both(
      `{ oneOf: [{ type: object, properties: { c: ${REF} } }, { type: object, properties: { d: { type: string } } }] }`,
    )
    expect(diagnostics.map((each) => each.code)).toContain('translation-union')
    expect(diagnostics[0]!.place!.line).toBeGreaterThan(0)
  })
})

describe('properties', () => {
  const object = (...properties: string[]) =>
    `Root: { type: object, required: [keep], properties: { keep: { type: string }, ${properties.join(', ')} } }`
  const string = (name: string) => `${name}: { type: string }`

  test('an added one is dropped below, nested too, and nowhere written', () => {
    const inside = (...own: string[]) =>
      `in: { type: object, properties: { a: { type: string }, ${own.join(', ')} } }`
    const { up, down, text } = family([object(inside()), object(inside('b: { type: string }'), string('c'))])
    expect(down({ keep: '', in: { a: '1', b: '2' }, c: '3' })).toEqual({ keep: '', in: { a: '1' } })
    expect(up({ keep: '' })).toEqual({ keep: '' })
    expect(text).not.toContain('_up')
  })
  test('an object that declares nothing keeps everything', () => {
    const { bindings, operation } = family([object('m: { type: object }'), object('m: { type: object }')])
    expect(bindings.down(operation)).toBeUndefined()
  })
  test('a renamed property is translated both ways', () => {
    const lens = [{ kind: 'rename', schemas: ['Root'], from: 'a', to: 'b' }] as const
    const { up, down, field } = family([object(string('a')), object(string('b'))], { '2030-06-01': lens })
    expect(up({ keep: '', a: '1' })).toEqual({ keep: '', b: '1' })
    expect(up({ keep: '' })).toEqual({ keep: '' })
    expect(down({ keep: '', b: '1' })).toEqual({ keep: '', a: '1' })
    expect(field('b')).toBe('a')
    expect(field('b[2].x')).toBe('a[2].x')
    expect(field('bb')).toBe('bb')
  })
  test('a property that is replaced by two is translated both ways', () => {
    const lens = [
      {
        kind: 'replace',
        schemas: ['Root'],
        old: ['name'],
        new: ['first', 'last'],
        up: ({ name }: { name: string }) => ({ first: name.split(' ')[0], last: name.split(' ')[1] }),
        down: ({ first, last }: { first: string; last: string }) => ({ name: `${first} ${last}` }),
      },
    ] as const
    const { up, down, field } = family([object(string('name')), object(string('first'), string('last'))], {
      '2030-06-01': lens,
    })
    expect(up({ keep: '', name: 'Ada Lovelace' })).toEqual({ keep: '', first: 'Ada', last: 'Lovelace' })
    expect(up({ keep: '' })).toEqual({ keep: '' })
    expect(down({ keep: '', first: 'Ada', last: 'Lovelace' })).toEqual({ keep: '', name: 'Ada Lovelace' })
    expect(field('last')).toBe('name')
  })
  test('a default for what an old request cannot say; dropped below', () => {
    const lens = [{ kind: 'default', schemas: ['Root'], property: 'size', value: { w: 1 } }] as const
    const { up, down, field } = family([object(), object('size: { type: object }')], { '2030-06-01': lens })
    expect(up({ keep: '' })).toEqual({ keep: '', size: { w: 1 } })
    expect(down({ keep: '', size: { w: 2 } })).toEqual({ keep: '' })
    expect(field('size')).toBe('')
  })
  test('a property that is required now gets a default up, and nothing is lost below', () => {
    const required = (more: string) => object('n: { type: integer }').replace('[keep]', `[keep${more}]`)
    const lens = [{ kind: 'default', schemas: ['Root'], property: 'n', value: 7 }] as const
    const run = family([required(''), required(', n')], { '2030-06-01': lens })
    expect(run.up({ keep: '' })).toEqual({ keep: '', n: 7 })
    expect(run.up({ keep: '', n: 1 })).toEqual({ keep: '', n: 1 })
    expect(run.down({ keep: '', n: 2 })).toEqual({ keep: '', n: 2 })
    expect(run.field('n')).toBe('n')
  })
  test('optional now: shown as something below, and translated where it is there', () => {
    const inside = (more: string) => `n: { type: object, properties: { a: { type: string }${more} } }`
    const lens = [{ kind: 'optional', schemas: ['Root'], property: 'n', value: { a: 'none' } }] as const
    const run = family([object(inside('')).replace('[keep]', '[keep, n]'), object(inside(', b: {}'))], {
      '2030-06-01': lens,
    })
    expect(run.down({ keep: '' })).toEqual({ keep: '', n: { a: 'none' } })
    expect(run.down({ keep: '', n: { a: 'x', b: 1 } })).toEqual({ keep: '', n: { a: 'x' } })
    expect(run.up({ keep: '', n: { a: 'x' } })).toEqual({ keep: '', n: { a: 'x' } })
    expect(run.field('n.a')).toBe('n.a')
  })
  test('a property that may be null now is shown as something below', () => {
    const lens = [{ kind: 'nullable', schemas: ['Root'], property: 'n', value: 0 }] as const
    const run = family([object('n: { type: integer }'), object('n: { type: [integer, "null"] }')], {
      '2030-06-01': lens,
    })
    expect(run.down({ keep: '', n: null })).toEqual({ keep: '', n: 0 })
    expect(run.down({ keep: '', n: 3 })).toEqual({ keep: '', n: 3 })
    expect(run.down({ keep: '' })).toEqual({ keep: '' })
    expect(run.up({ keep: '', n: 3 })).toEqual({ keep: '', n: 3 })
  })
  test('a property that is gone is not taken up, and is made below', () => {
    const down = (value: { keep: string }) => value.keep.length
    const lens = [{ kind: 'drop', schemas: ['Root'], property: 'n', loss: 'drop', down }] as const
    const run = family([object('n: { type: integer }'), object()], { '2030-06-01': lens })
    expect(run.up({ keep: 'abc', n: 7 })).toEqual({ keep: 'abc' })
    expect(run.down({ keep: 'abc' })).toEqual({ keep: 'abc', n: 3 })
  })
  test('a property is converted; null and absence pass', () => {
    const lens = [{ kind: 'convert', schemas: ['Root'], property: 'n', up: Number, down: String }] as const
    const run = family([object('n: { type: [string, "null"] }'), object('n: { type: [number, "null"] }')], {
      '2030-06-01': lens,
    })
    expect(run.up({ keep: '', n: '5' })).toEqual({ keep: '', n: 5 })
    expect(run.down({ keep: '', n: 5 })).toEqual({ keep: '', n: '5' })
    expect(run.down({ keep: '', n: null })).toEqual({ keep: '', n: null })
    expect(run.up({ keep: '' })).toEqual({ keep: '' })
  })
  test('two changes of one object in one version are both translated', () => {
    const lenses = [
      { kind: 'rename', schemas: ['Root'], from: 'a', to: 'b' },
      { kind: 'convert', schemas: ['Root'], property: 'n', up: Number, down: String },
    ] as const
    const run = family([object(string('a'), string('n')), object(string('b'), 'n: { type: number }')], {
      '2030-06-01': lenses,
    })
    expect(run.up({ keep: '', a: 'x', n: '5' })).toEqual({ keep: '', b: 'x', n: 5 })
    expect(run.down({ keep: '', b: 'x', n: 5 })).toEqual({ keep: '', a: 'x', n: '5' })
  })
})

test('the items of a batch are translated one by one', () => {
  const schemas = (members: string) =>
    `${colour(members)}, Item: { type: object, properties: { c: ${REF} } }, Root: { type: object, properties: { items: { type: array, x-judged: each, items: { $ref: '#/components/schemas/Item' } } } }`
  const { bindings, operation, field } = family([schemas('red, blue'), schemas('crimson, blue')], RED)
  expect(bindings.upItem(operation)).toEqual({ name: 'Item_up', version: '2030-01-01' })
  expect(bindings.upBody(operation)).toBeUndefined()
  expect(field('c')).toBe('c')
})

test('three versions: each step is taken, in order, and its names are told in the oldest', () => {
  const object = (name: string) => `Root: { type: object, properties: { ${name}: { type: string } } }`
  const rename = (from: string, to: string) => [{ kind: 'rename', schemas: ['Root'], from, to }] as const
  const run = family([object('a'), object('b'), object('c')], {
    '2030-06-01': rename('a', 'b'),
    '2031-01-01': rename('b', 'c'),
  })
  expect(run.up({ a: 'x' })).toEqual({ c: 'x' })
  expect(run.down({ c: 'x' })).toEqual({ a: 'x' })
  expect(run.field('c')).toBe('a')
})

test('a step that changes nothing costs nothing: the next one is bound directly', () => {
  const object = (name: string) => `Root: { type: object, properties: { ${name}: { type: string } } }`
  const { bindings, operation } = family([object('a'), object('a'), object('b')], {
    '2031-01-01': [{ kind: 'rename', schemas: ['Root'], from: 'a', to: 'b' }],
  })
  expect(bindings.upBody(operation)).toEqual({ name: 'Root_up', version: '2030-06-01' })
})

test('a property that another part requires is filled in once: for null', () => {
  const schemas = (required: string, type: string) =>
    `Part: { type: object, required: [${required}], properties: { p: { type: ${type} } } }, Root: { allOf: [{ $ref: '#/components/schemas/Part' }, { type: object, required: [p] }] }`
  const { down, texts } = family([schemas('p', 'string'), schemas('', '[string, "null"]')], {
    '2030-06-01': [
      { kind: 'optional', schemas: ['Part'], property: 'p', value: '' },
      { kind: 'nullable', schemas: ['Part'], property: 'p', value: 'x' },
    ],
  })
  expect(down({ p: null })).toEqual({ p: 'x' })
  const [printed] = /function Root_down[\s\S]*?^}/m.exec(texts.join('\n')) ?? []
  expect(printed?.match(/p:/g)).toHaveLength(1)
})

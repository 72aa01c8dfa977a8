/** Every difference of schemas, in both directions: the same edit is harmless in one and breaks somebody in the other. */
import { describe, expect, test } from 'vitest'
import { AB, object, property, ROWS, ref } from './diff.table.ts'
import { diffTexts, type Use, using } from './versions.ts'

const CLASSES = { '-': undefined, a: 'additive', b: 'breaking' } as const

describe.each(ROWS)('%s', (_, code, place, old, next, checked) => {
  const uses: readonly (readonly [Use, keyof typeof CLASSES])[] = [
    ['request', checked[0] as keyof typeof CLASSES],
    ['response', checked[1] as keyof typeof CLASSES],
    ['error', checked[1] as keyof typeof CLASSES],
    ['event', checked[1] as keyof typeof CLASSES],
  ]
  test.each(uses)('a difference in a %s is classified: %s', (use, letter) => {
    const wanted = CLASSES[letter]
    const { texts } = diffTexts(using(use, old), using(use, next))
    expect(texts).toEqual(wanted === undefined ? [] : [`${wanted} ${code} ${place}`])
  })
})

test('a new required property is owed by callers only', () => {
  const next = object('p: {}, q: {}', ', required: [q]')
  expect(diffTexts(using('request', property('{}')), using('request', next)).texts).toEqual([
    'breaking property-added-required X.q',
  ])
  expect(diffTexts(using('response', property('{}')), using('response', next)).texts).toEqual([
    'additive property-added X.q',
  ])
})

test('a member that went as another came broke readers too', () => {
  const pair = (use: Use) =>
    diffTexts(
      using(use, 'X: { enum: [a, b], x-extensible: true }'),
      using(use, 'X: { enum: [a, c], x-extensible: true }'),
    ).texts
  expect(pair('response')).toEqual(['breaking enum-value-removed X', 'additive enum-value-added X'])
  expect(pair('request')).toEqual(['breaking enum-value-removed X', 'additive enum-value-added X'])
})

describe('no difference', () => {
  const base = `X: { type: object, properties: { a: ${ref('A')}, n: { type: integer } }, required: [a, n] }`
  const a = 'A: { type: object, properties: { s: { type: string, maxLength: 3 } } }'
  test.each([
    ['inlining a reference', `${base}, ${a}`, base.replace(ref('A'), a.slice(3))],
    [
      'reordering',
      `${base}, ${a}`,
      `${a}, X: { required: [n, a], properties: { n: { type: integer }, a: ${ref('A')} }, type: object }`,
    ],
    [
      'renaming a component',
      `${base}, ${a}`,
      `${base.replace('schemas/A', 'schemas/Z')}, ${a.replace('A:', 'Z:')}`,
    ],
    [
      'prose, titles and examples',
      `${base}, ${a}`,
      `${base}, ${a.replace('maxLength: 3', 'maxLength: 3, title: T, description: d, examples: [x]')}`,
    ],
    [
      'allOf of one thing',
      `${base}, ${a}`,
      `${base.replace(ref('A'), `{ description: d, allOf: [${ref('A')}] }`)}, ${a}`,
    ],
    [
      'properties moved into a part of allOf',
      'X: { type: object, properties: { a: { type: string }, b: {} }, required: [a] }',
      `X: { allOf: [${ref('P')}, { type: object, properties: { b: {} }, required: [a] }] }, P: { type: object, properties: { a: { type: string } } }`,
    ],
    [
      'a list of types written as anyOf',
      'X: { type: [string, integer] }',
      'X: { anyOf: [{ type: integer }, { type: string }] }',
    ],
    ['const written as enum', 'X: { const: a }', 'X: { enum: [a] }'],
    [
      'null written beside a reference',
      `X: { oneOf: [${ref('A')}, { type: "null" }] }, ${a}`,
      `X: { anyOf: [{ type: "null" }, ${ref('A')}] }, ${a}`,
    ],
    ['a least length of nothing', 'X: { type: string }', 'X: { type: string, minLength: 0 }'],
    [
      'a whole bound written as excluded',
      'X: { type: integer, minimum: 1 }',
      'X: { type: integer, exclusiveMinimum: 0 }',
    ],
    [
      'an alike component under another name',
      `X: { type: object, properties: { a: ${ref('A')} } }, ${a}, ${a.replace('A:', 'B:')}`,
      `X: { type: object, properties: { a: ${ref('B')} } }, ${a}, ${a.replace('A:', 'B:')}`,
    ],
    [
      'members of a union in another order',
      `X: { oneOf: [${ref('A')}, ${ref('B')}] }, ${AB}`,
      `X: { oneOf: [${ref('B')}, ${ref('A')}] }, ${AB}`,
    ],
    ['a component that nothing uses', 'X: {}, A: { type: string }', 'X: {}, A: { type: integer }'],
  ])('diff finds no difference after %s', (_, old, next) => {
    for (const use of ['request', 'response', 'event'] as const)
      expect(diffTexts(using(use, old), using(use, next)).texts, use).toEqual([])
  })

  test('diff finds no difference between equal recursive schemas', () => {
    const tree = `X: { type: object, properties: { left: ${ref('X')}, all: { type: array, items: ${ref('Y')} } } }, Y: { type: object, properties: { x: ${ref('X')} } }`
    expect(diffTexts(using('response', tree), using('response', tree)).texts).toEqual([])
    const grown = tree.replace('Y: { type: object, properties: {', 'Y: { type: object, properties: { z: {},')
    expect(diffTexts(using('response', tree), using('response', grown)).texts).toEqual([
      'additive property-added Y.z',
    ])
    const renamed = tree.replaceAll('schemas/Y', 'schemas/W').replace(' Y:', ' W:')
    expect(diffTexts(using('response', tree), using('response', renamed)).texts).toEqual([])
  })
})

describe('a component is checked where it is used', () => {
  test('once, with every operation that reaches it', () => {
    const doc = (format: string) => `
paths:
  /a:
    get: { operationId: a, responses: { '200': { description: ok, content: { application/json: { schema: ${ref('Y')} } } } } }
  /b:
    post: { operationId: b, requestBody: { content: { application/json: { schema: ${ref('X')} } } }, responses: { '204': { description: ok } } }
  /c:
    get: { operationId: c, responses: { '204': { description: ok } } }
components: { schemas: { Y: { type: array, items: ${ref('X')} }, X: { type: string${format} } } }
`
    const { found } = diffTexts(doc(''), doc(', format: date'))
    expect(found).toMatchObject([
      {
        code: 'format-added',
        class: 'breaking',
        directions: ['request', 'response'],
        breaks: ['request'],
        uses: ['a', 'b'],
      },
    ])
  })

  test('a read-only property is in no request', () => {
    const [old, next] = [
      object('p: { type: string, readOnly: true }'),
      object('p: { type: integer, readOnly: true }'),
    ]
    expect(diffTexts(using('request', old), using('request', next)).texts).toEqual([])
    expect(diffTexts(using('response', old), using('response', next)).texts).toEqual([
      'breaking type-changed X.p',
    ])
  })

  test('a schema that allOf brings into many is reported once, as its own', () => {
    const doc = (p: string) =>
      using(
        'response',
        `X: { type: object, properties: { a: ${ref('A')}, b: ${ref('B')} } }, Base: { type: object, properties: { p: ${p} } }, A: { allOf: [${ref('Base')}, { type: object, properties: { q: {} } }] }, B: { allOf: [${ref('Base')}] }`,
      )
    expect(diffTexts(doc('{ type: string }'), doc('{ type: integer }')).texts).toEqual([
      'breaking type-changed Base.p',
    ])
  })

  test('odd names are quoted', () => {
    expect(
      diffTexts(
        using('response', object('"a.b": { type: string }')),
        using('response', object('"a.b": { type: integer }')),
      ).texts,
    ).toEqual(['breaking type-changed X["a.b"]'])
  })
})

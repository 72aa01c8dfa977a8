/** Which lens claims which difference, what the gate drafts, and that a difference never passes unseen. */
import { describe, expect, test } from 'vitest'
import type { Lens } from '../../generators/change/change.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import { diffApis } from '../../generators/diff/diff.ts'
import type { Difference } from '../../generators/diff/difference.ts'
import { claims } from '../../generators/gate/claims.ts'
import { checkSteps } from '../../generators/gate/gate.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import { proposeChanges } from '../../generators/propose/proposed-change.ts'
import { diffTexts, readPair, using } from './versions.ts'

const schemas = ['X']
const turn = (value: unknown) => value
const object = (properties: string): string => `X: { type: object, properties: { ${properties} } }`
const both = (text: string): string =>
  `${using('request', text)}`.replace(
    "'204': { description: ok }",
    "'200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/X' } } } }",
  )
const header = (name: string, required: boolean): string =>
  `paths:\n  /a:\n    post: { operationId: postA, responses: { '200': { description: ok } }, parameters: [{ name: ${name}, in: header, required: ${required}, schema: {} }, { name: q, in: query, schema: { type: string } }] }\n`
const query = (schema: string): string => header('H', false).replace('{ type: string }', schema)
const signed = (name: string): string =>
  `paths: {}\nwebhooks:\n  a.done:\n    post: { responses: { '200': { description: ok } }, parameters: [{ name: ${name}, in: header, schema: {} }] }\n`
const enumeration = (...values: string[]): string => `X: { enum: [${values}] }`

/** [lens, old, new, codes that it claims, codes that it does not] */
type Row = readonly [Lens, string, string, readonly string[], readonly string[]]

const ROWS: readonly Row[] = [
  [
    { kind: 'values', schemas, rename: { a: 'b' }, merge: {} },
    both(enumeration('a', 'k')),
    both(enumeration('b', 'k')),
    ['enum-value-removed', 'enum-value-added'],
    [],
  ],
  [
    { kind: 'values', schemas, rename: {}, merge: { c: 'a' }, loss: 'merge' },
    both(enumeration('a')),
    both(enumeration('a', 'c', 'd')),
    ['enum-value-added'],
    ['enum-value-added'],
  ],
  [
    { kind: 'values', schemas, property: 'p', rename: { a: 'b' }, merge: {} },
    both(object('p: { enum: [a] }, q: { enum: [a] }')),
    both(object('p: { enum: [b] }, q: { enum: [b] }')),
    ['enum-value-removed', 'enum-value-added'],
    ['enum-value-removed', 'enum-value-added'],
  ],
  [
    { kind: 'convert', schemas, property: 'p', up: turn, down: turn },
    both(object('p: { type: array, items: { type: string } }, pp: { type: string }')),
    both(object('p: { type: array, items: { type: integer } }, pp: { type: integer }')),
    ['type-changed'],
    ['type-changed'],
  ],
  [
    { kind: 'convert', schemas, property: 'p', up: turn, down: turn },
    both(object('p: { type: string }')),
    both(object('p: { type: [integer, "null"] }')),
    ['type-changed'],
    ['null-added'],
  ],
  [
    { kind: 'rename', schemas, from: 'p', to: 'q' },
    both(object('p: {}, r: {}')),
    both(object('q: {}')),
    ['property-removed', 'property-added'],
    ['property-removed'],
  ],
  [
    { kind: 'replace', schemas, old: ['p', 'r'], new: ['q'], up: turn, down: turn },
    both(object('p: {}, r: {}')),
    both(object('q: {}')),
    ['property-removed', 'property-removed', 'property-added'],
    [],
  ],
  [
    { kind: 'drop', schemas, property: 'p', loss: 'drop' },
    both(object('p: {}, r: {}')),
    both(object('')),
    ['property-removed'],
    ['property-removed'],
  ],
  [
    { kind: 'default', schemas, property: 'p', value: 1 },
    both(object('')),
    both(`${object('p: {}').slice(0, -2)}, required: [p] }`),
    ['property-added-required'],
    [],
  ],
  [
    { kind: 'leave-out', schemas: ['Y'], property: 'd', unless: 'X', loss: 'drop' },
    both(enumeration('a')),
    both(enumeration('a', 'b')),
    ['enum-value-added'],
    [],
  ],
  [
    { kind: 'filter', operation: 'postA', parameter: 'q', up: turn },
    query('{ type: string }'),
    query('{ type: integer }'),
    ['type-changed'],
    [],
  ],
  [
    { kind: 'filter', operation: 'postB', parameter: 'q', up: turn },
    query('{ type: string }'),
    query('{ type: integer }'),
    [],
    ['type-changed'],
  ],
  [
    { kind: 'ignored-parameter', operations: ['postA'], in: 'query', name: 'q' },
    query('{}'),
    query('{}').replace('name: q', 'name: z'),
    ['parameter-removed'],
    ['parameter-added'],
  ],
  [
    { kind: 'renamed-parameter', operations: [], in: 'query', from: 'q', to: 'z' },
    query('{}'),
    query('{}').replace('name: q', 'name: z'),
    ['parameter-removed', 'parameter-added'],
    [],
  ],
  [
    { kind: 'renamed-parameter', operations: ['postB'], in: 'query', from: 'q', to: 'z' },
    query('{}'),
    query('{}').replace('name: q', 'name: z'),
    [],
    ['parameter-removed', 'parameter-added'],
  ],
  [
    { kind: 'default-parameter', operations: ['postA'], in: 'query', name: 'q', value: 1 },
    query('{ type: integer, default: 1 }'),
    query('{ type: integer, default: 2, maximum: 9 }'),
    ['default-changed'],
    ['bound-tightened'],
  ],
  [
    { kind: 'default-parameter', operations: ['postA'], in: 'header', name: 'h', value: 'x' },
    header('H', false),
    header('H', true),
    ['parameter-required'],
    [],
  ],
  [
    { kind: 'converted-parameter', operations: [], in: 'query', name: 'q', up: turn },
    query('{ type: integer, default: 1 }'),
    query('{ type: integer, default: 2, maximum: 9 }'),
    ['bound-tightened'],
    ['default-changed'],
  ],
  [
    { kind: 'served', from: 'postA', by: 'sendA' },
    header('H', false),
    header('H', false).replace('/a:', '/b:').replace('postA', 'sendA'),
    ['operation-added', 'operation-removed'],
    [],
  ],
  [
    { kind: 'status', operations: ['postA'], from: '200', to: '201' },
    header('H', false),
    header('H', false).replace("'200'", "'201'"),
    ['status-removed', 'status-added'],
    [],
  ],
  [
    { kind: 'moved', schemas, from: ['p'], to: ['o', 'p'] },
    both(object('p: {}, r: {}')),
    both(object('o: { type: object, properties: { p: {} } }')),
    ['property-removed', 'property-added'],
    ['property-removed'],
  ],
  [
    { kind: 'nullable', schemas, value: {} },
    both(object('p: { type: string }')),
    both(object('p: { type: [string, "null"] }').replace('type: object', 'type: [object, "null"]')),
    ['null-added'],
    ['null-added'],
  ],
  [
    { kind: 'non-null', schemas, property: 'p', value: '' },
    both(object('p: { type: [string, "null"] }').replace('type: object', 'type: [object, "null"]')),
    both(object('p: { type: string }')),
    ['null-removed'],
    ['null-removed'],
  ],
  [
    { kind: 'required-header', header: 'h' },
    header('H', false),
    header('H', true),
    ['parameter-required'],
    [],
  ],
  [
    { kind: 'renamed-header', from: 'X-Sign', to: 'Sign' },
    signed('X-Sign'),
    signed('Sign'),
    ['header-removed', 'header-added'],
    [],
  ],
  [
    { kind: 'accept', code: 'enum-value-removed', at: ['X'] },
    both(enumeration('a', 'b')),
    both(enumeration('a')),
    ['enum-value-removed'],
    [],
  ],
  [
    { kind: 'accept', code: 'enum-value-removed', at: ['Y'] },
    both(enumeration('a', 'b')),
    both(enumeration('a')),
    [],
    ['enum-value-removed'],
  ],
]

describe('claims', () => {
  test.each(ROWS)(
    'a lens of the kind $kind claims its own differences and no others',
    (lens, old, next, want, not) => {
      const { found } = diffTexts(old, next)
      const codes = (mine: boolean) =>
        found.filter((each) => claims(lens, each) === mine).map(({ code }) => code)
      expect(codes(true)).toEqual(want)
      expect(codes(false)).toEqual(not)
    },
  )
})

describe('under other names', () => {
  const change = (lens: Lens): LoadedChange => ({
    id: 'a',
    why: '',
    lenses: [lens],
    version: '2030-06-01',
    file: 'versions/2030-06-01/a.ts',
  })
  const found = (old: string, next: string, lens: Lens) =>
    checkSteps(claimSteps(readPair(old, next), [change(lens)]), {
      versions: 'versions',
      out: 'generated',
    }).map(({ message }) => message.split(' of ')[0])
  const answered = (status: string, type: string) =>
    header('H', false).replace(
      "'200': { description: ok }",
      `'${status}': { description: ok, content: { application/json: { schema: { type: object, required: [a], properties: { a: { type: ${type} } } } } } }`,
    )

  test('a difference of a parameter is found whatever else differs', () => {
    const lens: Lens = { kind: 'renamed-parameter', operations: [], in: 'query', from: 'q', to: 'z' }
    const next = query('{ type: integer, maximum: 9 }').replace('name: q', 'name: z')
    expect(found(query('{ type: integer }'), next, lens)).toEqual([
      expect.stringContaining('bound-tightened postA query z'),
    ])
    expect(
      found(query('{ type: integer }'), query('{ type: integer }').replace('name: q', 'name: z'), lens),
    ).toEqual([])
  })
  test('a lens is found under the other name of an operation', () => {
    const lens: Lens = { kind: 'served', from: 'postA', by: 'sendA' }
    const next = query('{ type: integer, maximum: 9 }').replace('/a:', '/b:').replace('postA', 'sendA')
    expect(found(query('{ type: integer }'), next, lens)).toEqual([
      expect.stringContaining('bound-tightened sendA query q'),
    ])
  })
  test('a lens is found under the other status of an answer', () => {
    const lens: Lens = { kind: 'status', operations: [], from: '200', to: '201' }
    expect(found(answered('200', 'string'), answered('201', 'integer'), lens)).toEqual([
      expect.stringContaining('type-changed postA 201.a'),
    ])
    expect(found(answered('200', 'string'), answered('201', 'string'), lens)).toEqual([])
  })
  test('a name that is none claims nothing', () => {
    const lens: Lens = { kind: 'renamed-parameter', operations: [], in: 'query', from: 'x', to: 'y' }
    expect(found(query('{}'), query('{}'), lens)).toEqual([
      expect.stringContaining('a accounts for no difference'),
    ])
  })
})

test('a lens that renames a tag, or the property that holds it, renames it in the union', () => {
  const union = (name: string, tag: string) =>
    using(
      'response',
      `X: { oneOf: [{ $ref: "#/components/schemas/A" }], discriminator: { propertyName: ${name}, mapping: { ${tag}: "#/components/schemas/A" } } }, A: { type: object, properties: { ${name}: { enum: [${tag}] } }, required: [${name}] }`,
    )
  const property: Lens = { kind: 'rename', schemas: ['A'], from: 't', to: 'kind' }
  const values: Lens = { kind: 'values', schemas: ['A'], property: 't', rename: { a: 'b' }, merge: {} }
  const left = (next: string, lens: Lens) =>
    diffTexts(union('t', 'a'), next).found.filter((each) => each.class === 'breaking' && !claims(lens, each))
  expect(left(union('kind', 'a'), property)).toEqual([])
  expect(left(union('t', 'b'), values)).toEqual([])
  expect(left(union('t', 'b'), property)).not.toEqual([])
})

describe('drafts', () => {
  const drafted = (old: string, next: string) => {
    const open = diffTexts(old, next).found.filter((each) => each.class === 'breaking')
    return proposeChanges(open).map(({ id, lens }) => `${id}: ${lens}`)
  }
  test.each([
    [
      'values',
      both(enumeration('lineA', 'lineB')),
      both(enumeration('line_a', 'line_b')),
      ["rename-x-values: v.values('X', { rename: { lineA: 'line_a', lineB: 'line_b' } })"],
    ],
    [
      'merged values',
      both(enumeration('a')),
      both(enumeration('a', 'b')),
      [
        "merge-x-values: v.values('X', { merge: { b: decide('what the old version shows instead of b') }, loss: 'merge' })",
      ],
    ],
    [
      'a rename, required too',
      both(object('weight: {}')),
      both(`${object('weight_grams: {}').slice(0, -2)}, required: [weight_grams] }`),
      ["rename-weight: v.rename(['X'], 'weight', 'weight_grams')"],
    ],
    ['a loss', both(object('p: {}')), both(object('')), ["drop-p: v.drop(['X'], 'p', { loss: 'drop' })"]],
    [
      'a loss of what old answers must have',
      both(`${object('p: {}').slice(0, -2)}, required: [p] }`),
      both(object('')),
      ["drop-p: v.drop(['X'], 'p', { loss: 'drop', down: decide('how p follows from the new object') })"],
    ],
    [
      'a loss of what only requests must have',
      using('request', `${object('p: {}').slice(0, -2)}, required: [p] }`),
      using('request', object('')),
      ["drop-p: v.drop(['X'], 'p', { loss: 'drop' })"],
    ],
    [
      'a requirement',
      both(object('')),
      both(`${object('p: {}').slice(0, -2)}, required: [p] }`),
      ["require-p: v.default(['X'], 'p', decide('what an old request means by omitting the value'))"],
    ],
    [
      'a type',
      both(object('p: { type: string }')),
      both(object('p: { type: integer }')),
      [
        "convert-p: v.convert(['X'], 'p', { up: decide('how an old value becomes a new one'), down: decide('how a new value becomes an old one') })",
      ],
    ],
    [
      'a header',
      header('Some-Key', false),
      header('Some-Key', true),
      ["require-some-key: v.requiredHeader('Some-Key')"],
    ],
    [
      'a header of events',
      signed('X-Sign'),
      signed('Sign'),
      ["rename-x-sign: { kind: 'renamed-header', from: 'X-Sign', to: 'Sign' }"],
    ],
    [
      'a filter',
      query('{ type: string }'),
      query('{ type: integer }'),
      [
        "convert-q: v.convertedParameter('query', 'q', decide('how an old value becomes a new one'), 'postA')",
      ],
    ],
    [
      'a parameter',
      query('{}'),
      query('{}').replace(', { name: q, in: query, schema: {} }', ''),
      ["ignore-q: v.ignoredParameter('query', 'q', 'postA')"],
    ],
    [
      'what no lens translates',
      header('H', false),
      'paths: {}',
      ["accept-operation-removed: v.accept('operation-removed', 'postA')"],
    ],
  ])('the gate drafts a lens for %s', (_, old, next, want) => {
    expect(drafted(old, next)).toEqual(want)
  })
})

describe('check', () => {
  const [old, next] = readPair(both(object('p: {}')), both(object('')))
  const change = (id: string, ...lenses: Lens[]): LoadedChange => ({
    id,
    why: 'because',
    lenses,
    version: next.version,
    file: `versions/${next.version}/${id}.ts`,
  })
  const drop = { kind: 'drop', schemas, property: 'p', loss: 'drop' } as const
  const codes = (changes: readonly LoadedChange[], versions: string | undefined = 'versions') =>
    checkSteps(claimSteps([old, next], changes), { out: 'generated', ...(versions && { versions }) }).map(
      ({ code, severity }) => `${severity} ${code}`,
    )
  test.each<[string, LoadedChange[], string[]]>([
    ['none', [], ['error break-unclaimed']],
    ['one', [change('drop-p', drop)], []],
    ['two', [change('drop-p', drop), change('lose-p', drop)], ['error break-claimed-twice']],
    [
      'one that claims nothing',
      [change('drop-p', drop), change('drop-q', { ...drop, property: 'q' })],
      ['error change-claims-nothing'],
    ],
    [
      'one of behaviour',
      [
        change('drop-p', drop),
        change('ignore-q', { kind: 'ignored-parameter', operations: ['useX'], in: 'query', name: 'q' }),
      ],
      [],
    ],
    [
      'one of another version',
      [{ ...change('drop-p', drop), version: '2029-01-01' }],
      ['error break-unclaimed'],
    ],
  ])('the gate checks claims of a break: %s', (_, changes, want) => {
    expect(codes(changes)).toEqual(want)
  })

  test('a drop of a required property without a value is refused, with both lines and what to write', () => {
    const required = (more = '') => both(`${object(`p: {${more}}`).slice(0, -2)}, required: [p] }`)
    const found = (text: string, lens: Extract<Lens, { kind: 'drop' }>, place = 'X') =>
      checkSteps(
        claimSteps(readPair(text, both(object(''))), [change('drop-p', { ...lens, schemas: [place] })]),
        {
          out: 'generated',
          versions: 'versions',
        },
      )
    expect(found(required(), drop)).toEqual([
      {
        code: 'translation-incomplete',
        severity: 'error',
        message: 'drop-p: 2030-01-01 requires X.p in responses, but the lens drops it and supplies no value',
        place: { file: 'versions/2030-06-01/drop-p.ts', line: 1, column: 1, pointer: '' },
        other: expect.objectContaining({
          file: 'test.yaml',
          line: 9,
          pointer: '/components/schemas/X/properties/p',
        }),
        hint: expect.stringMatching(/`down: \(object\) => …`.*`v\.rename` or `v\.replace`/),
      },
    ])
    expect(found(required(), { ...drop, down: () => 1 })).toEqual([])
    expect(found(required(' writeOnly: true '), drop)).toEqual([])
    const asked = (text: string) => using('request', text)
    const steps = claimSteps(
      readPair(asked(`${object('p: {}').slice(0, -2)}, required: [p] }`), asked(object(''))),
      [change('drop-p', drop)],
    )
    expect(checkSteps(steps, { out: 'generated', versions: 'versions' })).toEqual([])
  })

  test('check without a folder of changes warns', () => {
    expect(codes([], '')).toEqual(['warning break-unclaimed'])
  })
})

test('each breaking difference can be claimed by a lens that some person can write', () => {
  const all: Difference[] = ROWS.flatMap(([, old, next]) => [...diffApis(...readPair(old, next))])
  for (const difference of all.filter((each) => each.class === 'breaking'))
    expect(claims({ kind: 'accept', code: difference.code, at: [] }, difference)).toBe(true)
})

/** What is written another way and means the same breaks nobody; the nearest edit that breaks somebody is found. */
import { describe, expect, test } from 'vitest'
import { diffTexts, type Use, using } from './versions.ts'

const object = (more: string): string => `X: { type: object, properties: { a: { type: string } }${more} }`
const member = (name: string, tag: string): string =>
  `${name}: { type: object, required: [k], properties: { k: ${tag}, ${name}: { type: string } } }`
const union = (discriminator: string, tag: (name: string) => string): string =>
  `X: { oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }]${discriminator} }, ${member('A', tag('a'))}, ${member('B', tag('b'))}`
const MAPPED =
  ", discriminator: { propertyName: k, mapping: { a: '#/components/schemas/A', b: '#/components/schemas/B' } }"
const constant = (name: string): string => `{ const: ${name} }`
const free = (): string => '{ type: string }'
const list = (more: string): string => `X: { type: array, items: { type: string }${more} }`
const whole = (more: string): string =>
  `X: { allOf: [{ $ref: '#/components/schemas/Y' }, { type: object, properties: { b: { type: string } } }]${more} }, Y: { type: object, properties: { a: { type: string } } }`

/** [what, one way, the other way, what is next to it and breaks, in which use] */
const ROWS: readonly (readonly [string, string, string, string, Use])[] = [
  [
    '`additionalProperties: {}` for none',
    object(''),
    object(', additionalProperties: {}'),
    object(', additionalProperties: { type: string }'),
    'request',
  ],
  [
    'a discriminator that says what constants say',
    union(MAPPED, constant),
    union('', constant),
    union('', free),
    'response',
  ],
  [
    '`if` without `then` and `else`',
    object(''),
    object(', if: { required: [a] }'),
    object(', if: { required: [a] }, then: { required: [b] }'),
    'request',
  ],
  [
    '`then` without `if`',
    object(''),
    object(', then: { required: [b] }'),
    object(', if: {}, then: { required: [b] }'),
    'request',
  ],
  [
    '`minProperties` beside as many required properties',
    object(', required: [a]'),
    object(', required: [a], minProperties: 1'),
    object(', required: [a], minProperties: 2'),
    'request',
  ],
  [
    '`contains` of none at least',
    list(''),
    list(', contains: { const: a }, minContains: 0'),
    list(', contains: { const: a }, minContains: 1'),
    'request',
  ],
  [
    '`minContains` that is 1 without it',
    list(', contains: { const: a }'),
    list(', contains: { const: a }, minContains: 1'),
    list(', contains: { const: a }, minContains: 2'),
    'request',
  ],
  [
    '`minContains` without `contains`',
    list(''),
    list(', minContains: 3'),
    list(', contains: { const: a }, minContains: 3'),
    'request',
  ],
  [
    '`unevaluatedProperties: false` of an object whose properties are all listed',
    object(', additionalProperties: false'),
    object(', unevaluatedProperties: false'),
    object(', properties: {}, unevaluatedProperties: false').replace(
      'properties: { a: { type: string } }, ',
      '',
    ),
    'request',
  ],
]

describe.each(ROWS)('%s', (_, one, other, broken, use) => {
  const breaking = (old: string, next: string) =>
    diffTexts(using(use, old), using(use, next)).found.filter((each) => each.class === 'breaking')
  test('an edit breaks no caller, in requests or in answers, there or back', () => {
    for (const each of ['request', 'response', 'event'] as const)
      for (const [old, next] of [
        [one, other],
        [other, one],
      ] as const)
        expect(
          diffTexts(using(each, old), using(each, next)).found.filter(({ class: of }) => of === 'breaking'),
        ).toEqual([])
  })
  test('the nearest break is found', () => {
    expect(breaking(one, broken)).not.toEqual([])
    expect(breaking(other, broken)).not.toEqual([])
  })
})

test('`unevaluatedProperties: false` closes all that is put together', () => {
  const breaking = (old: string, next: string) =>
    diffTexts(using('request', old), using('request', next)).found.flatMap((each) =>
      each.class === 'breaking' ? [each.code] : [],
    )
  expect(breaking(whole(''), whole(', unevaluatedProperties: false'))).toEqual(['object-closed'])
  expect(breaking(whole(', unevaluatedProperties: false'), whole(''))).toEqual([])
})

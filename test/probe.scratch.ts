import { checkPair, schemaPair } from '/work/wt/faults/test/toolkit/battery/pairs.ts'

const A = '{ $ref: "#/components/schemas/A" }'
const rows: [string, string][] = [
  [A, `{ allOf: [${A}, { description: d }] }`],
  [
    A,
    `{ allOf: [${A}, { title: t, example: {}, deprecated: true, x-a: 1, externalDocs: {url: "https://a"} }] }`,
  ],
  [A, `{ allOf: [${A}, { readOnly: true }] }`],
  [A, `{ allOf: [${A}, { default: {t: a} }] }`],
  [
    `{type: object, properties: {p: ${A}}}`,
    `{type: object, properties: {p: {allOf: [${A}, {description: d}]}}}`,
  ],
  [
    `{type: object, properties: {p: ${A}}}`,
    `{type: object, properties: {p: {allOf: [${A}, {readOnly: true}]}}}`,
  ],
  [`{type: array, items: ${A}}`, `{type: array, items: {allOf: [${A}, {description: d}]}}`],
  ['{type: string}', '{allOf: [{type: string},{description: d}]}'],
  ['{type: string}', '{allOf: [{type: string},{type: string, maxLength: 5}]}'],
  ['{type: string, maxLength: 5}', '{allOf: [{type: string},{maxLength: 5}]}'],
  ['{type: string}', '{description: d, allOf: [{description: d}], type: string}'],
  ['{}', '{allOf: [{description: d}]}'],
  ['{type: [string, "null"]}', '{allOf: [{type: [string, "null"]}, {description: d}]}'],
  [`{anyOf: [${A}, {type: "null"}]}`, `{allOf: [{anyOf: [${A}, {type: "null"}]}, {description: d}]}`],
  [
    '{type: object, properties: {foo: {type: string}}}',
    '{oneOf: [{type: object, properties: {foo: {type: string}}}, {type: object, properties: {bar: {type: string}}}]}',
  ],
  [
    '{type: object, properties: {p: {oneOf: [{type: integer}]}}}',
    '{type: object, properties: {p: {oneOf: [{type: integer},{type: number}]}}}',
  ],
  ['{oneOf: [{type: integer},{type: string}]}', '{oneOf: [{type: integer},{type: string},{type: number}]}'],
  ['{type: string, pattern: "^a"}', '{type: string, pattern: ".*"}'],
  ['{type: string}', '{type: string, pattern: "^.*$"}'],
]
for (const [a, b] of rows)
  for (const [x, y] of [
    [a, b],
    [b, a],
  ]) {
    const r = checkPair(schemaPair(x!, y!))
    console.log(r.got, x, '→', y, r.codes.join('; '))
  }

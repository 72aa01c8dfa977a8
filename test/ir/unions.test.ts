/** Translations tell the members of a union apart by what validators tell them apart by. */
import { expect, test } from 'vitest'
import { createStep } from '../../generators/translate/step.ts'
import { read } from './document.ts'

const family = (kind: (name: string) => string, discriminator: string, toys = '') =>
  read(`
paths: {}
components:
  schemas:
    Cat: { type: object, required: [kind], properties: { kind: ${kind('cat')}${toys} } }
    Dog: { type: object, required: [kind], properties: { kind: ${kind('dog')}${toys} } }
    Pet: { oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }], discriminator: ${discriminator} }
`).api

const MAPPING =
  '{ propertyName: kind, mapping: { c: "#/components/schemas/Cat", d: "#/components/schemas/Dog" } }'

test.each([
  [
    'constants, without a mapping',
    (name: string) => `{ const: ${name} }`,
    '{ propertyName: kind }',
    ['cat', 'dog'],
  ],
  [
    'enums of one, without a mapping',
    (name: string) => `{ enum: [${name}] }`,
    '{ propertyName: kind }',
    ['cat', 'dog'],
  ],
  ['constants that a mapping contradicts', (name: string) => `{ const: ${name} }`, MAPPING, ['cat', 'dog']],
  ['a mapping', () => '{ type: string }', MAPPING, ['c', 'd']],
  ['names', () => '{ type: string }', '{ propertyName: kind }', ['Cat', 'Dog']],
] as const)('the members of a union are told apart by %s', (_, kind, discriminator, values) => {
  const [old, next] = [family(kind, discriminator), family(kind, discriminator, ', toys: {}')]
  const pet = (api: typeof old) => api.schemas.get('Pet')!
  const step = createStep('down', old, next, [])
  const rewrite = step.pair(pet(old), pet(next))
  const made = rewrite.kind === 'call' ? step.functions.get(rewrite.key)!.rewrite : rewrite
  const tests = made.kind === 'choice' ? made.cases.map((each) => each.test) : []
  expect(tests).toEqual(values.map((value) => ({ kind: 'tag', property: 'kind', values: [value] })))
})

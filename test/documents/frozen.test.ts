/** Documents of earlier versions are frozen: words and examples may be corrected, and nothing else. */
import { expect, test } from 'vitest'
import { dates, documentOf, type Node } from './documents.ts'
import { wireHash } from './frozen.ts'

/** Hashes of what callers of these versions see. A line never changes; a new version adds the line of the version before it. */
const FROZEN: Readonly<Record<string, string>> = {
  '2025-06-01': '1046f45d766cc879c9b3c5a08eed9a70f21ac7154b42f27e36cd0fe07816c0d7',
  '2025-11-01': '71a22baa6fe94ad4088610a48f488c20ddc4d98f8327cb70e34eb9ffdb213be9',
  '2026-02-01': '96ebabcd42bcd8a912b3ef0b07d9dd4c3ef0e58e2f4d391a13d37b8590981db0',
}

test('earlier versions have the wire that they were published with', () => {
  const found = dates.slice(0, -1).map((date) => [date, wireHash(documentOf(date))])
  expect(Object.fromEntries(found)).toEqual(FROZEN)
})

const PASS = {
  type: 'object',
  description: 'A pass.',
  properties: { description: { type: 'string', maxLength: 10 }, example: { type: 'integer', examples: [1] } },
  required: ['description'],
}
const documentWith = (schema: object): Node => ({ components: { schemas: { Pass: schema as Node } } })
const hashWith = (change: object) => wireHash(documentWith({ ...PASS, ...change }))

test.each([
  ['another description', { description: 'A pass of a holder.' }],
  ['an example', { examples: [{ description: 'a' }] }],
  ['another order of members', Object.fromEntries(Object.entries(PASS).toReversed())],
])('a correction of text does not change the hash of a document: %s', (_name, change) => {
  expect(hashWith(change)).toBe(hashWith({}))
})

test.each([
  ['a property called description', { properties: { ...PASS.properties, description: { type: 'integer' } } }],
  ['a property called example', { properties: { description: PASS.properties.description } }],
  ['another bound', { properties: { ...PASS.properties, description: { type: 'string', maxLength: 11 } } }],
  ['what is required', { required: [] }],
])('a change of the wire changes the hash of a document: %s', (_name, change) => {
  expect(hashWith(change)).not.toBe(hashWith({}))
})

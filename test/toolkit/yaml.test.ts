/**
 * Two YAML packages are one reader: js-yaml reads values and their offsets ten times as fast, `yaml` says everything that is wrong
 * with a text, and where, and edits one. So each has to accept what the other accepts, and to mean the same by it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { dump } from 'js-yaml'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { findOffsets } from '../../generators/document/read-offsets.ts'
import { readLocated, readValue } from '../../generators/document/read-yaml.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Both readings of a text; undefined where it is refused. */
function readings(text: string) {
  const located = readLocated(text)
  return [readValue(text)?.value, located.errors.length === 0 ? located.value : undefined]
}

const agree = (text: string) => {
  const [quick, located] = readings(text)
  expect(quick, text).toEqual(located)
  return quick
}

const DOCUMENTS = readdirSync(join(ROOT, 'openapi'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => join('openapi', name))

test.each(DOCUMENTS)('every node of %s stands where both say', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const offsets = findOffsets(text)!
  const located = readLocated(text).offsets
  expect(offsets.size).toBeGreaterThan(1000)
  for (const [pointer, offset] of located) {
    if (offsets.get(pointer) !== offset) expect([pointer, offsets.get(pointer)]).toEqual([pointer, offset])
  }
  expect(offsets.size).toBe(located.size)
})

test.each([
  ['a: 012', { a: 12 }],
  ['a: 0o14', { a: 12 }],
  ['a: 0xC', { a: 12 }],
  ['a: 1e3', { a: 1000 }],
  ['a: .inf', { a: Number.POSITIVE_INFINITY }],
  ['a: yes', { a: 'yes' }],
  ['a: True', { a: true }],
  ['a: ~', { a: null }],
  ['a:', { a: null }],
  ['a: 2030-01-01', { a: '2030-01-01' }],
  ['a: 12:30', { a: '12:30' }],
  ['a: "\\u263A"', { a: '☺' }],
  ["a: 'it''s'", { a: "it's" }],
  ['a: |\n  x\n  y\n', { a: 'x\ny\n' }],
  ['a: >-\n  x\n  y\n', { a: 'x y' }],
  ['a: [1, 2,]', { a: [1, 2] }],
  ['a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
  ['{"a": "\\/"}', { a: '/' }],
] as const)('%j means the same to both', (text, want) => {
  expect(agree(text)).toEqual(want)
})

test.each([
  ['a: 1\na: 2', 'a key that stands twice'],
  ['a: [1', 'a list that does not end'],
  ['a: *b', 'an alias of nothing'],
  ['a: "x', 'a text that does not end'],
  ['a: b: c', 'two mappings in a line'],
  ['a:\n\t- b', 'a tab for indentation'],
  ['a: 1\n b: 2', 'an indentation that fits nothing'],
])('%j is refused by both: %s', (text) => {
  expect(readings(text)).toEqual([undefined, undefined])
})

test('both YAML libraries read what the other writes, whatever a JSON value is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const want = JSON.parse(JSON.stringify(value))
      for (const text of [stringify(want), dump(want), JSON.stringify(want)])
        expect(agree(text)).toEqual(want)
    }),
  )
})

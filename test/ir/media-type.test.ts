import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isJson } from '../../generators/ir/media-type.ts'

test.each([
  ['application/json', true],
  ['Application/JSON', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset=utf-8', true],
  ['application/problem+json', true],
  ['application/vnd.example.v1+json ; q=1', true],
  ['application/json-seq', false],
  ['application/jsonlines', false],
  ['application/x-ndjson', false],
  ['text/plain; note="json"', false],
  ['json', false],
])('a media type is asked whether it is JSON: %s: %s', (mediaType, wanted) => {
  expect(isJson(mediaType)).toBe(wanted)
})

const sources = readdirSync('generators', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|hbs)$/.test(path))
  .map((path) => [path, readFileSync(join('generators', path), 'utf8')] as const)

test('nothing in the toolkit has a rule of its own for JSON', () => {
  const others = sources.filter(
    ([path, text]) =>
      path !== 'ir/media-type.ts' &&
      /includes\('json'\)|\bjson\\b|mediaType === 'application\/json'/.test(text),
  )
  expect(others.map(([path]) => path)).toEqual([])
})

/** Words of the service that this repository makes with it. */
const OURS =
  /\bsvc\b|wallet|tenant|merchant|settlement|payout|\bpass(?:es)?[_./]|\bcreatePass\b|\bcards?\b|schema-Pass|of Pass\b/i

test('the toolkit knows nothing of the service that is made with it here', () => {
  const found = sources.flatMap(([path, text]) =>
    text
      .split('\n')
      .flatMap((line, index) => (OURS.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  )
  expect(found).toEqual([])
})

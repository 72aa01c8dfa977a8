/** Two readers, one meaning: values come from the fast one, lines from the other. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { readLocated, readValue } from '../../generators/document/read-yaml.ts'

const documents = ['openapi', 'test/golden']
  .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => /(^|\/)openapi$/.test(entry.parentPath) && /\.(ya?ml|json)$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((file) => !file.includes('error-syntax'))

test.each(documents)('the text %s means the same to both readers', (file) => {
  const text = readFileSync(file, 'utf8')
  const located = readLocated(text)
  expect(located.errors).toEqual([])
  expect(readValue(text)).toEqual({ value: located.value })
})

const WRITTEN = `openapi: 3.1.0
x-date: 2030-01-01
x-shared: &shared { type: string }
x-names: { '200': yes, 0x10: 1_000, null: ~, __proto__: 3 }
paths:
  /a~b: { x: *shared }
`

test('dates stay text, anchors are followed, keys are text', () => {
  const document = parseText('a.yaml', WRITTEN, createReport())!
  expect(document.json['x-date']).toBe('2030-01-01')
  expect(document.json.paths).toEqual({ '/a~b': { x: { type: 'string' } } })
  expect(readLocated(WRITTEN).value).toEqual(document.json)
  expect(Object.keys(document.json['x-names'] as object)).toContain('__proto__')
})

test('a place knows its line when it is asked', () => {
  const document = parseText('a.yaml', WRITTEN, createReport())!
  expect(JSON.parse(JSON.stringify(document.place('/paths/~1a~0b/x')))).toEqual({
    file: 'a.yaml',
    line: 6,
    column: 11,
    pointer: '/paths/~1a~0b/x',
  })
  expect(document.place('/paths/~1a~0b/nowhere/at/all').line).toBe(6)
  expect(document.place('').line).toBe(1)
})

test('a repeated member, or text that is not YAML, is an error at its line', () => {
  for (const [text, line] of [
    ['openapi: 3.1.0\na: 1\na: 2\n', 3],
    ['openapi: 3.1.0\n  bad: [', 1],
  ] as const) {
    const report = createReport()
    expect(parseText('a.yaml', text, report)).toBeUndefined()
    expect(report.diagnostics[0]).toMatchObject({ code: 'document-syntax', place: { line } })
  }
})
